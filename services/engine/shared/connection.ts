import BetterSqlite3 from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import type { Row, SqlValue } from '../../model/sql-value.ts'

/** Statements kept prepared of each kind. Run-time tables make new SQL text, so they have to be bounded. */
const PREPARED_STATEMENTS = 500

export interface ConnectionOptions {
  readonly file: string
  readonly readonly: boolean
  /** Milliseconds to wait for a lock of another program. 0 on the event loop, which must never wait. */
  readonly busyTimeout: number
  /** MiB of database pages that this connection may keep in memory. */
  readonly cacheSize: number
}

/** One SQLite connection with its prepared statements. Only `services/engine` sees it. */
export interface Connection {
  readonly raw: BetterSqlite3.Database
  /** Runs any statement: one that returns rows gives them, any other gives how many rows it changed. */
  run(sql: string, params: readonly SqlValue[]): { changes: number; rows: readonly Row[] }
  rows(sql: string, params: readonly SqlValue[]): readonly Row[]
  /** The steps by which SQLite would run a statement: https://sqlite.org/eqp.html */
  plan(sql: string, params: readonly SqlValue[]): readonly string[]
  /** The first column of the first row; undefined without a row. */
  value(sql: string, params?: readonly SqlValue[]): SqlValue | undefined
  close(): void
}

/** Called for BLOBs only. */
const toBase64 = (bytes: unknown) => Buffer.from(bytes as Uint8Array).toString('base64')

const configure = (raw: BetterSqlite3.Database, cacheSize: number) => {
  raw.pragma('trusted_schema = OFF')
  raw.pragma('foreign_keys = ON')
  raw.pragma(`cache_size = ${-1024 * cacheSize}`)
  // SQLite's own base64() is not in this build, and JSON functions refuse BLOBs.
  raw.function('base64', { deterministic: true, directOnly: true }, toBase64)
}

type Prepare = (sql: string) => BetterSqlite3.Statement<unknown[]>

const remembered = (prepare: Prepare): Prepare => {
  const statements = new LRUCache<string, BetterSqlite3.Statement<unknown[]>>({ max: PREPARED_STATEMENTS })
  return (sql) => {
    const known = statements.get(sql)
    if (known) return known
    const statement = prepare(sql)
    statements.set(sql, statement)
    return statement
  }
}

export const openConnection = ({ file, readonly, busyTimeout, cacheSize }: ConnectionOptions): Connection => {
  const raw = new BetterSqlite3(file, { readonly, timeout: busyTimeout })
  try {
    configure(raw, cacheSize)
  } catch (error) {
    raw.close()
    throw error
  }

  const prepare = remembered((sql) => raw.prepare<unknown[]>(sql))
  const preparePlucked = remembered((sql) => raw.prepare<unknown[]>(sql).pluck())

  // better-sqlite3 types rows as unknown; what SQLite returns is exactly a record of SqlValue.
  const rows = (sql: string, params: readonly SqlValue[]) => prepare(sql).all(...params) as Row[]

  return {
    raw,
    rows,
    run: (sql, params) => {
      const statement = prepare(sql)
      if (!statement.reader) return { changes: statement.run(...params).changes, rows: [] }
      const returned = rows(sql, params)
      return { changes: returned.length, rows: returned }
    },
    // Prepared anew: a statement that only explains never looks whether the schema is still the one it was prepared
    // for.
    plan: (sql, params) => {
      const steps = raw.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...params)
      return steps.map(({ detail }) => detail)
    },
    value: (sql, params = []) => preparePlucked(sql).get(...params) as SqlValue | undefined,
    close: () => raw.close()
  }
}
