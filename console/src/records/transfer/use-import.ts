import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type Table, titleOf } from '../../tables/queries.ts'
import { texts } from '../../texts/transfer.ts'
import { notify, notifyError } from '../../ui/toast.tsx'
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
  const [part, setPart] = useState(0)
  /** Whether the dialog is closed, and a notice says what has happened. */
  const isLeft = useRef(false)
  const controller = useRef(new AbortController())
  const work = useMutation({
    mutationFn: ({ plan, isDryRun }: Run) => {
      setPart(0)
      controller.current = new AbortController()
      return importFile(table, plan, { isDryRun, onProgress: setPart, signal: controller.current.signal })
    },
    onSuccess: ({ created, updated, dryRun }) => {
      if (dryRun) return
      notify({ title: texts.imported(created, updated, titleOf(table)) })
      onDone()
      if (!isLeft.current) onClose()
    },
    onError: (error) => isLeft.current && notifyError(texts.importFailed(titleOf(table)), error)
  })
  /** Once the whole file is sent, the service may store it, whether or not somebody waits for the response. */
  const isSent = work.isPending && work.variables?.isDryRun === false && part === 1
  return {
    part,
    isPending: work.isPending,
    isSent,
    error: work.error,
    /** What the import would do, if the file is right. */
    checked: work.isSuccess ? work.data : undefined,
    check: (plan: ImportPlan) => work.mutate({ plan, isDryRun: true }),
    run: (plan: ImportPlan) => work.mutate({ plan, isDryRun: false }),
    reset: () => work.reset(),
    cancel: () => {
      if (isSent) {
        isLeft.current = true
        onClose()
        return
      }
      controller.current.abort()
      work.reset()
    }
  }
}

export type ImportState = ReturnType<typeof useImport>
