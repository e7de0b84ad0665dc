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

/** Creates a SQLite file without the service, as another program would, and returns its path. */
export const createDatabase = (t: Test, sql: string) => {
  const file = join(temporaryDirectory(t), 'external.sqlite')
  const db = new BetterSqlite3(file)
  db.exec(sql)
  db.close()
  return file
}
