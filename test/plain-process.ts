import { type StdioOptions, spawn, spawnSync } from 'node:child_process'

export type Environment = Readonly<Record<string, string | undefined>>

interface SpawnOptions {
  readonly args?: readonly string[]
  /** Variables that are added to our own environment, or replace its variables. */
  readonly env?: Environment
  readonly stdio: StdioOptions
  readonly cwd?: string
  /** A command that runs the process, such as `WITHOUT_OVERRIDE`. */
  readonly wrapper?: readonly string[]
}

const DROPPED = '-dac_override,-dac_read_search,-fowner'
const SETPRIV = ['setpriv', `--bounding-set=${DROPPED}`, `--inh-caps=${DROPPED}`]

const findWrapper = () => {
  if (process.getuid?.() !== 0) return []
  const [command = '', ...args] = SETPRIV
  return spawnSync(command, [...args, 'true']).status === 0 ? SETPRIV : null
}

/** Runs a process to which the permissions of files apply, also if root runs the tests. Null if that is not possible. */
export const WITHOUT_OVERRIDE: readonly string[] | null = findWrapper()

/**
 * The command of Node without tap. To measure coverage, tap would load itself into the process, its threads and its
 * child processes, which takes half a second for each. tap adds NODE_OPTIONS to the environment of every child process,
 * so the command `env` resets it before Node starts.
 */
export const plainNode = (options = '') => ['env', `NODE_OPTIONS=${options}`, process.execPath] as const

/** Starts a Node process without tap. A process that is killed writes no coverage anyway. */
export const spawnPlain = (script: string, { args = [], env = {}, wrapper = [], ...options }: SpawnOptions) => {
  const [command = '', ...rest] = [...wrapper, ...plainNode(env.NODE_OPTIONS), script, ...args]
  return spawn(command, rest, { env: { ...process.env, ...env }, ...options })
}
