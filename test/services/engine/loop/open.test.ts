import { existsSync, mkdirSync, renameSync, rmdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate as nextTick, setTimeout as wait } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import { UnexpectedChanges } from '../../../../services/engine/database.ts'
import { READER_THREADS } from '../../../../services/engine/loop/reader-pool.ts'
import { startWriter } from '../../../../services/engine/loop/writer-client.ts'
import { createUnreadText } from '../../../../services/engine/shared/unread-text.ts'
import { serviceCaller } from '../../../../services/model/caller.ts'
import type { RowSource } from '../../../../services/sql/statement.ts'
import { databaseFile, openExternal, prepareFile, rejection, sql, startEngine } from '../engine.ts'
import '../../../plain-threads.ts'

const SCHEMA = `
  CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE);
  CREATE TABLE numbers (id INTEGER PRIMARY KEY);
  WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO numbers SELECT i FROM n;
`

const note = (text: string) => sql('INSERT INTO notes (text) VALUES (?)', text)
/** A SELECT that returns one row. */
const check = (...statement: Parameters<typeof sql>) => ({ ...sql(...statement), expect: 1 })
const COUNT = sql('SELECT count(*) AS n FROM notes')

/** Runs until it is stopped; calls the guard every 1,021 rows. */
const ENDLESS = sql(
  'WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS n FROM n WHERE (i % 1021) <> 0 OR alive()'
)

t.test('the engine on a file of another program', async (t) => {
  const file = databaseFile(t)
  prepareFile(file, SCHEMA)
  const deaths: Error[] = []
  const db = await startEngine(t, file, { onDeath: (cause) => deaths.push(cause) })
  const external = openExternal(t, file)

  t.test('an acknowledged write is visible to every later read and to other programs', async (t) => {
    t.strictSame(await db.write([note('first')]), [{ changes: 1, rows: [] }])
    t.strictSame(await db.read(COUNT), [{ n: 1 }])
    t.equal(await db.readText(sql("SELECT text FROM notes WHERE text = 'first'")), 'first')
    t.strictSame(await db.scan(COUNT, serviceCaller), [{ n: 1 }])
    t.strictSame(external.prepare(COUNT.sql).all(), [{ n: 1 }])
  })

  t.test('a plan is updated after schema changes, also if the statement was explained before', async (t) => {
    const byLength = sql('SELECT id FROM notes ORDER BY length(text) LIMIT ?', 1n)
    t.match(await db.plan(byLength), ['SCAN notes', 'USE TEMP B-TREE FOR ORDER BY'])
    external.exec('CREATE INDEX by_length ON notes (length(text))')
    await db.read(COUNT)
    t.strictSame(await db.plan(byLength), ['SCAN notes USING COVERING INDEX by_length'])
    external.exec('DROP INDEX by_length')
    t.match(await rejection(db.plan(sql('SELECT 1 FROM nowhere'))), { code: 'STRUCTURE_CHANGED' })
  })

  t.test('values stay exact on the way to the writer and back', async (t) => {
    const [result] = await db.write([
      check(
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

  t.test('each unit of a batch gets its own result', async (t) => {
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

  t.test('a statement that misses its `expect` rejects with UnexpectedChanges', async (t) => {
    const error = await rejection(db.write([{ ...sql('DELETE FROM notes WHERE id = 0'), expect: 1 }]))
    t.type(error, UnexpectedChanges)
  })

  t.test('listeners are called for an external commit, also without any write', async (t) => {
    const calls: string[] = []
    const called = new Promise<void>((resolve) => {
      db.onExternalCommit(() => {
        calls.push('call')
        resolve()
      })
    })
    external.exec("INSERT INTO notes (text) VALUES ('external')")
    await called
    external.exec("INSERT INTO notes (text) VALUES ('external again')")
    await db.write([note('own')])
    t.ok(calls.length >= 2, 'listeners are called before the next batch is acknowledged')
  })

  t.test('under an exclusive lock of another program reads succeed, and writes fail after 2 s', async (t) => {
    external.exec('BEGIN EXCLUSIVE')
    const start = Date.now()
    const writing = rejection(db.write([note('locked out')]))
    await db.read(COUNT)
    t.ok(Date.now() - start < 1500, 'a read does not wait for the lock')
    t.match(await writing, { code: 'DATABASE_BUSY', retryAfter: 1 })
    external.exec('ROLLBACK')
    t.strictSame(await db.write([note('unlocked')]), [{ changes: 1, rows: [] }])
  })

  t.test('writes beyond the limit of pending units are refused, and the others succeed', async (t) => {
    const writes = Array.from({ length: 4200 }, () => db.write([sql('UPDATE notes SET text = text WHERE id = 1')]))
    const settled = await Promise.allSettled(writes)
    const refused = settled.filter(({ status }) => status === 'rejected')
    t.equal(refused.length, 4200 - 4096)
    t.match(refused[0], { reason: { code: 'OVERLOADED', retryAfter: 1 } })
  })

  t.test('writes beyond the limit of pending bytes are refused, and the others and later ones succeed', async (t) => {
    const wide = () =>
      db.write([check('SELECT length(?) + length(?) AS n', 'x'.repeat(2 ** 20), new Uint8Array(2 ** 20))])
    for (const time of ['first', 'second']) {
      const settled = await Promise.allSettled(Array.from({ length: 40 }, wide))
      t.equal(settled.filter(({ status }) => status === 'rejected').length, 40 - 32, time)
      t.match(settled[31], { value: [{ rows: [{ n: 2 ** 21 }] }] }, time)
      t.match(settled[32], { reason: { code: 'OVERLOADED', retryAfter: 1 } }, time)
    }
  })

  t.test('large results of writes arrive in several ticks, in the order of the writes', async (t) => {
    external.exec('CREATE TABLE wide (id INTEGER PRIMARY KEY)')
    const stored = () => Number(external.prepare('SELECT count(*) FROM wide').pluck().get())
    let tick = 0
    let immediate = setImmediate(function next() {
      tick += 1
      immediate = setImmediate(next)
    })
    const perTick = new Map<number, number>()
    const settled: number[] = []
    const writes = Array.from({ length: 16 }, async (_, index) => {
      const wide = check("SELECT printf('%.*c', 1000000, 'x') AS wide")
      const [inserted] = await db.write([sql('INSERT INTO wide VALUES (?) RETURNING id', BigInt(index)), wide])
      perTick.set(tick, (perTick.get(tick) ?? 0) + 1)
      settled.push(Number(inserted?.rows[0]?.id))
    })
    // Block this tick until all are committed.
    while (stored() < writes.length);
    await Promise.all(writes)
    clearImmediate(immediate)
    t.strictSame(
      settled,
      writes.map((_, index) => index)
    )
    t.ok(Math.max(...perTick.values()) <= 4, String([...perTick.values()]))
  })

  t.test('a scan that fails is rejected as a read would be', async (t) => {
    t.match(await rejection(db.scan(sql('SELECT * FROM gone'), serviceCaller)), { code: 'STRUCTURE_CHANGED' })
  })

  t.test('scans beyond the limit of the queue are refused', async (t) => {
    const scans = Array.from({ length: 400 }, () => db.scan(sql('SELECT count(*) AS n FROM numbers'), serviceCaller))
    const settled = await Promise.allSettled(scans)
    const refused = settled.filter(({ status }) => status === 'rejected')
    t.ok(refused.length > 0 && refused.length <= 400 - 256, `${refused.length} of 400 were refused`)
    t.match(refused[0], { reason: { code: 'OVERLOADED', retryAfter: 5 } })
  })

  /** Ids of the callers that were confirmed, in order. */
  const confirmed: number[] = []
  const callerOf = (id: number, confirm = async () => {}) => ({
    kind: 'token' as const,
    id,
    name: '',
    confirm: () => {
      confirmed.push(id)
      return confirm()
    }
  })

  /** Occupies every thread until the returned function is called. */
  const occupyReaders = async () => {
    // A thread becomes idle in the tick after its result.
    for (let tick = 0; tick < 3; tick += 1) await nextTick()
    let release = () => {}
    const free = new Promise<void>((resolve) => {
      release = resolve
    })
    for (let thread = 0; thread < READER_THREADS; thread += 1)
      db.scan(COUNT, { kind: 'token', id: 100 + thread, name: '', confirm: () => free }).catch(t.threw)
    confirmed.length = 0
    return release
  }

  t.test(
    'callers wait for a thread in fair queue order, and a caller with many scans makes room for others',
    async (t) => {
      const release = await occupyReaders()
      const many = Array.from({ length: 256 }, () => db.scan(COUNT, callerOf(1)))
      const settled = Promise.allSettled(many)
      const refused = rejection(db.scan(COUNT, callerOf(1)))
      t.match(await refused, { code: 'OVERLOADED', retryAfter: 5 })
      const few = db.scan(COUNT, callerOf(2))
      t.match(await rejection(many[255] as Promise<unknown>), { code: 'OVERLOADED', retryAfter: 5 })
      release()
      t.match(await few, [{ n: /\d/ }])
      t.ok(confirmed.indexOf(2) <= READER_THREADS + 1, `it was number ${confirmed.indexOf(2)}`)
      t.equal((await settled).filter(({ status }) => status === 'fulfilled').length, 255)
    }
  )

  t.test('one caller cannot use all threads', async (t) => {
    // A thread becomes idle in the tick after its result.
    for (let tick = 0; tick < 3; tick += 1) await nextTick()
    confirmed.length = 0
    let release = () => {}
    const free = new Promise<void>((resolve) => {
      release = resolve
    })
    const many = Array.from({ length: READER_THREADS + 1 }, () =>
      db.scan(
        COUNT,
        callerOf(1, () => free)
      )
    )
    t.match(await db.scan(COUNT, callerOf(2)), [{ n: /\d/ }])
    t.equal(confirmed.filter((id) => id === 1).length, READER_THREADS - 1)
    release()
    t.equal((await Promise.all(many)).length, READER_THREADS + 1)
  })

  t.test('a caller is confirmed before its scan, and again before it gets the rows', async (t) => {
    const ONE_ROW = sql('SELECT id AS made FROM numbers WHERE id = 1')
    t.strictSame(await db.scan(ONE_ROW, callerOf(1)), [{ made: 1 }])
    for (const last of [1, 2]) {
      let times = 0
      const confirm = async () => {
        times += 1
        if (times === last) throw new Error(`refused at call ${last}`)
      }
      const release = await occupyReaders()
      const scans = Array.from({ length: 5 }, () => db.scan(ONE_ROW, callerOf(1)))
      const ended = db.scan(ONE_ROW, callerOf(2, confirm))
      release()
      t.match(await rejection(ended), { message: `refused at call ${last}` })
      t.equal(times, last)
      for (const rows of await Promise.all(scans)) t.strictSame(rows, [{ made: 1 }])
    }
  })

  t.test('a scan ends when its client disconnects, in a shared reader and in a held one', async (t) => {
    const client = new AbortController()
    const caller = { ...serviceCaller, clientSignal: () => client.signal }
    const reader = await db.holdReader(caller)
    t.teardown(() => reader.release())
    t.strictSame(await reader.scan(COUNT), await db.scan(COUNT, caller), 'before it')
    const [endless, held] = [rejection(db.scan(ENDLESS, caller)), rejection(reader.scan(ENDLESS))]
    client.abort()
    for (const failure of [endless, held, rejection(reader.scan(COUNT))])
      t.match(await failure, { code: 'OVERLOADED', message: 'The client has disconnected.' })
  })

  t.test('a held reader ends while it collects the rows of a statement without a guard', async (t) => {
    const client = new AbortController()
    const reader = await db.holdReader({ ...serviceCaller, clientSignal: () => client.signal })
    t.teardown(() => reader.release())
    const endless = sql('WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n')
    const collected = rejection(reader.collect(endless, 1))
    // The client is still there when the statement begins.
    await wait(100)
    client.abort()
    t.match(await collected, { message: 'The client has disconnected.' })
  })

  t.test('a queued scan leaves the queue when its client disconnects', async (t) => {
    const before = db.counts().scans
    let release = () => {}
    const free = new Promise<void>((resolve) => {
      release = resolve
    })
    const blockers = Array.from({ length: READER_THREADS }, (_, index) =>
      db.scan(COUNT, { ...serviceCaller, id: index, confirm: () => free })
    )
    const client = new AbortController()
    const gone = rejection(db.scan(COUNT, { ...serviceCaller, clientSignal: () => client.signal }))
    const other = db.scan(COUNT, { ...serviceCaller, clientSignal: () => new AbortController().signal })
    t.equal(db.counts().scans.waiting, 2)
    client.abort()
    t.match(await gone, { code: 'OVERLOADED', message: 'The client has disconnected.' })
    t.equal(db.counts().scans.waiting, 1)
    release()
    await Promise.all([...blockers, other])
    t.equal(db.counts().scans.refused, before.refused)
  })

  t.test('the results of many scans arrive in several ticks', async (t) => {
    let tick = 0
    let immediate = setImmediate(function next() {
      tick += 1
      immediate = setImmediate(next)
    })
    const perTick = new Map<number, number>()
    const scans = Array.from({ length: 100 }, async () => {
      await db.scan(sql("SELECT printf('%.*c', 1000000, 'x') AS wide"), serviceCaller)
      perTick.set(tick, (perTick.get(tick) ?? 0) + 1)
    })
    await Promise.all(scans)
    clearImmediate(immediate)
    t.ok(Math.max(...perTick.values()) <= 2 * READER_THREADS, String([...perTick.values()]))
  })

  t.test('a held reader keeps its TEMP tables, and a third one can be held after a release', async (t) => {
    const [first, second] = [await db.holdReader(serviceCaller), await db.holdReader(serviceCaller)]
    t.match(await rejection(db.holdReader(serviceCaller)), { code: 'OVERLOADED', retryAfter: 5 })
    await first.scan(sql('CREATE TABLE temp.kept AS SELECT id FROM numbers'))
    t.strictSame(await first.scan(sql('SELECT count(*) AS n FROM temp.kept')), [{ n: 5000 }])
    t.match(await rejection(second.scan(sql('SELECT count(*) AS n FROM temp.kept'))), { code: 'STRUCTURE_CHANGED' })
    await first.release()
    const third = await db.holdReader(serviceCaller)
    await Promise.all([second.release(), third.release()])
  })

  t.test('a held reader collects keys in the order of a statement', async (t) => {
    const reader = await db.holdReader(serviceCaller)
    t.teardown(() => reader.release())
    const keys = sql('SELECT id, -id FROM numbers WHERE id <= ? ORDER BY id DESC', 3n)
    t.equal(await reader.collect(keys, 2), 3)
    const rowsOf = ({ from, params }: RowSource) =>
      reader.scan(sql(`SELECT k0, k1 FROM ${from} AS r ORDER BY r.position`, ...params))
    t.strictSame(await rowsOf(reader.collected(0, 3)), [
      { k0: 3, k1: -3 },
      { k0: 2, k1: -2 },
      { k0: 1, k1: -1 }
    ])
    t.strictSame(await rowsOf(reader.collected(1, 1)), [{ k0: 2, k1: -2 }])
  })

  t.test('collect returns 0 without rows, and rejects if the statement fails', async (t) => {
    for (const [text, check] of [
      ['SELECT id FROM numbers WHERE id < 0', (count: Promise<number>) => t.resolveMatch(count, 0)],
      ['SELECT id FROM gone', (count: Promise<number>) => t.rejects(count, { code: 'STRUCTURE_CHANGED' })]
    ] as const) {
      const reader = await db.holdReader(serviceCaller)
      await check(reader.collect(sql(text), 1))
      await reader.release()
    }
  })

  t.strictSame(deaths, [])
})

t.test('the WAL stays bounded during writes', async (t) => {
  const file = databaseFile(t)
  prepareFile(file, SCHEMA)
  const db = await startEngine(t, file, { walSize: 1 })
  for (let round = 0; round < 30; round += 1)
    await db.write([sql('INSERT INTO notes (text) SELECT hex(randomblob(200000))')])
  const size = statSync(`${file}-wal`).size / 2 ** 20
  t.ok(size > 1 && size < 3, `${size} MiB after 12 MB, with a WAL_SIZE of 1`)
})

t.test('a file is served once, also through a symbolic link', async (t) => {
  const file = databaseFile(t)
  prepareFile(file, SCHEMA)
  await startEngine(t, file)
  const link = join(dirname(file), 'link.sqlite')
  symlinkSync(file, link)
  for (const path of [file, link]) {
    t.match(await rejection(startEngine(t, path)), { message: /^Another Rowhouse serves .*\. Stop it first/ }, path)
  }
})

t.test('a closed file can be opened again, and its WAL was copied into it', async (t) => {
  const file = databaseFile(t)
  for (const text of ['first', 'second']) {
    const db = await startEngine(t, file, { isQuiet: () => true })
    await db.write([sql('CREATE TABLE IF NOT EXISTS notes (text TEXT)'), note(text)])
    await db.scan(COUNT, serviceCaller)
    await db.close()
    t.notOk(existsSync(`${file}-wal`), 'closed cleanly')
  }
  t.strictSame(openExternal(t, file).prepare('SELECT text FROM notes').pluck().all(), ['first', 'second'])
})

t.test('a damaged file is refused with the reason, and its lock is released', async (t) => {
  const file = databaseFile(t)
  writeFileSync(file, 'not a database'.repeat(1000))
  for (const time of ['first', 'second']) {
    t.match(await rejection(startEngine(t, file)), { message: /is damaged, or not a SQLite database/ }, time)
  }
  t.notOk(existsSync(`${file}-rowhouse-lock`), 'the lock file was not created')
  rmSync(file)
  await (await startEngine(t, file)).close()
  writeFileSync(file, 'not a database'.repeat(1000))
  for (const time of ['first', 'second']) {
    t.match(await rejection(startEngine(t, file)), { message: /is damaged/ }, `${time}, with a lock file`)
  }
})

t.test('a lock file that cannot be opened is refused with the reason', async (t) => {
  const file = databaseFile(t)
  mkdirSync(`${file}-rowhouse-lock`)
  const { message } = await rejection(startEngine(t, file))
  t.ok(message.startsWith(`The lock file ${file}-rowhouse-lock cannot be opened (`), message)
})

t.test('closing stops scans, finishes accepted writes, and refuses later calls', async (t) => {
  const file = databaseFile(t)
  prepareFile(file, SCHEMA)
  const db = await startEngine(t, file)
  const held = await db.holdReader(serviceCaller)
  await held.scan(COUNT)
  await db.scan(COUNT, serviceCaller)
  const endless = [...Array.from({ length: 6 }, () => db.scan(ENDLESS, serviceCaller)), held.scan(ENDLESS)].map(
    rejection
  )
  const last = db.write([note('last')])
  await db.close()
  t.strictSame(await last, [{ changes: 1, rows: [] }], 'an accepted write is finished')
  for (const refusal of await Promise.all(endless)) t.match(refusal, { code: 'OVERLOADED' })
  const late = [
    () => db.write([note('late')]),
    () => db.read(COUNT),
    () => db.readText(COUNT),
    () => db.scan(COUNT, serviceCaller)
  ]
  for (const call of late) t.match(await rejection(call()), { code: 'OVERLOADED' })
  t.strictSame(openExternal(t, file).prepare('SELECT text FROM notes').pluck().all(), ['last'])
})

t.test('closing refuses scans whose thread is still starting', async (t) => {
  const db = await startEngine(t, databaseFile(t))
  await db.scan(sql('SELECT 1'), serviceCaller)
  const scans = Array.from({ length: 4 }, () => rejection(db.scan(ENDLESS, serviceCaller)))
  await nextTick()
  await db.close()
  for (const refusal of await Promise.all(scans)) t.match(refusal, { code: 'OVERLOADED' })
})

t.test('the writer thread', async (t) => {
  const unread = createUnreadText()
  const options = (file: string) => ({ file, readonly: false, busyTimeout: 50, cacheSize: 1, walSize: 16, unread })

  /** Resolves with the next thread that starts, to which a test can post an invalid message. */
  const nextThread = () => new Promise<Worker>((resolve) => process.once('worker', resolve))

  t.test('a thread that ends unexpectedly rejects pending units and is reported', async (t) => {
    const file = databaseFile(t)
    const deaths: Error[] = []
    const thread = nextThread()
    const writer = await startWriter(options(file), {
      onUpgrade: async () => {},
      onBatch: () => {},
      onExternalCommit: () => {},
      onDeath: (cause) => deaths.push(cause)
    })
    const worker = await thread
    const late = new Promise((resolve) =>
      worker.prependOnceListener('exit', () => resolve(rejection(writer.write([]))))
    )
    worker.postMessage('invalid')
    const lost = [rejection(writer.write([])), rejection(writer.write([]))]
    t.match(await late, { code: 'OVERLOADED' }, 'a unit that was not in flight may be sent again')
    for (const refusal of await Promise.all(lost)) t.match(refusal, { code: 'OUTCOME_UNKNOWN', retryAfter: undefined })
    t.match(deaths, [{ cause: { name: 'TypeError' } }])
    t.match(await rejection(writer.write([])), { code: 'OVERLOADED' })
    await writer.close()
    t.equal(deaths.length, 1, 'closing after the end resolves at once')
  })

  t.test('closing resolves if the thread ends during it', async (t) => {
    const thread = nextThread()
    const writer = await startWriter(options(databaseFile(t)), {
      onUpgrade: async () => {},
      onBatch: () => {},
      onExternalCommit: () => {},
      onDeath: () => t.fail()
    })
    const worker = await thread
    worker.postMessage('invalid')
    const lost = rejection(writer.write([]))
    await writer.close()
    // OVERLOADED if the thread ends before the write is posted to it.
    t.match(await lost, { code: /^(OUTCOME_UNKNOWN|OVERLOADED)$/ })
  })

  t.test('closing twice has the effect of closing once', async (t) => {
    const writer = await startWriter(options(databaseFile(t)), {
      onUpgrade: async () => {},
      onBatch: () => {},
      onExternalCommit: () => {},
      onDeath: () => t.fail()
    })
    await Promise.all([writer.close(), writer.close()])
    t.match(await rejection(writer.write([])), { code: 'OVERLOADED' })
  })
})

t.test('a reader that cannot open the file rejects the scan, and opens it for a later one', async (t) => {
  const file = databaseFile(t)
  const db = await startEngine(t, file)
  const held = await db.holdReader(serviceCaller)
  renameSync(`${file}-wal`, `${file}-moved`)
  mkdirSync(`${file}-wal`)
  t.match(await rejection(held.scan(sql('SELECT 1 AS n'))), { code: 'STORAGE_UNAVAILABLE', retryAfter: 5 })
  rmdirSync(`${file}-wal`)
  renameSync(`${file}-moved`, `${file}-wal`)
  t.strictSame(await held.scan(sql('SELECT 1 AS n')), [{ n: 1 }])
  await held.release()
})

t.test('a parameter that cannot be cloned is an unknown error', async (t) => {
  const db = await startEngine(t, databaseFile(t))
  t.match(await rejection(db.scan(sql('SELECT ?', (() => 1) as never), serviceCaller)), {
    message: /could not be cloned/
  })
})
