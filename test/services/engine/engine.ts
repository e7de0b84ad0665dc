import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import type { Test } from 'tap'
import type { Database } from '../../../services/engine/database.ts'
import { type DatabaseOptions, openDatabase } from '../../../services/engine/loop/open.ts'
import type { SqlValue } from '../../../services/model/sql-value.ts'
import type { Statement } from '../../../services/sql/statement.ts'

/** A statement, written in one line. */
export const sql = (text: string, ...params: readonly SqlValue[]): Statement => ({ sql: text, params })

/** A path for a database in a directory of this test. */
export const databaseFile = (t: Test) => join(t.testdir(), 'served.sqlite')

/** Another program: a connection that knows nothing of Rowhouse. */
export const openExternal = (t: Test, file: string) => {
  const foreign = new BetterSqlite3(file)
  t.teardown(() => foreign.close())
  return foreign
}

/** Runs SQL on a file and leaves it, as the program that made it would. */
export const prepareFile = (file: string, text: string) => {
  const theirs = new BetterSqlite3(file)
  theirs.exec(text)
  theirs.close()
}

/** The engine, closed when `t` ends. */
export const startEngine = async (t: Test, file: string, options: Partial<DatabaseOptions> = {}): Promise<Database> => {
  const database = await openDatabase({
    file,
    cacheSize: 8,
    walSize: 16,
    isQuiet: () => false,
    onDeath: (cause) => t.fail(`the engine died: ${cause.message}`),
    ...options
  })
  t.teardown(() => database.close())
  return database
}

/** What a promise is rejected with; a value is a failure of the test. */
export const rejection = async (promise: Promise<unknown>): Promise<Error & Record<string, unknown>> => {
  const value = await promise.then(
    (result) => ({ result }),
    (error) => ({ error })
  )
  if ('error' in value) return value.error
  throw new Error(`It should have been refused, but gave ${JSON.stringify(value.result)}.`)
}
