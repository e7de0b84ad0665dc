import { useMutation } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { createSubmit } from '../../api/submission.ts'
import { type Table, titleOf } from '../../tables/queries.ts'
import { texts as common } from '../../texts/common.ts'
import { texts } from '../../texts/transfer.ts'
import { Button } from '../../ui/button.tsx'
import { Actions, Dialog } from '../../ui/dialog.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { LeaveDialog, useFormGuard } from '../../ui/leave-dialog.tsx'
import { Problem } from '../../ui/page.tsx'
import { notify } from '../../ui/toast.tsx'
import { mapPasted, readPasted, toRows } from './clipboard.ts'
import { type Mapping, repeatedName } from './mapping.ts'
import { PastePreview } from './paste-preview.tsx'
import { MAX_OPERATIONS, storePasted } from './store-pasted.ts'
import styles from './transfer.module.css'

interface PasteDialogProps {
  readonly table: Table
  /** Cells separated by tabs, and rows by line breaks, as spreadsheets copy them. */
  readonly text: string
  readonly onDone: () => void
  readonly onClose: () => void
}

/** What stops the rows from being stored. */
const problemOf = (mapping: Mapping, wrongCells: number) => {
  const twice = repeatedName(mapping)
  if (mapping.every((name) => name === null)) return texts.noField
  if (twice !== undefined) return texts.twice(twice)
  return wrongCells > 0 ? texts.wrongCells(wrongCells) : undefined
}

/** Shows what the pasted rows become, and creates them. */
export const PasteDialog = ({ table, text, onDone, onClose }: PasteDialogProps) => {
  const [pasted, setPasted] = useState(() => readPasted(table, text))
  const [mapping, setMapping] = useState(() => mapPasted(table, pasted))
  const rows = useMemo(() => toRows(table, pasted, mapping), [table, pasted, mapping])
  const problem = problemOf(
    mapping,
    rows.reduce((sum, { errors }) => sum + errors.size, 0)
  )
  const [stored, setStored] = useState(0)
  const [submit] = useState(createSubmit)
  const store = useMutation({
    mutationFn: () =>
      storePasted(table, rows.slice(stored), { submit, onStored: (count) => setStored(stored + count) }),
    onSuccess: () => {
      notify({ title: texts.pasted(rows.length, titleOf(table)) })
      guard.release()
      onClose()
    },
    onSettled: onDone
  })
  const guard = useFormGuard(true)
  const close = () => !store.isPending && guard.ask(onClose)
  const hint = rows.length > MAX_OPERATIONS ? texts.pasteSteps : texts.pasteHint
  const setHeader = (hasHeader: boolean) => {
    setPasted({ ...pasted, hasHeader })
    setMapping(mapPasted(table, { ...pasted, hasHeader }))
  }
  return (
    <Dialog title={texts.pasteTitle(titleOf(table))} hint={hint(rows.length, titleOf(table))} isWide onClose={close}>
      <Checkbox label={texts.header} checked={pasted.hasHeader} onChange={({ target }) => setHeader(target.checked)} />
      <PastePreview table={table} rows={rows} mapping={mapping} onChange={setMapping} />
      {problem !== undefined && (
        <p className={styles.wrong} role="alert">
          {problem}
        </p>
      )}
      {store.isError && stored > 0 && <p role="alert">{texts.pastedSoFar(stored, rows.length)}</p>}
      {store.isError && <Problem error={store.error} />}
      <Actions>
        <Button variant="quiet" disabled={store.isPending} onClick={close}>
          {common.cancel}
        </Button>
        <Button
          variant="primary"
          disabled={problem !== undefined || rows.length === 0 || store.isPending}
          onClick={() => store.mutate()}
        >
          {texts.paste(rows.length - stored)}
        </Button>
      </Actions>
      <LeaveDialog guard={guard} />
    </Dialog>
  )
}
