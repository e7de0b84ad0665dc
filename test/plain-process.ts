import { type StdioOptions, spawn } from 'node:child_process'

export type Environment = Readonly<Record<string, string | undefined>>

interface SpawnOptions {
  readonly args?: readonly string[]
  /** Variables that are added to our own environment, or replace its variables. */
  readonly env?: Environment
  readonly stdio: StdioOptions
}

/**
 * Starts a Node process without tap. To measure coverage, tap would load itself into the process and each of its
 * threads, which takes a second; a process that is killed writes no coverage anyway. tap adds NODE_OPTIONS to the
 * environment of every child process, so the command `env` resets it before Node starts.
 */
export const spawnPlain = (script: string, { args = [], env = {}, stdio }: SpawnOptions) =>
  spawn('env', [`NODE_OPTIONS=${env.NODE_OPTIONS ?? ''}`, process.execPath, script, ...args], {
    env: { ...process.env, ...env },
    stdio
  })
