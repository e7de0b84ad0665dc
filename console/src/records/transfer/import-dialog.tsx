import { useState } from 'react'
import { type Table, titleOf } from '../../tables/queries.ts'
import { texts as common } from '../../texts/common.ts'
import { texts } from '../../texts/transfer.ts'
import { Button } from '../../ui/button.tsx'
import { Actions, Dialog } from '../../ui/dialog.tsx'
import { FileProblem } from '../../ui/file-problem.tsx'
import { LeaveDialog, useFormGuard } from '../../ui/leave-dialog.tsx'
import { notifyError } from '../../ui/toast.tsx'
import { FileDrop } from './file-drop.tsx'
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

const Progress = ({ part, isSent }: Pick<ImportState, 'part' | 'isSent'>) => (
  <div className={styles.progress} role="status">
    <progress value={part < 1 ? part : undefined} aria-label={texts.sending(part)} />
    {part < 1 ? texts.sending(part) : isSent ? texts.storing : texts.working}
  </div>
)

const Outcome = ({ state }: { readonly state: ImportState }) => {
  if (state.isPending) return <Progress part={state.part} isSent={state.isSent} />
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
      <FileDrop file={plan?.source.file} onFile={choose} />
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
