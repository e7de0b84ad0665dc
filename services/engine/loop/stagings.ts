import { readAttached, type StorePlan, storeStaged } from '../../sql/staged-units.ts'
import type { Staging } from '../database.ts'
import type { Attachment } from '../shared/message.ts'
import type { StagingRequest } from '../staging/protocol.ts'
import type { StagingFiles } from './staging-files.ts'
import { createStagingThreads } from './staging-threads.ts'

interface StagingsOptions {
  readonly servedFile: string
  readonly stagingFiles: StagingFiles
  /** Attaches a file to the writer. */
  readonly attach: (attachment: Attachment) => Promise<void>
}

/** Stages the files of imports, and attaches them to the writer. */
export const createStagings = ({ servedFile, stagingFiles, attach }: StagingsOptions) => {
  const threads = createStagingThreads(stagingFiles)

  const stage = (request: StagingRequest): Staging => {
    const { stagingFile, number, call, close, write, end, step } = threads.start(request, servedFile)
    const schema = `_rowhouse_import_${number}`
    let isAttached = false
    return {
      write,
      end,
      step,
      check: (checks) => call('check', checks),
      store: async (plan: StorePlan) => {
        if (!isAttached) await attach({ schema, file: stagingFile })
        isAttached = true
        return storeStaged(plan, readAttached(schema, plan.structure))
      },
      close: () =>
        close(async () => {
          if (isAttached) await attach({ schema, file: null })
        })
    }
  }

  return { stage, close: threads.close, counts: threads.counts }
}
