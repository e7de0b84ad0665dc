import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync
} from 'node:fs'
import { dirname } from 'node:path'
import t, { type Test } from 'tap'
import { assertLocalDisk, assertVersion, openWriter } from '../../../../services/engine/writer/boot.ts'
import { databaseFile, openExternal, prepareFile } from '../engine.ts'

const open = (file: string) => openWriter({ file, readonly: false, busyTimeout: 50, cacheSize: 8, walSize: 16 })

const damagePages = (file: string) => {
  const descriptor = openSync(file, 'r+')
  for (let page = 2; page < statSync(file).size / 4096; page += 1) {
    writeSync(descriptor, Buffer.alloc(200, 0xa5), 0, 200, page * 4096)
  }
  closeSync(descriptor)
}

const MANY_ROWS = `
  CREATE TABLE theirs (id INTEGER PRIMARY KEY, text TEXT);
  WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
  INSERT INTO theirs SELECT i, printf('%0100d', i) FROM n;
`

/** The copy that a kill would leave of what a program has open: its rows in the file, and one more in its WAL. */
const abandoned = (t: Test) => {
  const file = databaseFile(t)
  const open = `${file}-open`
  prepareFile(open, `PRAGMA journal_mode = WAL; ${MANY_ROWS}`)
  openExternal(t, open).exec('INSERT INTO theirs VALUES (0, 0)')
  for (const end of ['', '-wal']) copyFileSync(`${open}${end}`, `${file}${end}`)
  return file
}

t.test('after a write, and after every reopening, the journal is a WAL and each commit reaches the disk', async (t) => {
  const file = databaseFile(t)
  for (const time of ['first', 'second']) {
    const connection = open(file)
    connection.run("INSERT OR REPLACE INTO _rowhouse_meta VALUES ('probe', 1)", [])
    t.equal(connection.value('PRAGMA journal_mode'), 'wal', time)
    t.equal(connection.value('PRAGMA synchronous'), 2, time)
    t.equal(connection.value('PRAGMA foreign_keys'), 1, time)
    t.equal(connection.value('PRAGMA trusted_schema'), 0, time)
    connection.close()
  }
})

t.test('a file that cannot be a WAL is refused', async (t) => {
  t.throws(() => open(':memory:'), { message: /did not keep journal_mode=WAL .*\(it says memory, / })
})

t.test('an adopted file keeps its tables, user_version and application_id', async (t) => {
  const file = databaseFile(t)
  prepareFile(
    file,
    'PRAGMA user_version = 7; PRAGMA application_id = 99; CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)'
  )
  const connection = open(file)
  t.equal(connection.value('PRAGMA user_version'), 7)
  t.equal(connection.value('PRAGMA application_id'), 99)
  t.equal(connection.value('SELECT a FROM theirs'), 1)
  connection.close()
})

t.test('migrations run once', async (t) => {
  const file = databaseFile(t)
  open(file).close()
  const connection = open(file)
  t.equal(connection.value("SELECT value FROM _rowhouse_meta WHERE key = 'version'"), 2)
  connection.close()
})

t.test('a file of a newer Rowhouse is refused, and left as it is', async (t) => {
  const file = databaseFile(t)
  const connection = open(file)
  connection.run("INSERT OR REPLACE INTO _rowhouse_meta VALUES ('version', 9)", [])
  connection.close()
  t.throws(() => open(file), { message: /last used by a newer Rowhouse .*version 9.* Start the newer one\.$/ })
  const foreign = openExternal(t, file)
  t.equal(foreign.prepare("SELECT value FROM _rowhouse_meta WHERE key = 'version'").pluck().get(), 9)
})

t.test('what is no SQLite database is refused, and left as it is', async (t) => {
  const file = databaseFile(t)
  writeFileSync(file, 'not a database at all, but long enough to be taken for one'.repeat(20))
  const { size } = statSync(file)
  t.throws(() => open(file), {
    message: `${file} is damaged, or not a SQLite database (file is not a database). Restore it from a backup.`
  })
  t.equal(statSync(file).size, size)
})

t.test('a file that was not closed cleanly is checked', async (t) => {
  t.test('and refused where it is damaged', async (t) => {
    const file = databaseFile(t)
    prepareFile(file, MANY_ROWS)
    damagePages(file)
    writeFileSync(`${file}-wal`, '')
    t.throws(() => open(file), { message: /is damaged, or not a SQLite database \(.+\)\. Restore it from a backup\.$/ })
  })

  t.test('and refused by every start, unchanged, until a whole one is put in its place', async (t) => {
    const file = abandoned(t)
    const whole = readFileSync(file)
    const bytes = () => ['', '-wal'].map((end) => readFileSync(`${file}${end}`, 'hex'))
    damagePages(file)
    const before = bytes()
    for (const time of ['first', 'second', 'third']) {
      t.throws(() => open(file), { message: /is damaged/ }, time)
      t.strictSame(bytes(), before, time)
    }
    writeFileSync(file, whole)
    for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`)
    open(file).close()
  })

  t.test('and served where it is whole', async (t) => {
    const file = databaseFile(t)
    prepareFile(file, MANY_ROWS)
    writeFileSync(`${file}-wal`, '')
    const connection = open(file)
    t.equal(connection.value('SELECT count(*) FROM theirs'), 2000)
    connection.close()
  })

  t.test('and what its WAL holds is there again', async (t) => {
    const file = databaseFile(t)
    prepareFile(file, 'PRAGMA journal_mode = WAL; CREATE TABLE theirs (a)')
    const crashed = openExternal(t, file)
    crashed.exec('INSERT INTO theirs VALUES (1)')
    t.ok(existsSync(`${file}-wal`))
    const connection = open(file)
    t.equal(connection.value('SELECT a FROM theirs'), 1)
    connection.close()
  })

  t.test('and what a kill left in its WAL, too', async (t) => {
    const connection = open(abandoned(t))
    t.equal(connection.value('SELECT count(*) FROM theirs'), 2001)
    connection.close()
  })

  t.test('and once a change that was under way in another journal mode is taken back', async (t) => {
    const file = databaseFile(t)
    const theirs = `${file}-open`
    prepareFile(theirs, MANY_ROWS)
    openExternal(t, theirs).exec('PRAGMA cache_size = 1; BEGIN; UPDATE theirs SET text = text || id')
    for (const end of ['', '-journal']) copyFileSync(`${theirs}${end}`, `${file}${end}`)
    writeFileSync(`${file}-wal`, '')
    const connection = open(file)
    t.equal(connection.value('SELECT max(length(text)) FROM theirs'), 100)
    connection.close()
  })

  t.test('and where it is gone, made anew', async (t) => {
    const file = databaseFile(t)
    writeFileSync(`${file}-wal`, '')
    open(file).close()
  })
})

t.test('a file that another program holds is refused', async (t) => {
  const file = databaseFile(t)
  const foreign = openExternal(t, file)
  foreign.exec('CREATE TABLE theirs (a); BEGIN EXCLUSIVE')
  t.throws(() => open(file), { message: `Another program holds ${file}. Stop it, then start again.` })
  foreign.exec('ROLLBACK')
  open(file).close()
  t.strictSame(
    readdirSync(dirname(file)).filter((name) => name.endsWith('-wal')),
    []
  )
})

t.test('other failures are passed on as they are', async (t) => {
  const file = databaseFile(t)
  prepareFile(file, 'CREATE TABLE _rowhouse_meta (wrong)')
  t.throws(() => open(file), { message: /no such column/ })
})

t.test('SQLite from 3.53 on is accepted', async (t) => {
  for (const version of ['3.53.0', '3.53.2', '3.100.0', '4.0.0', '4'])
    t.doesNotThrow(() => assertVersion(version), version)
  for (const version of ['3.52.9', '3.51.3', '2.99.99', '3']) {
    t.throws(
      () => assertVersion(version),
      { message: /rounds numbers in JSON.* may lose committed data.* 3\.53 or newer/ },
      version
    )
  }
})

t.test('local disks are accepted, network file systems refused by name', async (t) => {
  t.doesNotThrow(() => assertLocalDisk('/data/a.db', 0xef53))
  t.throws(() => assertLocalDisk('/data/a.db', 0x6969), {
    message: /^\/data\/a\.db is on a network file system \(NFS\)/
  })
  t.throws(() => assertLocalDisk('/data/a.db', 0xff534d42), { message: /\(CIFS\)/ })
})
