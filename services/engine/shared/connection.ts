import BetterSqlite3 from 'better-sqlite3'
import { recordTag } from '../../model/record-tag.ts'
import type { Row, SqlValue } from '../../model/sql-value.ts'
import { createStatements } from './statements.ts'

/** Characters of SQL in the cache of a connection. Readers need less: what they run takes longer than to prepare it. */
const CACHED_SQL = 2 ** 20
export const CACHED_SQL_OF_READER = 2 ** 18

export interface ConnectionOptions {
  readonly file: string
  readonly readonly: boolean
  /** Milliseconds to wait for a lock of another program. 0 on the event loop, which must not block. */
  readonly busyTimeout: number
  /** MiB of database pages that this connection may cache. */
  readonly cacheSize: number
  /** Characters of SQL whose statements this connection may cache. */
  readonly cachedSql?: number
}

/** One SQLite connection with its prepared statements. For `services/engine` only. */
export interface Connection {
  readonly raw: BetterSqlite3.Database
  /** Runs any statement. `changes` is the number of rows changed, or of rows returned if it returns rows. */
  run(sql: string, params: readonly SqlValue[]): { changes: number; rows: readonly Row[] }
  rows(sql: string, params: readonly SqlValue[]): readonly Row[]
  /** Returns the steps of SQLite's query plan: https://sqlite.org/eqp.html */
  plan(sql: string, params: readonly SqlValue[]): readonly string[]
  /** Returns the first column of the first row; undefined without a row. */
  value(sql: string, params?: readonly SqlValue[]): SqlValue | undefined
  /** Returns the number of characters of SQL whose statements are cached. */
  countCachedSql(): number
  close(): void
}

/** Called for BLOBs only. */
const toBase64 = (bytes: unknown) => Buffer.from(bytes as Uint8Array).toString('base64')

const configure = (raw: BetterSqlite3.Database, cacheSize: number) => {
  raw.pragma('trusted_schema = OFF')
  raw.pragma('foreign_keys = ON')
  raw.pragma(`cache_size = ${-1024 * cacheSize}`)
  // SQLite's own base64() is not in this build, and its JSON functions reject BLOBs.
  raw.function('base64', { deterministic: true, directOnly: true }, toBase64)
  raw.function('record_tag', { deterministic: true, directOnly: true }, recordTag)
}

export const openConnection = (options: ConnectionOptions): Connection => {
  const { file, readonly, busyTimeout, cacheSize, cachedSql = CACHED_SQL } = options
  const raw = new BetterSqlite3(file, { readonly, timeout: busyTimeout })
  try {
    configure(raw, cacheSize)
  } catch (error) {
    raw.close()
    throw error
  }

  const { prepare, prepareOnce, countCharacters } = createStatements(raw, cachedSql)

  // better-sqlite3 types rows as unknown. The values that SQLite returns are exactly SqlValue.
  const rows = (sql: string, params: readonly SqlValue[]) => prepare(sql).all(...params) as Row[]

  return {
    raw,
    rows,
    run: (sql, params) => {
      const statement = prepare(sql)
      if (!statement.reader) return { changes: statement.run(...params).changes, rows: [] }
      const returned = statement.all(...params) as Row[]
      return { changes: returned.length, rows: returned }
    },
    // Not cached: SQLite does not compile an EXPLAIN statement again when the schema has changed.
    plan: (sql, params) => {
      const steps = prepareOnce<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...params)
      return steps.map(({ detail }) => detail)
    },
    value: (sql, params = []) => prepare(sql, true).get(...params) as SqlValue | undefined,
    countCachedSql: countCharacters,
    close: () => raw.close()
  }
}
