import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { overloaded } from '../model/errors.ts'
import type { VerifyPassword } from './passwords.ts'
import type { VerifierRequest, VerifierResponse } from './verifier-process.ts'

const script = fileURLToPath(new URL(`./verifier-process${extname(import.meta.url)}`, import.meta.url))

/** Milliseconds until an idle process is stopped. It takes about 50 MiB, and 0.1 s to start. */
const IDLE_MS = 60_000

interface PendingRequest {
  readonly resolve: (isMatch: boolean) => void
  readonly reject: (error: Error) => void
}

/** Starts the process without the environment, which contains secrets, and with a lower priority than the service. */
const startProcess = () => {
  const child = fork(script, { env: {}, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  child.unref()
  return child
}

/**
 * Returns a function that sends requests to the process, any number concurrently. Calls `onIdle` when no request is
 * pending any more, and `onEnd` when the process ends.
 */
const connect = (child: ChildProcess, { onIdle, onEnd }: { onIdle: () => void; onEnd: () => void }) => {
  const pending = new Map<number, PendingRequest>()
  let lastId = 0

  const takePending = (id: number) => {
    const request = pending.get(id) as PendingRequest
    pending.delete(id)
    if (pending.size === 0) onIdle()
    return request
  }
  const end = () => {
    onEnd()
    for (const { reject } of pending.values()) reject(overloaded('The password could not be checked. Try again.', 1))
  }
  // A process that cannot start, or is ending, may emit several errors. `once` handles only the first.
  child.on('error', () => {})
  once(child, 'disconnect').then(end, end)
  child.on('message', (response: VerifierResponse) => {
    const { resolve, reject } = takePending(response.id)
    if ('error' in response) reject(new Error(response.error))
    else resolve(response.isMatch)
  })

  return (stored: string, password: string) =>
    new Promise<boolean>((resolve, reject) => {
      lastId += 1
      pending.set(lastId, { resolve, reject })
      child.send({ id: lastId, stored, password } satisfies VerifierRequest)
    })
}

/**
 * Returns a function that checks passwords in a separate process with a low priority, so that a flood of logins does not
 * slow down other requests: docs/decisions/0011-verifier.md. The process starts with the first password and stops after
 * `idle` milliseconds without one.
 * @throws OVERLOADED if the process ends before it responds. The next password starts a new process.
 */
export const createVerifier = ({ idle = IDLE_MS } = {}): VerifyPassword => {
  let verify: VerifyPassword | undefined
  let idleTimer: NodeJS.Timeout | undefined

  const start = () => {
    const child = startProcess()
    const onIdle = () => {
      child.channel?.unref()
      idleTimer = setTimeout(() => child.disconnect(), idle).unref()
    }
    const onEnd = () => {
      clearTimeout(idleTimer)
      verify = undefined
    }
    const send = connect(child, { onIdle, onEnd })
    return (stored: string, password: string) => {
      clearTimeout(idleTimer)
      child.channel?.ref()
      return send(stored, password)
    }
  }

  return (stored, password) => {
    verify ??= start()
    return verify(stored, password)
  }
}
