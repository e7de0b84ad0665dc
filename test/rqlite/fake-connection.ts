import type { Database as Connection } from 'better-sqlite3'
import { needsProcess, runsTooLong } from './fake-deadline.ts'
import type { BoundValue, FakeStatement } from './fake-request.ts'
import type { FakeChanges, FakeRows } from './fake-response.ts'
import { createCompiler, type Part, toArguments } from './fake-statements.ts'

const CHANGES_SCHEMA = /\b(?:create|alter|drop|vacuum|analyze|rollback)\b/i

export const QUERY_TIMEOUT = 'query timeout'

/** A statement that changes rows ends in its first step. rqlite does only one step where it expects no rows. */
const step = (part: Part, params: readonly BoundValue[]) => {
  const args = toArguments(part, params)
  if (part.statement.reader) part.statement.get(...args)
  else part.statement.run(...args)
}

const readRows = (part: Part, params: readonly BoundValue[], deadline: number): FakeRows => {
  const { statement } = part
  if (!statement.reader) {
    step(part, params)
    return { columns: [], values: [] }
  }
  const values: (readonly BoundValue[])[] = []
  for (const row of statement.raw().iterate(...toArguments(part, params))) {
    if (Date.now() > deadline) throw new Error(QUERY_TIMEOUT)
    values.push(row as BoundValue[])
  }
  return { columns: statement.columns(), values }
}

const notEnough = (wanted: number, got: number) =>
  new Error(`not enough args to execute query: want ${wanted} got ${got}`)

/** Returns functions that run texts of statements as rqlite's driver runs them. */
export const connect = (db: Connection) => {
  db.defaultSafeIntegers()
  db.pragma('foreign_keys = ON')
  const { first, clear } = createCompiler(db)
  const state = db.prepare('SELECT last_insert_rowid() AS lastInsertId, changes() AS changes')

  /** Runs all statements of a text. Without any parameter, rqlite binds NULL to all. */
  const execute = ({ sql, params }: FakeStatement): FakeChanges => {
    let left: readonly BoundValue[] = params
    let part = first(sql)
    if (!part) return { lastInsertId: 0n, changes: 0n }
    for (; part; part = part.rest === '' ? null : first(part.rest)) {
      const isBound = params.length > 0
      if (isBound && left.length < part.wanted) throw notEnough(part.wanted, params.length)
      step(part, isBound ? left : Array(part.wanted).fill(null))
      left = left.slice(part.wanted)
    }
    if (CHANGES_SCHEMA.test(sql)) clear()
    return state.get() as FakeChanges
  }

  /** Returns the rows of the last statement. rqlite's driver does not run the others. */
  const query = ({ sql, params }: FakeStatement, limit = Number.POSITIVE_INFINITY): FakeRows => {
    let left: readonly BoundValue[] = params
    let part = first(sql)
    if (!part) return { columns: [], values: [] }
    for (; part; part = first(part.rest)) {
      if (left.length < part.wanted) throw notEnough(part.wanted, left.length)
      if (part.rest === '') break
      left = left.slice(part.wanted)
    }
    if (!part) return { columns: [], values: [] }
    if (needsProcess(limit) && runsTooLong(db.name, { sql, params }, limit)) throw new Error(QUERY_TIMEOUT)
    return readRows(part, left, Date.now() + limit)
  }

  const run = (sql: string) => db.exec(sql)
  return { db, execute, query, run, clear }
}

export type FakeConnection = ReturnType<typeof connect>
