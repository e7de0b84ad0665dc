import { type StdioOptions, spawn } from 'node:child_process'

export type Environment = Readonly<Record<string, string | undefined>>

interface SpawnOptions {
  readonly args?: readonly string[]
  /** What it has besides, or in place of, our own environment. */
  readonly env?: Environment
  readonly stdio: StdioOptions
}

/**
 * Node in a process without tap, which would load itself into it and each of its threads to measure coverage: that takes
 * a second of work, and one that is killed could not tell. tap adds this to every environment that a process is started
 * with, so only the process itself can undo it, and `env` does that before it becomes Node.
 */
export const spawnPlain = (script: string, { args = [], env = {}, stdio }: SpawnOptions) =>
  spawn('env', [`NODE_OPTIONS=${env.NODE_OPTIONS ?? ''}`, process.execPath, script, ...args], {
    env: { ...process.env, ...env },
    stdio
  })
