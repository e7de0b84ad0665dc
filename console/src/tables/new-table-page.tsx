import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { api, dataOf } from '../api/client.ts'
import { fieldErrors } from '../api/errors.ts'
import { texts } from '../texts/new-table.ts'
import { Button, LinkButton } from '../ui/button.tsx'
import { Actions } from '../ui/dialog.tsx'
import { Checkbox, TextField } from '../ui/field.tsx'
import { Form, useProblemFocus } from '../ui/form.tsx'
import { LeaveDialog, useFormGuard } from '../ui/leave-dialog.tsx'
import { FormProblem, Page } from '../ui/page.tsx'
import { type FieldDraft, newDraft, toNewField } from './fields/draft.ts'
import { FieldEditor } from './fields/field-editor.tsx'
import { isOfField } from './fields/field-row.tsx'
import { fieldProblems, nameProblem, type Problems } from './fields/problems.ts'
import { previewSql } from './fields/sql-preview.ts'
import styles from './new-table-page.module.css'
import { type Table, tableChanged } from './queries.ts'

interface TableDraft {
  readonly name: string
  readonly label: string
  readonly fields: readonly FieldDraft[]
  readonly hasTimestamps: boolean
}

const START: TableDraft = {
  name: '',
  label: '',
  fields: [newDraft({ name: 'id', type: 'integer', isPrimary: true }), newDraft()],
  hasTimestamps: false
}

const TIMESTAMPS = ['created_at', 'updated_at']

const problemsOf = ({ name, fields, hasTimestamps }: TableDraft): Problems => {
  const problem = nameProblem(name)
  const ofFields = fieldProblems(fields, hasTimestamps ? TIMESTAMPS : [])
  return new Map([...(problem === undefined ? [] : [['name', problem] as const]), ...ofFields])
}

/** While one types, an empty name is not wrong yet. */
const isShown = (draft: TableDraft, path: string) => {
  if (path === 'name') return draft.name !== ''
  const [, index] = /^fields\/(\d+)\/name$/.exec(path) ?? []
  return index === undefined || draft.fields[Number(index)]?.name !== ''
}

const createTable = ({ name, label, fields, hasTimestamps }: TableDraft) =>
  dataOf(
    api.POST('/admin/tables', {
      body: { name, label, fields: fields.map(toNewField), ...(hasTimestamps && { autoTimestamps: true }) }
    })
  )

const OtherWays = () => (
  <>
    <LinkButton variant="quiet" href="/tables/import">
      {texts.importInstead}
    </LinkButton>
    <LinkButton variant="quiet" href="/tables/from-file">
      {texts.fileInstead}
    </LinkButton>
  </>
)

const useNewTable = () => {
  const [draft, setDraft] = useState(START)
  const [submissions, setSubmissions] = useState(0)
  const [, navigate] = useLocation()
  const creation = useMutation({ mutationFn: () => createTable(draft), onSuccess: tableChanged })
  const guard = useFormGuard(draft !== START)
  // Not after the user has left the page.
  const open = ({ id }: Table) => {
    guard.release()
    navigate(`/tables/${id}`)
  }
  const own = problemsOf(draft)
  const shown = [...own].filter(([path]) => submissions > 0 || isShown(draft, path))
  return {
    draft,
    creation,
    guard,
    box: useProblemFocus(submissions, creation.error),
    problems: new Map([...fieldErrors(creation.error), ...shown]) as Problems,
    change: (changed: Partial<TableDraft>) => {
      if (creation.isError) creation.reset()
      setDraft({ ...draft, ...changed })
    },
    submit: () => {
      setSubmissions(submissions + 1)
      if (own.size === 0) creation.mutate(undefined, { onSuccess: open })
    }
  }
}

const Preview = ({ name, fields, hasTimestamps }: TableDraft) => (
  <section className={styles.preview}>
    <h2>{texts.preview}</h2>
    <p>{texts.previewHint}</p>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: The keyboard must reach what scrolls. */}
    <pre tabIndex={0}>
      {previewSql(name || '…', fields.filter((field) => field.name !== '').map(toNewField), hasTimestamps)}
    </pre>
  </section>
)

type FormState = ReturnType<typeof useNewTable>

const Names = ({ draft, problems, change }: FormState) => (
  <div className={styles.names}>
    <TextField
      label={texts.name}
      hint={texts.nameHint}
      error={problems.get('name')}
      isMono
      autoCapitalize="none"
      spellCheck={false}
      value={draft.name}
      onChange={({ target }) => change({ name: target.value })}
    />
    <TextField
      label={texts.label}
      hint={texts.labelHint}
      error={problems.get('label')}
      value={draft.label}
      onChange={({ target }) => change({ label: target.value })}
    />
  </div>
)

const isShownAt =
  ({ fields }: TableDraft) =>
  (path: string) =>
    path === 'name' || path === 'label' || fields.some((_, index) => isOfField(path, `fields/${index}`))

/** Declares a table of one's own. */
export const NewTablePage = () => {
  const state = useNewTable()
  const { draft, creation, guard, box, problems, change, submit } = state
  return (
    <Page title={texts.title} actions={<OtherWays />}>
      <div ref={box} className={styles.page}>
        <Form onSubmit={submit}>
          <Names {...state} />
          <h2>{texts.fields}</h2>
          <FieldEditor drafts={draft.fields} problems={problems} onChange={(fields) => change({ fields })} />
          <Checkbox
            label={texts.timestamps}
            hint={texts.timestampsHint}
            checked={draft.hasTimestamps}
            onChange={({ target }) => change({ hasTimestamps: target.checked })}
          />
          <FormProblem error={creation.error} fields={isShownAt(draft)} />
          <Actions>
            <Button type="submit" variant="primary" disabled={creation.isPending}>
              {texts.create(draft.name)}
            </Button>
          </Actions>
        </Form>
        <Preview {...draft} />
        <LeaveDialog guard={guard} />
      </div>
    </Page>
  )
}
