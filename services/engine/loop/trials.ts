import type { Statement, Unit, UnitOptions } from '../../sql/statement.ts'
import type { Database, ScanCaller } from '../database.ts'
import { createTrial, type Trial } from '../reader/trial.ts'
import { toDomainError } from './sqlite-errors.ts'

/** Characters of declarations that are compiled on the event loop: about 10 ms. */
const MAX_SIZE_ON_LOOP = 16 * 1024

const SELECT_SIZE: Statement = {
  sql: "SELECT total(length(sql)) AS size, total(type = 'view') AS views FROM main.sqlite_schema",
  params: []
}

interface TrialsOptions {
  readonly file: string
  readonly read: Database['read']
  /** Tries in a process that can be killed. */
  readonly tryInProcess: Database['tryChange']
}

/**
 * Tries changes in a process that can be killed, because the compilation of a view may not end. A small schema without views
 * is tried on the event loop: this saves the start of a process.
 */
export const createTrials = ({ file, read, tryInProcess }: TrialsOptions): Database['tryChange'] => {
  const tryHere = createTrial({ file, busyTimeout: 0, cacheSize: 1 })

  return async (unit: Unit, caller: ScanCaller, options?: UnitOptions): Promise<Trial> => {
    const [schema] = await read(SELECT_SIZE)
    if (Number(schema?.views) > 0 || Number(schema?.size) > MAX_SIZE_ON_LOOP) return tryInProcess(unit, caller, options)
    await caller.confirm()
    const outcome = tryHere({ trial: unit, options })
    if ('error' in outcome) throw toDomainError(outcome.error)
    return outcome.trial
  }
}
