import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'

// Apart from helpers.ts, which loads the whole service: a test that runs the service as a process does not need that.

export const PASSWORD = 'correct horse'

/** What uses resources until it ends: a test of tap, or a program that is no test. */
export interface Lifetime {
  /** Adds a function that is called at the end, before those that were added earlier. */
  readonly teardown: (cleanUp: () => unknown) => unknown
  /** Called with an error that no caller can catch. */
  readonly threw: (error: unknown) => unknown
}

/** The smallest cost that argon2 accepts. */
export const CHEAP = { memoryCost: 8, timeCost: 1, parallelism: 1 }

export const temporaryDirectory = (t: Lifetime) => {
  const directory = mkdtempSync(join(tmpdir(), 'rowhouse-test-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Runs SQL on a file and closes it, as another program would, but without an fsync for each statement. */
export const prepareFile = (file: string, sql: string) => {
  const db = new BetterSqlite3(file)
  db.pragma('synchronous = OFF')
  db.exec(sql)
  db.close()
}

/** Creates a SQLite file without the service, as another program would, and returns its path. */
export const createDatabase = (t: Lifetime, sql: string) => {
  const file = join(temporaryDirectory(t), 'external.sqlite')
  prepareFile(file, sql)
  return file
}
