import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldErrors } from '../../api/errors.ts'
import { texts as common } from '../../texts/common.ts'
import { texts } from '../../texts/structure.ts'
import { Button } from '../../ui/button.tsx'
import { Actions, Dialog } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { LeaveDialog, useFormGuard } from '../../ui/leave-dialog.tsx'
import { FormProblem } from '../../ui/page.tsx'
import { newDraft, toNewField } from '../fields/draft.ts'
import { FieldRow, isOfField } from '../fields/field-row.tsx'
import { draftProblems, toProblems } from '../fields/problems.ts'
import type { Table } from '../queries.ts'
import { addField } from './calls.ts'

/** Adds a field to a table that may have records. */
export const AddFieldDialog = ({ table, onClose }: { readonly table: Table; readonly onClose: () => void }) => {
  const [start] = useState(newDraft)
  const [draft, setDraft] = useState(start)
  const guard = useFormGuard(draft !== start)
  const [isSent, setSent] = useState(false)
  const addition = useMutation({ mutationFn: () => addField(table, toNewField(draft)) })
  const names = table.fields.map(({ name }) => name)
  const own = toProblems(draftProblems(draft, 'field', names))
  const shown = [...own].filter(([path]) => isSent || path !== 'field/name' || draft.name !== '')
  const submit = () => {
    setSent(true)
    if (own.size === 0) addition.mutate(undefined, { onSuccess: onClose })
  }
  return (
    <Dialog title={texts.addTitle(table.name)} hint={texts.addHint} isWide onClose={() => guard.ask(onClose)}>
      <Form onSubmit={submit}>
        <FieldRow
          draft={draft}
          place={1}
          path="field"
          isAddition
          problems={new Map([...fieldErrors(addition.error), ...shown])}
          onChange={(changed) => {
            addition.reset()
            setDraft({ ...draft, ...changed })
          }}
        />
        <FormProblem error={addition.error} fields={(path) => isOfField(path, 'field')} />
        <Actions>
          <Button variant="quiet" onClick={() => guard.ask(onClose)}>
            {common.cancel}
          </Button>
          <Button type="submit" variant="primary" disabled={addition.isPending}>
            {texts.add(draft.name)}
          </Button>
        </Actions>
      </Form>
      <LeaveDialog guard={guard} />
    </Dialog>
  )
}
