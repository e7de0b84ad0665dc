import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Attachment } from '../shared/message.ts'
import { engineStopped } from '../shared/plain-error.ts'
import type {
  StagingCalls,
  StagingMessage,
  StagingMethod,
  StagingReply,
  StagingRequest,
  StagingThreadOptions
} from '../staging/protocol.ts'
import { stagingFile as threadFile } from '../thread-files.ts'
import { toDomainError } from './sqlite-errors.ts'

/** MiB. */
const MEMORY_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 }

const prefixOf = (file: string) => `${basename(file)}-import-`

/** Deletes the staging files that a killed process has left. */
export const removeStagingFiles = (file: string) => {
  const directory = dirname(file)
  for (const name of readdirSync(directory))
    if (name.startsWith(prefixOf(file))) rmSync(join(directory, name), { force: true })
}

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
  worker.on('exit', () => fail(toDomainError(engineStopped)))

  const call = <M extends StagingMethod>(method: M, argument: StagingCalls[M]['argument']) =>
    new Promise<StagingCalls[M]['result']>((resolve, reject) => {
      if (failure) return reject(failure)
      pending.push({ resolve, reject })
      const message: StagingMessage = { method, argument }
      worker.postMessage(message, argument instanceof Uint8Array ? [argument.buffer as ArrayBuffer] : [])
    })

  return { call, end: () => worker.terminate() }
}

/** Stages the files of imports next to the served file. `attach`: of the writer. */
export const createStagings = (servedFile: string, attach: (attachment: Attachment) => Promise<void>) => {
  const open = new Set<() => Promise<unknown>>()
  let count = 0

  const stage = (request: StagingRequest) => {
    const stagingFile = join(dirname(servedFile), `${prefixOf(servedFile)}${randomUUID()}`)
    const thread = startThread({ ...request, servedFile, stagingFile })
    count += 1
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
      /** Takes the memory of the chunk. */
      write: (chunk: Uint8Array) => thread.call('write', chunk),
      end: () => thread.call('end', undefined),
      check: (checks: StagingCalls['check']['argument']) => thread.call('check', checks),
      step: (argument: StagingCalls['step']['argument']) => thread.call('step', argument),
      /** Lets units read the staged records, in this schema. */
      attach: async () => {
        await attach({ schema, file: stagingFile })
        isAttached = true
        return schema
      },
      close
    }
  }

  /** Ends all threads. Their calls fail. */
  const close = async () => {
    await Promise.all([...open].map((end) => end()))
  }

  return { stage, close }
}
export type Staging = ReturnType<ReturnType<typeof createStagings>['stage']>
