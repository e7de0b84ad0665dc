import { rmSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { StagingCounts } from '../counts.ts'
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

/** Starts the threads that stage the files of imports. */
export const createStagingThreads = (stagingFiles: StagingFiles) => {
  const open = new Set<() => Promise<unknown>>()
  let count = 0

  /** `servedFile`: the file with the stored records; null if the thread cannot read them. */
  const start = (request: StagingRequest, servedFile: string | null) => {
    const stagingFile = stagingFiles.newPath()
    const { call, end } = startThread({ ...request, servedFile, stagingFile })
    const chunks = createChunks((chunk) => call('write', chunk))
    count += 1
    open.add(end)

    return {
      stagingFile,
      number: count,
      call,
      write: chunks.write,
      end: async () => {
        await chunks.flush()
        return call('end', undefined)
      },
      step: (argument: StagingCalls['step']['argument']) => call('step', argument),
      /** Ends the thread and deletes the file. `release`: called before the file is deleted. */
      close: async (release: () => Promise<unknown> = async () => {}) => {
        await end()
        open.delete(end)
        try {
          await release()
        } finally {
          rmSync(stagingFile, { force: true })
        }
      }
    }
  }

  /** Ends all threads. Their calls fail. */
  const close = async () => {
    await Promise.all([...open].map((end) => end()))
  }

  return { start, close, counts: (): StagingCounts => ({ running: open.size, started: count }) }
}
