import {
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
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
import { LATEST_VERSION } from '../../../../services/engine/writer/migrations.ts'
import {
  assertLocalDisk,
  assertVersion,
  assertWritable,
  openWriter
} from '../../../../services/engine/writer/open-writer.ts'
import { databaseFile, openExternal, prepareFile } from '../engine.ts'

const open = (file: string, beforeWrite?: () => void) =>
  openWriter({ file, readonly: false, busyTimeout: 50, cacheSize: 8, walSize: 16 }, beforeWrite ? { beforeWrite } : {})

const damagePages = (file: string) => {
  const descriptor = openSync(file, 'r+')
  for (let page = 2; page < statSync(file).size / 4096; page += 1) {
    writeSync(descriptor, Buffer.alloc(200, 0xa5), 0, 200, page * 4096)
  }
  closeSync(descriptor)
}

const MANY_ROWS = `
  CREATE TABLE items (id INTEGER PRIMARY KEY, text TEXT);
  WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
  INSERT INTO items SELECT i, printf('%0100d', i) FROM n;
`

/** Creates a file as a kill leaves it: 2000 rows in the file, and one more in its WAL. */
const createUncleanFile = (t: Test) => {
  const file = databaseFile(t)
  const source = `${file}-open`
  prepareFile(source, `PRAGMA journal_mode = WAL; ${MANY_ROWS}`)
  openExternal(t, source).exec('INSERT INTO items VALUES (0, 0)')
  for (const end of ['', '-wal']) copyFileSync(`${source}${end}`, `${file}${end}`)
  return file
}

t.test('after a write and after a reopen, journal_mode is WAL and synchronous is FULL', async (t) => {
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

t.test('a database that cannot use a WAL is refused', async (t) => {
  t.throws(() => open(':memory:'), { message: /did not keep journal_mode=WAL .*\(they are memory and / })
})

t.test('an imported file keeps its tables, user_version and application_id', async (t) => {
  const file = databaseFile(t)
  prepareFile(
    file,
    'PRAGMA user_version = 7; PRAGMA application_id = 99; CREATE TABLE items (a); INSERT INTO items VALUES (1)'
  )
  const connection = open(file)
  t.equal(connection.value('PRAGMA user_version'), 7)
  t.equal(connection.value('PRAGMA application_id'), 99)
  t.equal(connection.value('SELECT a FROM items'), 1)
  connection.close()
})

t.test('migrations run once', async (t) => {
  const file = databaseFile(t)
  open(file).close()
  const connection = open(file)
  t.equal(connection.value("SELECT value FROM _rowhouse_meta WHERE key = 'version'"), LATEST_VERSION)
  connection.close()
})

t.test('a file of a newer Rowhouse is refused and not changed', async (t) => {
  const file = databaseFile(t)
  const connection = open(file)
  connection.run("INSERT OR REPLACE INTO _rowhouse_meta VALUES ('version', 99)", [])
  connection.close()
  t.throws(() => open(file), {
    message: /last used by a newer Rowhouse .*version 99.* Start Rowhouse 0\.1\.0 or later\.$/
  })
  const external = openExternal(t, file)
  t.equal(external.prepare("SELECT value FROM _rowhouse_meta WHERE key = 'version'").pluck().get(), 99)
})

t.test('a file that is not a SQLite database is refused and not changed', async (t) => {
  const file = databaseFile(t)
  writeFileSync(file, 'not a database, but as long as one'.repeat(20))
  const { size } = statSync(file)
  t.throws(() => open(file), {
    message: `${file} is damaged, or not a SQLite database (file is not a database). Restore it from a backup.`
  })
  t.equal(statSync(file).size, size)
})

t.test('a file that was not closed cleanly is checked', async (t) => {
  t.test('and refused if it is damaged', async (t) => {
    const file = databaseFile(t)
    prepareFile(file, MANY_ROWS)
    damagePages(file)
    writeFileSync(`${file}-wal`, '')
    t.throws(() => open(file), { message: /is damaged, or not a SQLite database \(.+\)\. Restore it from a backup\.$/ })
  })

  t.test('and refused by every start, unchanged, until an intact file replaces it', async (t) => {
    const file = createUncleanFile(t)
    const intact = readFileSync(file)
    const bytes = () => ['', '-wal'].map((end) => readFileSync(`${file}${end}`, 'hex'))
    damagePages(file)
    const before = bytes()
    for (const time of ['first', 'second', 'third']) {
      t.throws(() => open(file), { message: /is damaged/ }, time)
      t.strictSame(bytes(), before, time)
    }
    writeFileSync(file, intact)
    for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`)
    open(file).close()
  })

  t.test('and opened if only the content of a full-text index is damaged', async (t) => {
    const file = databaseFile(t)
    prepareFile(file, MANY_ROWS)
    const external = openExternal(t, file)
    external.exec('CREATE VIRTUAL TABLE words USING fts5 (text); INSERT INTO words SELECT text FROM items')
    external.unsafeMode().exec('DELETE FROM words_idx; DELETE FROM words_data WHERE id > 10')
    t.match(external.pragma('quick_check', { simple: true }), /fts5: corruption/)
    external.close()
    writeFileSync(`${file}-wal`, '')
    const connection = open(file)
    t.equal(connection.value('SELECT count(*) FROM items'), 2000)
    connection.close()
  })

  t.test('and opened if it is intact', async (t) => {
    const file = databaseFile(t)
    prepareFile(file, MANY_ROWS)
    writeFileSync(`${file}-wal`, '')
    const connection = open(file)
    t.equal(connection.value('SELECT count(*) FROM items'), 2000)
    connection.close()
  })

  t.test('and the content of its WAL is read', async (t) => {
    const file = databaseFile(t)
    prepareFile(file, 'PRAGMA journal_mode = WAL; CREATE TABLE items (a)')
    const crashed = openExternal(t, file)
    crashed.exec('INSERT INTO items VALUES (1)')
    t.ok(existsSync(`${file}-wal`))
    const connection = open(file)
    t.equal(connection.value('SELECT a FROM items'), 1)
    connection.close()
  })

  t.test('and the content of a WAL that a kill left is read', async (t) => {
    const connection = open(createUncleanFile(t))
    t.equal(connection.value('SELECT count(*) FROM items'), 2001)
    connection.close()
  })

  t.test('and opened after a hot rollback journal is rolled back', async (t) => {
    const file = databaseFile(t)
    const source = `${file}-open`
    prepareFile(source, MANY_ROWS)
    openExternal(t, source).exec('PRAGMA cache_size = 1; BEGIN; UPDATE items SET text = text || id')
    for (const end of ['', '-journal']) copyFileSync(`${source}${end}`, `${file}${end}`)
    writeFileSync(`${file}-wal`, '')
    const connection = open(file)
    t.equal(connection.value('SELECT max(length(text)) FROM items'), 100)
    connection.close()
  })

  t.test('and created if it does not exist', async (t) => {
    const file = databaseFile(t)
    writeFileSync(`${file}-wal`, '')
    open(file).close()
  })
})

t.test('a file that another program has locked is refused', async (t) => {
  const file = databaseFile(t)
  const external = openExternal(t, file)
  external.exec('CREATE TABLE items (a); BEGIN EXCLUSIVE')
  t.throws(() => open(file), { message: `Another program has locked ${file}. Stop it, then start again.` })
  external.exec('ROLLBACK')
  open(file).close()
  t.strictSame(
    readdirSync(dirname(file)).filter((name) => name.endsWith('-wal')),
    []
  )
})

t.test('a file of a newer Rowhouse without a WAL is not switched to WAL mode', async (t) => {
  const file = databaseFile(t)
  prepareFile(file, "CREATE TABLE _rowhouse_meta (key, value); INSERT INTO _rowhouse_meta VALUES ('version', 99)")
  const before = readFileSync(file, 'hex')
  t.throws(() => open(file, () => t.fail('no write is announced')), { message: /newer Rowhouse/ })
  t.equal(readFileSync(file, 'hex'), before)
  t.strictSame(readdirSync(dirname(file)), ['served.sqlite'])
})

t.test('a file of a newer Rowhouse that was not closed cleanly is refused, and its WAL stays', async (t) => {
  const file = databaseFile(t)
  const source = `${file}-open`
  open(source).close()
  openExternal(t, source).exec("UPDATE _rowhouse_meta SET value = 99 WHERE key = 'version'")
  for (const end of ['', '-wal']) copyFileSync(`${source}${end}`, `${file}${end}`)
  const bytes = () => ['', '-wal'].map((end) => readFileSync(`${file}${end}`, 'hex'))
  const before = bytes()
  t.throws(() => open(file, () => t.fail('no write is announced')), { message: /newer Rowhouse/ })
  t.strictSame(bytes(), before)
})

t.test('the first write is announced while a new file does not exist, and an old one is unchanged', async (t) => {
  const file = databaseFile(t)
  const seen: (string | null)[] = []
  const look = () => seen.push(existsSync(file) ? readFileSync(file, 'hex') : null)
  open(file, look).close()
  t.equal(seen[0], null)
  prepareFile(file, 'PRAGMA journal_mode = DELETE; CREATE TABLE notes (text TEXT)')
  const before = readFileSync(file, 'hex')
  seen.length = 0
  open(file, look).close()
  t.strictSame(seen, [before])
})

t.test('a directory is refused', async (t) => {
  const directory = t.testdir({ shop: {} })
  t.throws(() => open(`${directory}/shop`), { message: `${directory}/shop is not a file. Name a SQLite database.` })
})

t.test('a file with a second hard link is refused until the link is removed', async (t) => {
  const file = databaseFile(t)
  prepareFile(file, 'CREATE TABLE items (a)')
  linkSync(file, `${file}.link`)
  t.throws(() => assertWritable(file), {
    message: /has 2 names \(hard links\)\..*Serve a copy, or remove the other names/
  })
  rmSync(`${file}.link`)
  t.doesNotThrow(() => assertWritable(file))
})

t.test('a path that cannot be written is named', async (t) => {
  const directory = `${t.testdir()}/missing`
  t.throws(() => assertWritable(`${directory}/shop.sqlite`), {
    message: `This user cannot write to ${directory} (ENOENT). SQLite keeps the write-ahead log of ${directory}/shop.sqlite there. Give it the permission.`
  })
})

t.test('other errors of SQLite name the file', async (t) => {
  const file = databaseFile(t)
  prepareFile(file, 'CREATE TABLE _rowhouse_meta (wrong)')
  t.throws(() => open(file), { message: `${file} cannot be opened: no such column: value (SQLITE_ERROR).` })
})

t.test('SQLite 3.53 and newer is accepted', async (t) => {
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

t.test('a local disk is accepted, and a network file system is refused by name', async (t) => {
  t.doesNotThrow(() => assertLocalDisk('/data/a.db', 0xef53))
  t.throws(() => assertLocalDisk('/data/a.db', 0x6969), {
    message: /^\/data\/a\.db is on a network file system \(NFS\)/
  })
  t.throws(() => assertLocalDisk('/data/a.db', 0xff534d42), { message: /\(CIFS\)/ })
})
