import type { Database } from '../../engine/database.ts'
import { scansOf } from '../../engine/scans.ts'
import type { Caller } from '../../model/caller.ts'
import { TOO_WIDE } from '../../sql/records.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Access } from '../access/access.ts'
import { keyParams } from '../access/keys.ts'
import { recordNotFound } from '../failures.ts'
import type { Planner } from './planner.ts'

interface ReadOptions {
  readonly db: Database
  readonly planner: Planner
}

/** Creates the function that reads a record by its key. */
export const createRead = ({ db, planner }: ReadOptions) => {
  const scanRecord = async (caller: Caller, { table }: Access, statement: Statement, pk: string) => {
    const [row] = await scansOf(db, table).scan(statement, caller)
    if (typeof row?.record !== 'string') throw recordNotFound(pk)
    return row.record
  }

  /** Returns the record as JSON text. @throws RECORD_NOT_FOUND */
  return async (caller: Caller, access: Access, pk: string): Promise<string> => {
    const key = keyParams(access, pk)
    const plan = await planner.planRecord(access, key)
    if (plan.via === 'scan') return scanRecord(caller, access, plan.statement, pk)
    const record = await db.readText(plan.statement)
    if (record === null) throw recordNotFound(pk)
    return record === TOO_WIDE ? scanRecord(caller, access, access.statements.read(key, true), pk) : record
  }
}

export type Read = ReturnType<typeof createRead>
