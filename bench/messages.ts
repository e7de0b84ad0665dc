import type { ChildProcess } from 'node:child_process'

/** Returns the next message of a child process. `T` is the type that its script sends. @throws when the process ends first */
export const nextMessage = <T>(child: ChildProcess, name: string) =>
  new Promise<T>((resolve, reject) => {
    const settle = (then: () => void) => {
      child.off('message', receive)
      child.off('exit', fail)
      then()
    }
    const receive = (message: unknown) => settle(() => resolve(message as T))
    const fail = (code: number | null) => settle(() => reject(new Error(`${name} ended with exit code ${code}.`)))
    child.once('message', receive)
    child.once('exit', fail)
  })
