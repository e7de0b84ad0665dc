import { type Table, titleOf } from '../../tables/queries.ts'
import { texts } from '../../texts/transfer.ts'
import { notify, notifyError } from '../../ui/toast.tsx'
import { useSending } from '../../ui/use-sending.ts'
import { type ImportPlan, importFile } from './import-file.ts'

interface Run {
  readonly plan: ImportPlan
  readonly isDryRun: boolean
}

interface ImportEvents {
  /** Called when records were stored. */
  readonly onDone: () => void
  readonly onClose: () => void
}

/** The check and the import of a file, one at a time. */
export const useImport = (table: Table, { onDone, onClose }: ImportEvents) => {
  const { result, send, ...sending } = useSending({
    send: ({ plan, isDryRun }: Run, options) => importFile(table, plan, { isDryRun, ...options }),
    isStored: ({ isDryRun }) => !isDryRun,
    onSuccess: ({ created, updated, dryRun }, close) => {
      if (dryRun) return
      notify({ title: texts.imported(created, updated, titleOf(table)) })
      onDone()
      close()
    },
    onLateError: (error) => notifyError(texts.importFailed(titleOf(table)), error),
    onClose
  })
  return {
    ...sending,
    /** The result that an import would have; undefined until the file is checked. */
    checked: result,
    check: (plan: ImportPlan) => send({ plan, isDryRun: true }),
    run: (plan: ImportPlan) => send({ plan, isDryRun: false })
  }
}

export type ImportState = ReturnType<typeof useImport>
