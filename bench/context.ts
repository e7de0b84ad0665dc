import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { autocannon } from './autocannon.ts'
import type { Generator } from './load.ts'
import type { Options } from './options.ts'
import { isWrkInstalled, wrk } from './wrk.ts'

export const CONNECTIONS = 32
/** Duration of one case in one round. */
export const ROUND_SECONDS = 0.3
/** Load on each case before its first round: V8 takes seconds to compile the functions that are called often. */
export const WARM_UP_SECONDS = 2

/**
 * Rounds are short and many, because the load of a shared machine changes within a second. Processes are several, one
 * after the other, because the same route may be 10 % faster in one process than in the next.
 */
interface Repetitions {
  readonly processes: number
  /** Rounds in each process. */
  readonly rounds: number
}

interface Plan extends Repetitions {
  /** Repetitions of `--against`: pairs of processes, and pairs of rounds in each. */
  readonly comparison: Repetitions
  readonly exports: number
  readonly exportedRows: number
  readonly starts: number
  readonly backups: number
  /** Of each of two tables: about 145 bytes. */
  readonly backupRows: number
}

const FULL: Plan = {
  processes: 4,
  rounds: 15,
  comparison: { processes: 24, rounds: 5 },
  exports: 7,
  exportedRows: 1_000_000,
  starts: 9,
  backups: 3,
  backupRows: 3_500_000
}
const QUICK: Plan = {
  processes: 1,
  rounds: 9,
  comparison: { processes: 8, rounds: 5 },
  exports: 3,
  exportedRows: 200_000,
  starts: 3,
  backups: 3,
  backupRows: 700_000
}

const generators: Record<string, Generator> = { wrk, autocannon }

const chooseGenerator = (name: string | undefined): Generator => {
  const chosen = generators[name ?? (isWrkInstalled() ? 'wrk' : 'autocannon')]
  if (!chosen) throw new Error(`There is no generator '${name}'. Generators: ${Object.keys(generators).join(', ')}.`)
  return chosen
}

export const createContext = ({ isQuick, generator, directory, profiles }: Options) => ({
  plan: isQuick ? QUICK : FULL,
  generator: chooseGenerator(generator),
  directory,
  profiles
})
export type Context = ReturnType<typeof createContext>

/** Runs `use` with a temporary directory on the measured disk, and removes the directory afterwards. */
export const withDirectory = async <T>({ directory }: Context, use: (directory: string) => Promise<T>) => {
  const temporary = mkdtempSync(join(directory, 'rowhouse-bench-'))
  try {
    return await use(temporary)
  } finally {
    rmSync(temporary, { recursive: true })
  }
}
