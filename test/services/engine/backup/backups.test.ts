import { once } from 'node:events'
import { closeSync, existsSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { BackupProgress } from '../../../../services/engine/database.ts'
import { spawnPlain } from '../../../plain-process.ts'
import { databaseFile, openExternal, prepareFile, rejection, startEngine } from '../engine.ts'

const script = fileURLToPath(new URL(`./writing-program${extname(import.meta.url)}`, import.meta.url))

/** Some 20 MB, so that a copy has several steps. The rowids have gaps. */
const PAIRS = `
  CREATE TABLE pairs (left_half, right_half);
  WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
  INSERT INTO pairs SELECT n, n FROM numbers;
  CREATE TABLE filler (bytes);
  WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20)
  INSERT INTO filler SELECT randomblob(1000000) FROM numbers;
  DELETE FROM pairs WHERE rowid % 3 = 0`

const emptyFile = (file: string, name = 'copy.partial') => {
  const target = join(dirname(file), name)
  writeFileSync(target, '')
  return target
}

const start = async (t: Test, schema: string) => {
  const file = databaseFile(t)
  prepareFile(file, schema)
  const db = await startEngine(t, file)
  return { file, db, target: emptyFile(file) }
}

const ignore = () => {}

/** Writes bytes at a position of the file. */
const overwrite = (file: string, position: number, bytes: Buffer) => {
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, bytes, 0, bytes.length, position)
  closeSync(descriptor)
}

t.test('a copy has the rowids of the served file, and reports its progress', async (t) => {
  const { file, db, target } = await start(t, PAIRS)
  const progress: BackupProgress[] = []
  await db.backups.copy(target, (step) => progress.push(step))
  const select = 'SELECT rowid, left_half FROM pairs ORDER BY rowid'
  t.strictSame(openExternal(t, target).prepare(select).all(), openExternal(t, file).prepare(select).all())
  t.ok(progress.length > 2)
  t.ok(progress.every(({ copied, total }) => copied < total))
})

t.test('a copy ends although another program commits ten times a second, and is one snapshot', async (t) => {
  const { file, db, target } = await start(t, PAIRS)
  const program = spawnPlain(script, { args: [file], stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => program.kill('SIGKILL'))
  let commits = 0
  const lines = createInterface(program.stdout as Readable).on('line', () => {
    commits += 1
  })
  await once(lines, 'line')
  const before = commits
  for (let copies = 0; commits < before + 10; copies += 1) await db.backups.copy(emptyFile(file, `${copies}`), ignore)
  await db.backups.copy(target, ignore)
  const copy = openExternal(t, target)
  t.equal(copy.pragma('integrity_check', { simple: true }), 'ok')
  t.equal(copy.prepare('SELECT count(*) FROM pairs WHERE left_half IS NOT right_half').pluck().get(), 0)
})

t.test('a copy needs no function or collation of another program, as VACUUM INTO does', async (t) => {
  const file = databaseFile(t)
  const program = new BetterSqlite3(file)
  program.function('twice', { deterministic: true }, (value) => 2 * Number(value))
  program.exec('CREATE TABLE numbers (n); INSERT INTO numbers VALUES (1)')
  program.exec('CREATE INDEX twice ON numbers (twice(n))')
  program.close()
  const db = await startEngine(t, file)
  const target = emptyFile(file)
  await db.backups.copy(target, ignore)
  const copy = openExternal(t, target)
  t.equal(copy.prepare('SELECT n FROM numbers').pluck().get(), 1)
  t.throws(() => copy.prepare('VACUUM INTO ?').run(join(dirname(file), 'vacuum.db')), { message: /no such function/ })
})

t.test('a close stops a copy, and later copies are refused', async (t) => {
  const { db, file, target } = await start(t, PAIRS)
  const copied = rejection(
    db.backups.copy(target, () => {
      db.close()
    })
  )
  t.match(await copied, { code: 'OVERLOADED', message: /stopping/ })
  t.match(await rejection(db.backups.copy(emptyFile(file), ignore)), { code: 'OVERLOADED' })
})

t.test('a copy of a damaged file is refused', async (t) => {
  const { file, db, target } = await start(t, 'CREATE TABLE t (a); INSERT INTO t VALUES (randomblob(10000))')
  overwrite(file, 4096, Buffer.alloc(4096, 0xff))
  const error = await rejection(db.backups.copy(target, ignore))
  t.match(error, { message: /^The copy is damaged, and probably the served file, too/ })
})

t.test('a record that violates a CHECK is copied', async (t) => {
  const violation = 'PRAGMA ignore_check_constraints = ON; INSERT INTO t VALUES (-1)'
  const { db, target } = await start(t, `CREATE TABLE t (a CHECK (a > 0)); ${violation}`)
  await db.backups.copy(target, ignore)
  t.strictSame(openExternal(t, target).prepare('SELECT a FROM t').pluck().all(), [-1])
})

const makeCopy = async (t: Test, schema = '') => {
  const { db, target } = await start(t, schema)
  await db.backups.copy(target, ignore)
  return { db, target }
}

t.test('an intact copy is accepted, with its WAL mark removed', async (t) => {
  const { db, target } = await makeCopy(t)
  prepareFile(target, 'PRAGMA journal_mode = WAL')
  await db.backups.check(target)
  t.equal(openExternal(t, target).pragma('journal_mode', { simple: true }), 'delete')
  t.notOk(existsSync(`${target}-wal`))
})

const refused = async (t: Test, change: (target: string) => void, message: RegExp) => {
  const { db, target } = await makeCopy(t, 'CREATE TABLE t (a); INSERT INTO t VALUES (randomblob(10000))')
  change(target)
  t.match(await rejection(db.backups.check(target)), { code: 'BACKUP_INVALID', message })
}

t.test('a file that is no database is refused', (t) =>
  refused(t, (file) => writeFileSync(file, 'not a database'), /^The file is not a SQLite database/)
)

t.test('a file with a wrong header is refused', (t) =>
  refused(
    t,
    (file) => writeFileSync(file, Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(4080)])),
    /damaged/
  )
)

t.test('a file with a damaged page is refused', (t) =>
  refused(t, (file) => overwrite(file, 4096, Buffer.alloc(4096, 0xff)), /^The file is damaged/)
)

t.test('a database of another program is refused', (t) =>
  refused(t, (file) => prepareFile(file, 'DROP TABLE _rowhouse_meta'), /has no table _rowhouse_meta/)
)

t.test('a view in the place of our table is not read', (t) =>
  refused(
    t,
    (file) =>
      prepareFile(
        file,
        `DROP TABLE _rowhouse_meta;
         CREATE VIEW _rowhouse_meta AS WITH RECURSIVE n(key) AS (SELECT 1 UNION ALL SELECT key FROM n) SELECT key, key AS value FROM n`
      ),
    /has no table _rowhouse_meta/
  )
)

t.test('a database of a newer Rowhouse is refused', (t) =>
  refused(
    t,
    (file) => prepareFile(file, "UPDATE _rowhouse_meta SET value = 1000 WHERE key = 'version'"),
    /newer Rowhouse: its tables have version 1000/
  )
)
