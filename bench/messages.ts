import type { ChildProcess } from 'node:child_process'

/** The next message of a child process, whose type its script promises. @throws when it ends without one */
export const nextMessage = <T>(child: ChildProcess, name: string) =>
  new Promise<T>((resolve, reject) => {
    const settle = (then: () => void) => {
      child.off('message', receive)
      child.off('exit', fail)
      then()
    }
    const receive = (message: unknown) => settle(() => resolve(message as T))
    const fail = (code: number | null) => settle(() => reject(new Error(`${name} has ended (${code}).`)))
    child.once('message', receive)
    child.once('exit', fail)
  })
