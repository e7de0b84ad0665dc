import { rmSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { readAttached, type StorePlan, storeStaged } from '../../sql/staged-units.ts'
import type { StagingCounts } from '../counts.ts'
import type { Attachment } from '../shared/message.ts'
import { engineStopped } from '../shared/plain-error.ts'
import { memoryOf } from '../staging/moved-memory.ts'
import type {
  FileChunk,
  StagingCalls,
  StagingMessage,
  StagingMethod,
  StagingReply,
  StagingRequest,
  StagingThreadOptions
} from '../staging/protocol.ts'
import { stagingFile as threadFile } from '../thread-files.ts'
import { toDomainError } from './sqlite-errors.ts'
import type { StagingFiles } from './staging-files.ts'

/** Bytes that are sent to the thread together. */
const CHUNK_BYTES = 128 * 1024
/** MiB. */
const MEMORY_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 3 }

interface PendingCall {
  readonly resolve: (result: never) => void
  readonly reject: (error: Error) => void
}

/** Starts the thread. Its calls run in their order. */
const startThread = (workerData: StagingThreadOptions) => {
  const worker = new Worker(threadFile, { workerData, resourceLimits: MEMORY_LIMITS })
  let pending: PendingCall[] = []
  let failure: Error | undefined

  const fail = (error: Error) => {
    failure ??= error
    for (const { reject } of pending) reject(failure)
    pending = []
  }
  worker.on('message', (reply: StagingReply) => {
    const { resolve, reject } = pending.shift() as PendingCall
    if ('error' in reply) reject(toDomainError(reply.error))
    else resolve(reply.result as never)
  })
  worker.on('error', fail)
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      fail(toDomainError(engineStopped))
      resolve()
    })
  })

  const call = <M extends StagingMethod>(method: M, argument: StagingCalls[M]['argument']) =>
    new Promise<StagingCalls[M]['result']>((resolve, reject) => {
      if (failure) return reject(failure)
      pending.push({ resolve, reject })
      const message: StagingMessage = { method, argument }
      worker.postMessage(message, memoryOf(message))
    })

  /** Resolves when the thread has ended, after all calls that it has received. */
  const end = () => {
    worker.postMessage('close')
    return ended
  }

  return { call, end }
}

/**
 * Sends bytes to the thread in chunks of `CHUNK_BYTES`. Uses two buffers: the event loop fills one while the thread reads
 * the other. Each reply returns the buffer of its chunk.
 */
const createChunks = (send: (chunk: FileChunk) => Promise<FileChunk>) => {
  let memory = new Uint8Array(CHUNK_BYTES)
  let length = 0
  let sent: Promise<FileChunk> = Promise.resolve({ memory: new Uint8Array(CHUNK_BYTES), length: 0 })

  const flush = async () => {
    const free = await sent
    sent = send({ memory, length })
    // Awaited by the next flush.
    sent.catch(() => {})
    memory = free.memory
    length = 0
  }

  /** Resolves when the next bytes can be written. */
  const write = async (bytes: Uint8Array): Promise<void> => {
    for (let rest = bytes; rest.length > 0; ) {
      const part = rest.subarray(0, CHUNK_BYTES - length)
      memory.set(part, length)
      length += part.length
      rest = rest.subarray(part.length)
      if (length === CHUNK_BYTES) await flush()
    }
  }

  return {
    write,
    flush: async () => {
      await flush()
      await sent
    }
  }
}

interface StagingsOptions {
  readonly servedFile: string
  readonly stagingFiles: StagingFiles
  /** Attaches a file to the writer. */
  readonly attach: (attachment: Attachment) => Promise<void>
}

/** Stages the files of imports. */
export const createStagings = ({ servedFile, stagingFiles, attach }: StagingsOptions) => {
  const open = new Set<() => Promise<unknown>>()
  let count = 0

  const stage = (request: StagingRequest) => {
    const stagingFile = stagingFiles.newPath()
    const thread = startThread({ ...request, servedFile, stagingFile })
    count += 1
    const chunks = createChunks((chunk) => thread.call('write', chunk))
    const schema = `_rowhouse_import_${count}`
    let isAttached = false
    open.add(thread.end)

    const close = async () => {
      await thread.end()
      open.delete(thread.end)
      try {
        if (isAttached) await attach({ schema, file: null })
      } finally {
        rmSync(stagingFile, { force: true })
      }
    }

    return {
      write: chunks.write,
      end: async () => {
        await chunks.flush()
        return thread.call('end', undefined)
      },
      check: (checks: StagingCalls['check']['argument']) => thread.call('check', checks),
      step: (argument: StagingCalls['step']['argument']) => thread.call('step', argument),
      store: async (plan: StorePlan) => {
        await attach({ schema, file: stagingFile })
        isAttached = true
        return storeStaged(plan, readAttached(schema, plan.structure))
      },
      close
    }
  }

  /** Ends all threads. Their calls fail. */
  const close = async () => {
    await Promise.all([...open].map((end) => end()))
  }

  return { stage, close, counts: (): StagingCounts => ({ running: open.size, started: count }) }
}
export type Staging = ReturnType<ReturnType<typeof createStagings>['stage']>
