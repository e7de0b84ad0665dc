import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3, { type Database as Connection } from 'better-sqlite3'
import { type Lifetime, temporaryDirectory } from '../fixtures.ts'
import { differencesOf } from './fake-comparison.ts'
import { connect, type FakeConnection, QUERY_TIMEOUT } from './fake-connection.ts'
import { addOwnClock, removeFunctions } from './fake-functions.ts'
import { findsReturning } from './fake-parser.ts'
import type { FakeStatement } from './fake-request.ts'
import type { FakeResult } from './fake-response.ts'

/** The results of a request. `error` is the one outside of all statements. */
export interface FakeResults {
  readonly results: readonly FakeResult[]
  readonly error?: string
}

export interface RunOptions {
  readonly isTransaction: boolean
  /** The limit of a query, in milliseconds. */
  readonly limit?: number
}

const errorOf = (error: unknown) => ({ error: (error as Error).message })

const openFirst = (file: string, options: BetterSqlite3.Options = {}) => {
  const db = new BetterSqlite3(file, options)
  db.pragma('synchronous = OFF')
  // Allows `PRAGMA writable_schema`, as rqlite does.
  db.unsafeMode(true)
  removeFunctions(db)
  return connect(db)
}

/** Copies a database without its write-ahead log. */
const copyOf = (t: Lifetime, file: string) => {
  const copy = join(temporaryDirectory(t), 'loaded.sqlite')
  const db = new BetterSqlite3(file, { readonly: true })
  db.prepare('VACUUM INTO ?').run(copy)
  db.close()
  return readFileSync(copy)
}

const prepareFirst = (file: string, content: Buffer | undefined) => {
  if (content) writeFileSync(file, content)
  const db = new BetterSqlite3(file)
  db.pragma('journal_mode = WAL')
  db.close()
}

/** The second node has its own random numbers and its own clock, and finds rows in another order. */
const openSecond = (content: Buffer | undefined) => {
  const db: Connection = new BetterSqlite3(content ?? ':memory:')
  db.pragma('trusted_schema = ON')
  db.unsafeMode(true)
  db.pragma('reverse_unordered_selects = ON')
  removeFunctions(db)
  addOwnClock(db)
  return connect(db)
}

const executeOne = (node: FakeConnection, statement: FakeStatement): FakeResult =>
  findsReturning(statement.sql) ? node.query(statement) : node.execute(statement)

/** Runs statements of `/db/execute` on a node. A transaction ends at the first error, which is the last result. */
const executeOn = (node: FakeConnection, statements: readonly FakeStatement[], isTransaction: boolean): FakeResults => {
  const results: FakeResult[] = []
  try {
    if (isTransaction) node.run('BEGIN')
    for (const statement of statements.filter(({ sql }) => sql !== '')) {
      try {
        results.push(executeOne(node, statement))
      } catch (error) {
        results.push(errorOf(error))
        if (!isTransaction) continue
        if (node.db.inTransaction) node.run('ROLLBACK')
        return { results }
      }
    }
    if (isTransaction) node.run('COMMIT')
    return { results }
  } catch (error) {
    if (results.length > 0 && node.db.inTransaction) node.run('ROLLBACK')
    return { results: [], ...errorOf(error) }
  }
}

const QUERY_WRITE = 'attempt to change database via query operation'
const ENDED = 'sql: transaction has already been committed or rolled back'

/** Runs statements of `/db/query`. An error does not end the others; a timeout does. */
const queryOn = (node: FakeConnection, statements: readonly FakeStatement[], { isTransaction, limit }: RunOptions) => {
  const results: FakeResult[] = []
  let timeout: { readonly error: string } | null = null
  if (isTransaction) node.run('BEGIN')
  for (const statement of statements.filter(({ sql }) => sql !== '')) {
    try {
      results.push(timeout ?? node.query(statement, limit))
    } catch (error) {
      const failure = errorOf(error)
      if (failure.error === QUERY_TIMEOUT) timeout = failure
      results.push((error as { code?: string }).code === 'SQLITE_READONLY' ? { error: QUERY_WRITE } : failure)
    }
  }
  if (node.db.inTransaction) node.run('ROLLBACK')
  return timeout && isTransaction ? { results: [], error: ENDED } : { results }
}

/**
 * Opens the files of two nodes. Each write runs on both. After every write whose number is divisible by `interval`, the
 * second node is vacuumed and analysed. `loaded`: a file whose content both have at first.
 */
export const openNodes = (t: Lifetime, interval: number, loaded?: string) => {
  const file = join(temporaryDirectory(t), 'first.sqlite')
  const content = loaded === undefined ? undefined : copyOf(t, loaded)
  prepareFirst(file, content)
  const [first, reader, second] = [openFirst(file), openFirst(file, { readonly: true }), openSecond(content)]
  t.teardown(() => {
    for (const { db } of [reader, first, second]) db.close()
  })
  let writes = 0

  const maintain = () => {
    writes += 1
    if (writes % interval !== 0 || second.db.inTransaction) return
    second.run('VACUUM; ANALYZE')
  }
  const execute = (statements: readonly FakeStatement[], { isTransaction }: RunOptions) => {
    const answer = executeOn(first, statements, isTransaction)
    executeOn(second, statements, isTransaction)
    maintain()
    reader.clear()
    return answer
  }
  const query = (statements: readonly FakeStatement[], options: RunOptions) => queryOn(reader, statements, options)
  const compare = () => differencesOf(first.db, second.db)
  return { file, execute, query, compare, reader, first, second }
}

export type FakeNodes = ReturnType<typeof openNodes>
