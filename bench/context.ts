import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { autocannon } from './autocannon.ts'
import type { Generator } from './load.ts'
import type { Options } from './options.ts'
import { isWrkInstalled, wrk } from './wrk.ts'

export const CONNECTIONS = 32

/**
 * How often things are measured. Many short rounds: what a machine does changes within a second, and pairs stay pairs.
 * Several processes, one after the other: one and the same route may be a tenth faster in one than in the next.
 */
interface Plan {
  readonly processes: number
  /** In each of them. */
  readonly rounds: number
  readonly exports: number
  readonly exportedRows: number
  readonly starts: number
}

/** Of one case in one round. */
export const ROUND_SECONDS = 0.3

const FULL: Plan = { processes: 4, rounds: 15, exports: 7, exportedRows: 1_000_000, starts: 9 }
const QUICK: Plan = { processes: 1, rounds: 9, exports: 3, exportedRows: 200_000, starts: 3 }

const generators: Record<string, Generator> = { wrk, autocannon }

const chooseGenerator = (wanted: string | undefined): Generator => {
  const chosen = generators[wanted ?? (isWrkInstalled() ? 'wrk' : 'autocannon')]
  if (!chosen) throw new Error(`There is no generator '${wanted}'. Generators: ${Object.keys(generators).join(', ')}.`)
  return chosen
}

export const createContext = ({ isQuick, generator, directory, profiles }: Options) => ({
  plan: isQuick ? QUICK : FULL,
  generator: chooseGenerator(generator),
  directory,
  profiles
})
export type Context = ReturnType<typeof createContext>

/** Gives an experiment a directory on the disk that is measured. */
export const withDirectory = async <T>({ directory }: Context, use: (directory: string) => Promise<T>) => {
  const own = mkdtempSync(join(directory, 'rowhouse-bench-'))
  try {
    return await use(own)
  } finally {
    rmSync(own, { recursive: true })
  }
}
