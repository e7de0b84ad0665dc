import { useState } from 'react'
import { type Table, titleOf } from '../../tables/queries.ts'
import { texts as common } from '../../texts/common.ts'
import { texts } from '../../texts/transfer.ts'
import { Button } from '../../ui/button.tsx'
import { Actions, Dialog } from '../../ui/dialog.tsx'
import { FileDrop } from '../../ui/file-drop.tsx'
import { FileProblem } from '../../ui/file-problem.tsx'
import { LeaveDialog, useFormGuard } from '../../ui/leave-dialog.tsx'
import { Progress } from '../../ui/progress.tsx'
import { notifyError } from '../../ui/toast.tsx'
import type { ImportPlan } from './import-file.ts'
import { ImportOptions } from './import-options.tsx'
import { mapHeaders, repeatedName } from './mapping.ts'
import { columnsOf, openSource, type Source } from './source.ts'
import styles from './transfer.module.css'
import { type ImportState, useImport } from './use-import.ts'

interface ImportDialogProps {
  readonly table: Table
  /** Called when records were stored. */
  readonly onDone: () => void
  readonly onClose: () => void
}

const planOf = (table: Table, source: Source): ImportPlan => {
  const columns = columnsOf(source)
  const mapping = mapHeaders(
    table.fields,
    columns.map(({ name }) => name)
  )
  return { source, columns, mapping, isUpsert: false, on: '', isGuarded: false }
}

/** The types of files that can be records. */
const ACCEPTED = '.csv,.tsv,.txt,.ndjson,.jsonl,.json'

const stepOf = ({ part, isSent }: ImportState) => {
  if (part < 1) return texts.sending(part)
  return isSent ? texts.storing : texts.working
}

const Outcome = ({ state }: { readonly state: ImportState }) => {
  if (state.isPending) return <Progress part={state.part}>{stepOf(state)}</Progress>
  if (state.error !== null) return <FileProblem error={state.error} />
  if (!state.checked) return null
  return (
    <p className={styles.right} role="status">
      {texts.wouldDo(state.checked.created, state.checked.updated)}
    </p>
  )
}

/** Imports a file of CSV, NDJSON or JSON: its columns and options, a check of all records, then the import. */
export const ImportDialog = ({ table, onDone, onClose }: ImportDialogProps) => {
  const [plan, setPlan] = useState<ImportPlan | null>(null)
  const guard = useFormGuard(plan !== null)
  const leave = () => {
    guard.release()
    onClose()
  }
  const state = useImport(table, { onDone, onClose: leave })
  const close = () => guard.ask(onClose)
  const change = (next: ImportPlan) => {
    setPlan(next)
    state.reset()
  }
  const choose = async (file: File) => {
    try {
      change(planOf(table, await openSource(file)))
    } catch (error) {
      notifyError(texts.notRead(file.name), error)
    }
  }
  const isEmpty = plan !== null && plan.columns.length === 0
  const repeated = plan === null ? undefined : repeatedName(plan.columns.map(({ name }) => name))
  return (
    <Dialog title={texts.importTitle(titleOf(table))} isWide {...(!state.isPending && { onClose: close })}>
      <FileDrop file={plan?.source.file} prompt={texts.choose} accept={ACCEPTED} onFile={choose} />
      {isEmpty && <p className={styles.wrong}>{texts.tooEarly}</p>}
      {repeated !== undefined && (
        <p className={styles.wrong} role="alert">
          {texts.repeated(repeated)}
        </p>
      )}
      {plan && !isEmpty && <ImportOptions table={table} plan={plan} onChange={change} />}
      <Outcome state={state} />
      <Actions>
        <Button variant="quiet" onClick={state.isPending ? state.cancel : close}>
          {state.isSent ? common.close : common.cancel}
        </Button>
        {plan && !isEmpty && (
          <Button
            variant={state.checked ? 'default' : 'primary'}
            disabled={state.isPending || repeated !== undefined}
            onClick={() => state.check(plan)}
          >
            {texts.check}
          </Button>
        )}
        {plan && state.checked && (
          <Button variant="primary" disabled={state.isPending} onClick={() => state.run(plan)}>
            {texts.import(state.checked.rows)}
          </Button>
        )}
      </Actions>
      <LeaveDialog guard={guard} />
    </Dialog>
  )
}
