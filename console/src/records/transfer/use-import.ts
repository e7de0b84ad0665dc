import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type Table, titleOf } from '../../tables/queries.ts'
import { texts } from '../../texts/transfer.ts'
import { notify } from '../../ui/toast.tsx'
import { type ImportPlan, importFile } from './import-file.ts'

interface Run {
  readonly plan: ImportPlan
  readonly isDryRun: boolean
}

/** The check and the import of a file, one at a time. */
export const useImport = (table: Table, onDone: () => void) => {
  const [part, setPart] = useState(0)
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
    }
  })
  return {
    part,
    isPending: work.isPending,
    error: work.error,
    /** What the import would do, if the file is right. */
    checked: work.isSuccess ? work.data : undefined,
    check: (plan: ImportPlan) => work.mutate({ plan, isDryRun: true }),
    run: (plan: ImportPlan) => work.mutate({ plan, isDryRun: false }),
    reset: () => work.reset(),
    cancel: () => {
      controller.current.abort()
      work.reset()
    }
  }
}

export type ImportState = ReturnType<typeof useImport>
