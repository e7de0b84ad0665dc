import { readFileSync, writeFileSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { openConnection } from '../../../services/engine/shared/connection.ts'
import { assertIntact } from '../../../services/engine/writer/open-writer.ts'
import { databaseFile, rejection, sql, startEngine } from './engine.ts'

const SCHEMAS = [
  ['a function', "CREATE TABLE special (a TEXT CHECK (custom(a) <> ''))"],
  ['a collation', 'CREATE TABLE special (a TEXT COLLATE NOCASE PRIMARY KEY)']
] as const

/** Creates a file with an unclean end whose schema needs a function or a collation of its own application. */
const createUncleanFile = (t: Test, special: string = SCHEMAS[0][1]) => {
  const file = databaseFile(t)
  const application = new BetterSqlite3(file)
  application.function('custom', { deterministic: true }, (value) => value)
  application.exec(`CREATE TABLE plain (id INTEGER PRIMARY KEY, name TEXT);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO plain (name) SELECT 'row ' || i FROM n;
    ${special};
    INSERT INTO special VALUES ('x');`)
  const leaf = application
    .prepare("SELECT max(pageno) FROM dbstat WHERE name = 'plain' AND pagetype = 'leaf'")
    .pluck()
    .get()
  application.close()
  // better-sqlite3 cannot define a collation.
  writeFileSync(file, readFileSync(file, 'latin1').replace('NOCASE', 'CUSTOM'), 'latin1')
  writeFileSync(`${file}-wal`, '')
  return { file, leaf: Number(leaf) }
}

const PAGE = 4096
const HEADER = 100

for (const [need, special] of SCHEMAS) {
  t.test(
    `after an unclean end a schema with ${need} of its application is not reported as damaged, at the first start or later`,
    async (t) => {
      const { file } = createUncleanFile(t, special)
      for (const time of ['first', 'second']) {
        writeFileSync(`${file}-wal`, '')
        const db = await startEngine(t, file)
        t.same(await db.read(sql('SELECT count(*) AS n FROM plain')), [{ n: 2000 }], time)
        await db.close()
      }
    }
  )

  t.test(`but damage in another table of a schema with ${need} is reported`, async (t) => {
    const { file, leaf } = createUncleanFile(t, special)
    const bytes = readFileSync(file)
    bytes.fill(0xff, (leaf - 1) * PAGE, leaf * PAGE)
    writeFileSync(file, bytes)
    t.match(await rejection(startEngine(t, file)), { message: /is damaged/ })
  })
}

t.test('a file that is not a database is refused', async (t) => {
  const { file } = createUncleanFile(t)
  writeFileSync(file, 'this is not a database'.repeat(1000))
  t.match(await rejection(startEngine(t, file)), { message: /is damaged, or not a SQLite database/ })
})

t.test('a schema that cannot be read is reported as damage', async (t) => {
  const { file } = createUncleanFile(t)
  const bytes = readFileSync(file)
  bytes.fill(0xff, HEADER, PAGE)
  writeFileSync(file, bytes)
  t.match(await rejection(startEngine(t, file)), { message: /is damaged/ })
})

t.test('a disk error during the check is not reported as damage', async (t) => {
  const { file } = createUncleanFile(t)
  const connection = openConnection({ file, readonly: true, busyTimeout: 0, cacheSize: 1 })
  t.teardown(() => connection.close())
  const value = () => {
    throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_READ' })
  }
  t.throws(() => assertIntact({ ...connection, value }, file), { code: 'SQLITE_IOERR_READ' })
  assertIntact(connection, file)
})
