import { existsSync, mkdirSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import { UnexpectedChanges } from '../../../../services/engine/database.ts'
import { openDatabase } from '../../../../services/engine/loop/open.ts'
import { startWriter } from '../../../../services/engine/loop/writer-client.ts'
import { databaseFile, openExternal, prepareFile, rejection, sql, startEngine } from '../engine.ts'

const THEIRS = `
  CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE);
  CREATE TABLE numbers (id INTEGER PRIMARY KEY);
  WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO numbers SELECT i FROM n;
`

const note = (text: string) => sql('INSERT INTO notes (text) VALUES (?)', text)
const COUNT = sql('SELECT count(*) AS n FROM notes')

/** Runs until it is stopped, asking now and then whether to go on. */
const ENDLESS = sql(
  'WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS n FROM n WHERE (i % 1021) <> 0 OR alive()'
)

t.test('an engine on the database of another program', async (t) => {
  const file = databaseFile(t)
  prepareFile(file, THEIRS)
  const deaths: Error[] = []
  const db = await startEngine(t, file, { onDeath: (cause) => deaths.push(cause) })
  const foreign = openExternal(t, file)

  t.test('a write that is acknowledged is seen by every later read, ours and others', async (t) => {
    t.strictSame(await db.write([note('first')]), [{ changes: 1, rows: [] }])
    t.strictSame(await db.read(COUNT), [{ n: 1 }])
    t.equal(await db.readText(sql("SELECT text FROM notes WHERE text = 'first'")), 'first')
    t.strictSame(await db.scan(COUNT), [{ n: 1 }])
    t.strictSame(foreign.prepare(COUNT.sql).all(), [{ n: 1 }])
  })

  t.test('a plan is that of the schema as it was last read, however often it was asked for before', async (t) => {
    const byLength = sql('SELECT id FROM notes ORDER BY length(text) LIMIT ?', 1n)
    t.match(await db.plan(byLength), ['SCAN notes', 'USE TEMP B-TREE FOR ORDER BY'])
    foreign.exec('CREATE INDEX by_length ON notes (length(text))')
    await db.read(COUNT)
    t.strictSame(await db.plan(byLength), ['SCAN notes USING COVERING INDEX by_length'])
    foreign.exec('DROP INDEX by_length')
    t.match(await rejection(db.plan(sql('SELECT 1 FROM nowhere'))), { code: 'STRUCTURE_CHANGED' })
  })

  t.test('exact values cross to the writer and back', async (t) => {
    const [result] = await db.write([
      sql(
        'SELECT typeof(?) AS i, CAST(? AS TEXT) AS wide, ? AS bytes, ? AS none',
        1n,
        2n ** 63n - 1n,
        new Uint8Array([0, 255]),
        null
      )
    ])
    t.strictSame(
      result?.rows.map((row) => ({ ...row, bytes: [...(row.bytes as Uint8Array)] })),
      [{ i: 'integer', wide: '9223372036854775807', bytes: [0, 255], none: null }]
    )
  })

  t.test('units that are written together each get their own result', async (t) => {
    const units = Array.from({ length: 100 }, (_, index) =>
      db.write([note(index === 50 ? 'first' : `together ${index}`)])
    )
    const settled = await Promise.allSettled(units)
    t.strictSame(settled.map(({ status }) => status === 'fulfilled').indexOf(false), 50)
    t.equal(settled.filter(({ status }) => status === 'rejected').length, 1)
    t.match(settled[50], { reason: { code: 'UNIQUE_VIOLATION', details: [{ path: '/notes.text' }] } })
    t.strictSame(await db.read(sql("SELECT count(*) AS n FROM notes WHERE text LIKE 'together %'")), [{ n: 99 }])
  })

  t.test('a write that fails carries the position of its statement', async (t) => {
    const violation = await rejection(db.write([note('second'), note('first')]))
    t.match(violation, { code: 'UNIQUE_VIOLATION', statement: 1 })
    const defect = await rejection(db.write([note('second'), note('third'), sql('SELEC')]))
    t.match(defect, { code: 'SQLITE_ERROR', message: /syntax error/, statement: 2 })
    t.equal((await rejection(db.read(sql('SELECT * FROM gone')))).statement, undefined)
  })

  t.test('a missed expectation rejects with UnexpectedChanges', async (t) => {
    const error = await rejection(db.write([{ ...sql('DELETE FROM notes WHERE id = 0'), expect: 1 }]))
    t.type(error, UnexpectedChanges)
  })

  t.test('commits of another program are told to the listeners, also while nothing is written', async (t) => {
    const seen: string[] = []
    const told = new Promise<void>((resolve) => {
      db.onExternalCommit(() => {
        seen.push('told')
        resolve()
      })
    })
    foreign.exec("INSERT INTO notes (text) VALUES ('theirs')")
    await told
    foreign.exec("INSERT INTO notes (text) VALUES ('theirs too')")
    await db.write([note('ours')])
    t.ok(seen.length >= 2, 'the batch that follows a foreign commit tells of it before it is acknowledged')
  })

  t.test('an exclusive lock of another program lets reads go on and refuses writes after 2 s', async (t) => {
    foreign.exec('BEGIN EXCLUSIVE')
    const began = Date.now()
    const writing = rejection(db.write([note('locked out')]))
    await db.read(COUNT)
    t.ok(Date.now() - began < 1500, 'a read does not wait for the lock')
    t.match(await writing, { code: 'DATABASE_BUSY', retryAfter: 1 })
    foreign.exec('ROLLBACK')
    t.strictSame(await db.write([note('let in again')]), [{ changes: 1, rows: [] }])
  })

  t.test('more waiting writes than can be taken are refused, and those that were taken are served', async (t) => {
    const writes = Array.from({ length: 4200 }, () => db.write([sql('UPDATE notes SET text = text WHERE id = 1')]))
    const settled = await Promise.allSettled(writes)
    const refused = settled.filter(({ status }) => status === 'rejected')
    t.equal(refused.length, 4200 - 4096)
    t.match(refused[0], { reason: { code: 'OVERLOADED', retryAfter: 1 } })
  })

  t.test('nor are more bytes than can wait, while those that do are served, and others after them', async (t) => {
    const wide = () =>
      db.write([sql('SELECT length(?) + length(?) AS n', 'x'.repeat(2 ** 20), new Uint8Array(2 ** 20))])
    for (const time of ['first', 'second']) {
      const settled = await Promise.allSettled(Array.from({ length: 40 }, wide))
      t.equal(settled.filter(({ status }) => status === 'rejected').length, 40 - 32, time)
      t.match(settled[31], { value: [{ rows: [{ n: 2 ** 21 }] }] }, time)
      t.match(settled[32], { reason: { code: 'OVERLOADED', retryAfter: 1 } }, time)
    }
  })

  t.test('large results of writes are told turn by turn, and only once they are stored', async (t) => {
    foreign.exec('CREATE TABLE wide (id INTEGER PRIMARY KEY)')
    const stored = () => Number(foreign.prepare('SELECT count(*) FROM wide').pluck().get())
    let turn = 0
    let turning = setImmediate(function next() {
      turn += 1
      turning = setImmediate(next)
    })
    const perTurn = new Map<number, number>()
    const told: number[] = []
    const writes = Array.from({ length: 16 }, async (_, index) => {
      const wide = sql("SELECT printf('%.*c', 1000000, 'x') AS wide")
      const [inserted] = await db.write([sql('INSERT INTO wide VALUES (?) RETURNING id', BigInt(index)), wide])
      perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1)
      told.push(Number(inserted?.rows[0]?.id))
    })
    // All of them are committed before this turn ends.
    while (stored() < writes.length);
    await Promise.all(writes)
    clearImmediate(turning)
    t.strictSame(
      told,
      writes.map((_, index) => index)
    )
    t.ok(Math.max(...perTurn.values()) <= 4, String([...perTurn.values()]))
  })

  t.test('a scan that SQLite refuses is refused as a read would be', async (t) => {
    t.match(await rejection(db.scan(sql('SELECT * FROM gone'))), { code: 'STRUCTURE_CHANGED' })
  })

  t.test('more waiting scans than can be taken are refused', async (t) => {
    const scans = Array.from({ length: 400 }, () => db.scan(sql('SELECT count(*) AS n FROM numbers')))
    const settled = await Promise.allSettled(scans)
    const refused = settled.filter(({ status }) => status === 'rejected')
    t.ok(refused.length > 0 && refused.length <= 400 - 256, `${refused.length} of 400 were refused`)
    t.match(refused[0], { reason: { code: 'OVERLOADED', retryAfter: 5 } })
  })

  /** Callers whose turn has come, in order. */
  const turns: number[] = []
  const callerOf = (id: number, confirm = async () => {}) => ({
    kind: 'token' as const,
    id,
    confirm: () => {
      turns.push(id)
      return confirm()
    }
  })

  /** Keeps every thread until it is called. */
  const occupyReaders = async () => {
    // Threads are given back in the turn after their answers.
    for (let turn = 0; turn < 3; turn += 1) await nextTurn()
    let release = () => {}
    const free = new Promise<void>((resolve) => {
      release = resolve
    })
    for (let thread = 0; thread < Math.max(2, availableParallelism()); thread += 1)
      db.scan(COUNT, { kind: 'token', id: 99, confirm: () => free }).catch(t.threw)
    turns.length = 0
    return release
  }

  t.test('those who wait for a thread take turns, and one who asks for much makes room for others', async (t) => {
    const release = await occupyReaders()
    const many = Array.from({ length: 256 }, () => db.scan(COUNT, callerOf(1)))
    const settled = Promise.allSettled(many)
    const refused = rejection(db.scan(COUNT, callerOf(1)))
    t.match(await refused, { code: 'OVERLOADED', retryAfter: 5 })
    const few = db.scan(COUNT, callerOf(2))
    t.match(await rejection(many[255] as Promise<unknown>), { code: 'OVERLOADED', retryAfter: 5 })
    release()
    t.match(await few, [{ n: /\d/ }])
    t.ok(turns.indexOf(2) <= availableParallelism() + 2, `it was turn ${turns.indexOf(2)}`)
    t.equal((await settled).filter(({ status }) => status === 'fulfilled').length, 255)
  })

  t.test('a caller is asked when its turn has come, and again before it has the rows', async (t) => {
    const MADE = sql('SELECT id AS made FROM numbers WHERE id = 1')
    t.strictSame(await db.scan(MADE, callerOf(1)), [{ made: 1 }])
    for (const asked of [1, 2]) {
      let times = 0
      const leaves = async () => {
        times += 1
        if (times === asked) throw new Error(`gone when asked for the ${asked}. time`)
      }
      const release = await occupyReaders()
      const scans = Array.from({ length: 5 }, () => db.scan(MADE, callerOf(1)))
      const left = db.scan(MADE, callerOf(2, leaves))
      release()
      t.match(await rejection(left), { message: `gone when asked for the ${asked}. time` })
      t.equal(times, asked)
      for (const rows of await Promise.all(scans)) t.strictSame(rows, [{ made: 1 }])
    }
  })

  t.test('what many scans give is taken turn by turn', async (t) => {
    let turn = 0
    let turning = setImmediate(function next() {
      turn += 1
      turning = setImmediate(next)
    })
    const perTurn = new Map<number, number>()
    const scans = Array.from({ length: 100 }, async () => {
      await db.scan(sql("SELECT printf('%.*c', 1000000, 'x') AS wide"))
      perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1)
    })
    await Promise.all(scans)
    clearImmediate(turning)
    t.ok(Math.max(...perTurn.values()) <= 2 * Math.max(2, availableParallelism()), String([...perTurn.values()]))
  })

  t.test('a held reader keeps its TEMP tables; two can be held, and a third once one is released', async (t) => {
    const [first, second] = [await db.holdReader(), await db.holdReader()]
    t.match(await rejection(db.holdReader()), { code: 'OVERLOADED', retryAfter: 5 })
    await first.scan(sql('CREATE TABLE temp.kept AS SELECT id FROM numbers'))
    t.strictSame(await first.scan(sql('SELECT count(*) AS n FROM temp.kept')), [{ n: 5000 }])
    t.match(await rejection(second.scan(sql('SELECT count(*) AS n FROM temp.kept'))), { code: 'STRUCTURE_CHANGED' })
    await first.release()
    const third = await db.holdReader()
    await Promise.all([second.release(), third.release()])
  })

  t.test('a held reader collects keys in the order of a statement', async (t) => {
    const reader = await db.holdReader()
    t.teardown(() => reader.release())
    const keys = sql('SELECT id, -id FROM numbers WHERE id <= ? ORDER BY id DESC', 3n)
    t.equal(await reader.collect(keys, 2), 3)
    t.strictSame(await reader.scan(sql(`SELECT * FROM ${reader.collected}`)), [
      { position: 1, k0: 3, k1: -3 },
      { position: 2, k0: 2, k1: -2 },
      { position: 3, k0: 1, k1: -1 }
    ])
  })

  t.test('a held reader that collects no keys reports none, and a statement that fails is refused', async (t) => {
    for (const [text, check] of [
      ['SELECT id FROM numbers WHERE id < 0', (count: Promise<number>) => t.resolveMatch(count, 0)],
      ['SELECT id FROM gone', (count: Promise<number>) => t.rejects(count, { code: 'STRUCTURE_CHANGED' })]
    ] as const) {
      const reader = await db.holdReader()
      await check(reader.collect(sql(text), 1))
      await reader.release()
    }
  })

  t.strictSame(deaths, [])
})

t.test('the WAL stays bounded while we write', async (t) => {
  const file = databaseFile(t)
  prepareFile(file, THEIRS)
  const db = await startEngine(t, file, { walSize: 1 })
  for (let round = 0; round < 30; round += 1)
    await db.write([sql('INSERT INTO notes (text) SELECT hex(randomblob(200000))')])
  const size = statSync(`${file}-wal`).size / 2 ** 20
  t.ok(size > 1 && size < 3, `${size} MiB after 12 MB, with a WAL_SIZE of 1`)
})

t.test('a file is served once, whatever path leads to it', async (t) => {
  const file = databaseFile(t)
  prepareFile(file, THEIRS)
  await startEngine(t, file)
  const link = join(dirname(file), 'link.sqlite')
  symlinkSync(file, link)
  for (const path of [file, link]) {
    t.match(await rejection(startEngine(t, path)), { message: /^Another Rowhouse serves .*\. Stop it first/ }, path)
  }
})

t.test('a file that is no longer served can be served again, and its WAL is folded in', async (t) => {
  const file = databaseFile(t)
  for (const text of ['first', 'second']) {
    const db = await openDatabase({ file, cacheSize: 1, walSize: 16, isQuiet: () => true, onDeath: () => t.fail() })
    await db.write([sql('CREATE TABLE IF NOT EXISTS notes (text TEXT)'), note(text)])
    await db.scan(COUNT)
    await db.close()
    t.notOk(existsSync(`${file}-wal`), 'closed cleanly')
  }
  t.strictSame(openExternal(t, file).prepare('SELECT text FROM notes').pluck().all(), ['first', 'second'])
})

t.test('a file that cannot be trusted is refused with the reason, and its lock given back', async (t) => {
  const file = databaseFile(t)
  writeFileSync(file, 'no database'.repeat(1000))
  for (const time of ['first', 'second']) {
    t.match(await rejection(startEngine(t, file)), { message: /is damaged, or not a SQLite database/ }, time)
  }
})

t.test('a directory that takes no lock is refused with the reason', async (t) => {
  const file = databaseFile(t)
  mkdirSync(`${file}-rowhouse-lock`)
  t.match(await rejection(startEngine(t, file)), { message: /^The directory of .* does not take files \(.*\)/ })
})

t.test('closing stops what scans, and refuses what is asked afterwards', async (t) => {
  const file = databaseFile(t)
  prepareFile(file, THEIRS)
  const db = await openDatabase({ file, cacheSize: 1, walSize: 16, isQuiet: () => false, onDeath: () => t.fail() })
  const held = await db.holdReader()
  await held.scan(COUNT)
  await db.scan(COUNT)
  const endless = [...Array.from({ length: 6 }, () => db.scan(ENDLESS)), held.scan(ENDLESS)].map(rejection)
  const last = db.write([note('last')])
  await db.close()
  t.strictSame(await last, [{ changes: 1, rows: [] }], 'what was taken is written')
  for (const refusal of await Promise.all(endless)) t.match(refusal, { code: 'OVERLOADED' })
  const late = [() => db.write([note('late')]), () => db.read(COUNT), () => db.readText(COUNT), () => db.scan(COUNT)]
  for (const ask of late) t.match(await rejection(ask()), { code: 'OVERLOADED' })
  t.strictSame(openExternal(t, file).prepare('SELECT text FROM notes').pluck().all(), ['last'])
})

t.test('closing refuses what a thread that is starting was to do', async (t) => {
  const db = await startEngine(t, databaseFile(t))
  await db.scan(sql('SELECT 1'))
  const scans = Array.from({ length: 4 }, () => rejection(db.scan(ENDLESS)))
  await nextTurn()
  await db.close()
  for (const refusal of await Promise.all(scans)) t.match(refusal, { code: 'OVERLOADED' })
})

t.test('the writer thread', async (t) => {
  const options = (file: string) => ({ file, readonly: false, busyTimeout: 50, cacheSize: 1, walSize: 16 })

  /** The thread of a writer that starts now, to be told what no writer is told. */
  const nextThread = () => new Promise<Worker>((resolve) => process.once('worker', resolve))

  t.test('a thread that ends unasked fails what waits and reports its death', async (t) => {
    const file = databaseFile(t)
    const deaths: Error[] = []
    const thread = nextThread()
    const writer = await startWriter(options(file), {
      onExternalCommit: () => {},
      onDeath: (cause) => deaths.push(cause)
    })
    const ending = await thread
    const late = new Promise((resolve) =>
      ending.prependOnceListener('exit', () => resolve(rejection(writer.write([]))))
    )
    ending.postMessage('no parcel')
    const lost = [rejection(writer.write([])), rejection(writer.write([]))]
    t.match(await late, { code: 'OVERLOADED' }, 'what the thread never had may be sent again')
    for (const refusal of await Promise.all(lost)) t.match(refusal, { code: 'OUTCOME_UNKNOWN', retryAfter: undefined })
    t.match(deaths, [{ cause: { name: 'TypeError' } }])
    t.match(await rejection(writer.write([])), { code: 'OVERLOADED' })
    await writer.close()
    t.equal(deaths.length, 1, 'closing what is dead ends at once')
  })

  t.test('a thread that ends while it closes is closed', async (t) => {
    const thread = nextThread()
    const writer = await startWriter(options(databaseFile(t)), { onExternalCommit: () => {}, onDeath: () => t.fail() })
    const ending = await thread
    ending.postMessage('no parcel')
    const lost = rejection(writer.write([]))
    await writer.close()
    t.match(await lost, { code: 'OUTCOME_UNKNOWN' })
  })

  t.test('closing twice is closing once', async (t) => {
    const writer = await startWriter(options(databaseFile(t)), { onExternalCommit: () => {}, onDeath: () => t.fail() })
    await Promise.all([writer.close(), writer.close()])
    t.match(await rejection(writer.write([])), { code: 'OVERLOADED' })
  })
})

t.test('a reader that cannot open the file refuses what it is asked, and serves once it can', async (t) => {
  const file = databaseFile(t)
  const db = await startEngine(t, file)
  const held = await db.holdReader()
  renameSync(file, `${file}-moved`)
  t.match(await rejection(held.scan(sql('SELECT 1 AS n'))), { code: 'STORAGE_UNAVAILABLE', retryAfter: 5 })
  renameSync(`${file}-moved`, file)
  t.strictSame(await held.scan(sql('SELECT 1 AS n')), [{ n: 1 }])
  await held.release()
})

t.test('what no thread can be told is a fault of ours', async (t) => {
  const db = await startEngine(t, databaseFile(t))
  t.match(await rejection(db.scan(sql('SELECT ?', (() => 1) as never))), { message: /could not be cloned/ })
})
