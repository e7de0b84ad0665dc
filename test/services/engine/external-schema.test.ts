import { readFileSync, writeFileSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { openConnection } from '../../../services/engine/shared/connection.ts'
import { assertIntact } from '../../../services/engine/writer/boot.ts'
import { databaseFile, rejection, sql, startEngine } from './engine.ts'

const WAYS = [
  ['a function', "CREATE TABLE special (a TEXT CHECK (theirs(a) <> ''))"],
  ['a collation', 'CREATE TABLE special (a TEXT COLLATE NOCASE PRIMARY KEY)']
] as const

/** A file whose schema needs what only its own application has, with the traces of an unclean end. */
const abandoned = (t: Test, special: string = WAYS[0][1]) => {
  const file = databaseFile(t)
  const theirs = new BetterSqlite3(file)
  theirs.function('theirs', { deterministic: true }, (value) => value)
  theirs.exec(`CREATE TABLE plain (id INTEGER PRIMARY KEY, name TEXT);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO plain (name) SELECT 'row ' || i FROM n;
    ${special};
    INSERT INTO special VALUES ('x');`)
  const leaf = theirs.prepare("SELECT max(pageno) FROM dbstat WHERE name = 'plain' AND pagetype = 'leaf'").pluck().get()
  theirs.close()
  // The engine has no way to make a collation.
  writeFileSync(file, readFileSync(file, 'latin1').replace('NOCASE', 'THEIRS'), 'latin1')
  writeFileSync(`${file}-wal`, '')
  return { file, leaf: Number(leaf) }
}

const PAGE = 4096
const HEADER = 100

for (const [what, special] of WAYS) {
  t.test(`after an unclean end a schema with ${what} of its application is no damage, however often`, async (t) => {
    const { file } = abandoned(t, special)
    for (const time of ['first', 'second']) {
      writeFileSync(`${file}-wal`, '')
      const db = await startEngine(t, file)
      t.same(await db.read(sql('SELECT count(*) AS n FROM plain')), [{ n: 2000 }], time)
      await db.close()
    }
  })

  t.test(`while damage in the tables beside one with ${what} still is`, async (t) => {
    const { file, leaf } = abandoned(t, special)
    const bytes = readFileSync(file)
    bytes.fill(0xff, (leaf - 1) * PAGE, leaf * PAGE)
    writeFileSync(file, bytes)
    t.match(await rejection(startEngine(t, file)), { message: /is damaged/ })
  })
}

t.test('what is no database at all is refused as such', async (t) => {
  const { file } = abandoned(t)
  writeFileSync(file, 'this is no database'.repeat(1000))
  t.match(await rejection(startEngine(t, file)), { message: /is damaged, or not a SQLite database/ })
})

t.test('a schema that cannot be read at all is damage', async (t) => {
  const { file } = abandoned(t)
  const bytes = readFileSync(file)
  bytes.fill(0xff, HEADER, PAGE)
  writeFileSync(file, bytes)
  t.match(await rejection(startEngine(t, file)), { message: /is damaged/ })
})

t.test('a disk that fails during the check is no verdict', async (t) => {
  const { file } = abandoned(t)
  const connection = openConnection({ file, readonly: true, busyTimeout: 0, cacheSize: 1 })
  t.teardown(() => connection.close())
  const value = () => {
    throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_READ' })
  }
  t.throws(() => assertIntact({ ...connection, value }, file), { code: 'SQLITE_IOERR_READ' })
  assertIntact(connection, file)
})
