import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import type { Test } from 'tap'

// Apart from helpers.ts, which loads the whole service: a test that runs the service as a process does not need that.

export const PASSWORD = 'correct horse'

/** The smallest cost that argon2 accepts. */
export const CHEAP = { memoryCost: 8, timeCost: 1, parallelism: 1 }

export const temporaryDirectory = (t: Test) => {
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
export const createDatabase = (t: Test, sql: string) => {
  const file = join(temporaryDirectory(t), 'external.sqlite')
  prepareFile(file, sql)
  return file
}
