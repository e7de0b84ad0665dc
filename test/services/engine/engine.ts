import { dirname, join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import type { Test } from 'tap'
import type { Database } from '../../../services/engine/database.ts'
import { type DatabaseOptions, openDatabase } from '../../../services/engine/loop/open.ts'
import type { SqlValue } from '../../../services/model/sql-value.ts'
import type { Statement } from '../../../services/sql/statement.ts'

export { prepareFile } from '../../fixtures.ts'

/** Returns a statement. */
export const sql = (text: string, ...params: readonly SqlValue[]): Statement => ({ sql: text, params })

/** Returns a path for a database in the fixture directory of `t`. */
export const databaseFile = (t: Test) => {
  // With a teardown before `testdir`, tap removes the directory last. A writer thread ends if its file was removed.
  t.teardown(() => {})
  return join(t.testdir(), 'served.sqlite')
}

/** Returns the directory of staging files that `startEngine` uses. */
export const stagingDirectoryOf = (file: string) => join(dirname(file), 'staging')

/** Opens a connection as another program would. */
export const openExternal = (t: Test, file: string) => {
  const external = new BetterSqlite3(file)
  t.teardown(() => external.close())
  return external
}

/** Opens the engine; it is closed when `t` ends. */
export const startEngine = async (t: Test, file: string, options: Partial<DatabaseOptions> = {}): Promise<Database> => {
  const database = await openDatabase({
    file,
    dataDirectory: dirname(file),
    cacheSize: 8,
    walSize: 16,
    isQuiet: () => false,
    beforeUpgrade: async () => {},
    onDeath: (cause) => t.fail(`the writer thread ended: ${cause.message}`),
    ...options
  })
  t.teardown(() => database.close())
  return database
}

/** Returns the error that the promise is rejected with. @throws if it is resolved */
export const rejection = async (promise: Promise<unknown>): Promise<Error & Record<string, unknown>> => {
  const value = await promise.then(
    (result) => ({ result }),
    (error) => ({ error })
  )
  if ('error' in value) return value.error
  throw new Error(`The promise should have been rejected, but was resolved with ${JSON.stringify(value.result)}.`)
}
