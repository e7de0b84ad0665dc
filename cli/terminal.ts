import type { Readable, Writable } from 'node:stream'

/** A stream of a command, which may be a terminal. */
export type Output = Writable & { readonly isTTY?: boolean }

/** Where a command reads and writes: the process, or streams of a test. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv
  readonly stdin: Readable
  readonly stdout: Output
  readonly stderr: Output
}
