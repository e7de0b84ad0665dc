import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { overloaded } from '../model/errors.ts'
import type { VerifyPassword } from './passwords.ts'
import type { Question, Verdict } from './verifier-process.ts'

const script = fileURLToPath(new URL(`./verifier-process${extname(import.meta.url)}`, import.meta.url))

/** Milliseconds that the process is kept without anything to do: it takes some 50 MiB, and 0.1 s to start. */
const IDLE_MS = 60_000

interface Waiting {
  readonly resolve: (isRight: boolean) => void
  readonly reject: (error: Error) => void
}

/** Nothing of what the service was told is the process's business, and it yields to whoever is served. */
const startProcess = () => {
  const child = fork(script, { env: {}, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  child.unref()
  return child
}

/** Puts questions to a process, in any number. `onIdle` is called when all have been answered, `onEnd` when it ends. */
const converse = (child: ChildProcess, { onIdle, onEnd }: { onIdle: () => void; onEnd: () => void }) => {
  const waiting = new Map<number, Waiting>()
  let asked = 0

  const take = (id: number) => {
    const one = waiting.get(id) as Waiting
    waiting.delete(id)
    if (waiting.size === 0) onIdle()
    return one
  }
  const end = () => {
    onEnd()
    for (const { reject } of waiting.values()) reject(overloaded('The password could not be checked. Try again.', 1))
  }
  // One that could not be started, or no longer takes questions, says so with errors, perhaps more than one.
  child.on('error', () => {})
  once(child, 'disconnect').then(end, end)
  child.on('message', (verdict: Verdict) => {
    const { resolve, reject } = take(verdict.id)
    if ('fault' in verdict) reject(new Error(verdict.fault))
    else resolve(verdict.isRight)
  })

  return (stored: string, password: string) =>
    new Promise<boolean>((resolve, reject) => {
      asked += 1
      waiting.set(asked, { resolve, reject })
      child.send({ id: asked, stored, password } satisfies Question)
    })
}

/**
 * Checks passwords in a process of its own with a low priority, so that whoever floods the login slows nobody else:
 * docs/decisions/0011-verifier.md. It starts with the first password and ends after a minute without any.
 * @throws OVERLOADED where the process ends before it has answered; the next password starts another
 */
export const createVerifier = ({ idle = IDLE_MS } = {}): VerifyPassword => {
  let ask: VerifyPassword | undefined
  let idling: NodeJS.Timeout | undefined

  const start = () => {
    const child = startProcess()
    const onIdle = () => {
      child.channel?.unref()
      idling = setTimeout(() => child.disconnect(), idle).unref()
    }
    const onEnd = () => {
      clearTimeout(idling)
      ask = undefined
    }
    const put = converse(child, { onIdle, onEnd })
    return (stored: string, password: string) => {
      clearTimeout(idling)
      child.channel?.ref()
      return put(stored, password)
    }
  }

  return (stored, password) => {
    ask ??= start()
    return ask(stored, password)
  }
}
