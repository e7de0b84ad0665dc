import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { createViewScans } from '../../../../services/engine/loop/view-scans.ts'
import { serviceCaller } from '../../../../services/model/caller.ts'
import { spawnPlain } from '../../../plain-process.ts'
import { databaseFile, prepareFile, rejection, sql } from '../engine.ts'

/** Without the guard, nothing inside SQLite ends this statement. */
const ENDLESS = 'SELECT count(*) AS n FROM endless'

const SCHEMA = `
  CREATE TABLE cells (id INTEGER PRIMARY KEY, value);
  INSERT INTO cells VALUES (1, 9223372036854775807), (2, x'00ff'), (3, NULL), (4, 0.5), (5, 'ü');
  CREATE VIEW cell_values AS SELECT value FROM cells ORDER BY id;
  CREATE VIEW endless AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;
  CREATE VIEW overflow AS SELECT abs(-9223372036854775808) AS a;
  CREATE VIEW malformed AS SELECT json_extract(value, '$.a') AS a FROM cells;
  CREATE VIEW mismatch AS SELECT 1 AS a LIMIT 'x';
  CREATE VIEW broken AS SELECT gone FROM missing;`

const PROC = '/proc'
const noProc = existsSync(`${PROC}/self/stat`) ? false : 'there is no /proc, which lists child processes'

const parentOf = (pid: string) => {
  try {
    return Number(readFileSync(`${PROC}/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1])
  } catch {
    return 0
  }
}

/** Returns the ids of the child processes that still run. */
const childrenOf = (parent = process.pid) =>
  readdirSync(PROC).filter((pid) => /^\d+$/.test(pid) && parentOf(pid) === parent)

const until = async (condition: () => boolean) => {
  while (!condition()) await pause(10)
}

const callerOf = (id: number) => ({ ...serviceCaller, kind: 'token' as const, id })
const [ann, bob] = [callerOf(1), callerOf(2)]

const start = (t: Test, options: { readonly limit?: number; readonly idle?: number } = {}) => {
  const file = databaseFile(t)
  prepareFile(file, SCHEMA)
  const scans = createViewScans({ file, cacheSize: 2, ...options })
  t.teardown(() => scans.close())
  return scans
}

t.test('rows cross the process unchanged', async (t) => {
  const { scan } = start(t)
  t.strictSame(await scan(sql('SELECT value FROM cell_values WHERE value > ?', 1n), ann), [
    { value: Number(2n ** 63n - 1n) },
    { value: Buffer.from([0, 255]) },
    { value: 'ü' }
  ])
  t.strictSame(
    await scan(
      sql('SELECT typeof(?) AS a, ? AS b, ? AS c, hex(?) AS d', 2n ** 62n, null, 0.5, new Uint8Array([7])),
      ann
    ),
    [{ a: 'integer', b: null, c: 0.5, d: '07' }]
  )
  const text = 'ü"\ud83d\ude00'.repeat(1_000_000)
  t.ok((await scan(sql('SELECT ? AS text', text), ann))[0]?.text === text)
})

t.test('the failure of a view has the reason of SQLite, and the next statement runs', async (t) => {
  const { scan } = start(t)
  for (const [name, reason] of [
    ['overflow', 'integer overflow'],
    ['malformed', 'malformed JSON'],
    ['mismatch', 'datatype mismatch'],
    ['broken', 'no such table: main.missing']
  ]) {
    const error = await rejection(scan(sql(`SELECT * FROM ${name}`), ann))
    t.match(error, {
      code: 'STRUCTURE_CHANGED',
      message: `SQLite cannot compute the view: ${reason}.`,
      reported: reason
    })
    t.match(error.cause, /^SQLITE_/)
  }
  t.equal((await scan(sql('SELECT 1'), ann)).length, 1)
})

t.test('a file that cannot be opened is no failure of a view', async (t) => {
  const scans = createViewScans({ file: `${databaseFile(t)}/none`, cacheSize: 2 })
  t.teardown(() => scans.close())
  t.match(await rejection(scans.scan(sql('SELECT 1'), ann)), { message: /directory does not exist/ })
})

t.test('only the statement that takes too long is stopped', async (t) => {
  const { scan } = start(t, { limit: 500 })
  const endless = rejection(scan(sql(ENDLESS), ann))
  const others = await Promise.all([1, 2, 3].map((n) => scan(sql('SELECT ? AS n', n), bob)))
  t.strictSame(others, [[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]])
  t.match(await endless, { code: 'SCAN_TIMEOUT', kind: 'unavailable' })
  t.equal((await scan(sql('SELECT 1'), ann)).length, 1)
})

t.test('a statement ends when its client disconnects, also in a held process', async (t) => {
  const { scan, holdReader, counts } = start(t)
  const client = new AbortController()
  const gone = { ...ann, clientSignal: () => client.signal }
  const reader = await holdReader(gone)
  await Promise.all([reader.scan(sql('SELECT 1')), scan(sql('SELECT 1'), gone)])
  const failures = [rejection(scan(sql(ENDLESS), gone)), rejection(reader.scan(sql(ENDLESS)))]
  await until(() => counts().running === 2)
  client.abort()
  for (const failure of [...failures, rejection(reader.scan(sql('SELECT 1')))])
    t.match(await failure, { code: 'OVERLOADED', message: 'The client has disconnected.' })
  await reader.release()
  t.equal((await scan(sql('SELECT 1'), ann)).length, 1)
})

t.test('callers that wait are served in rotation, also after a statement was stopped', async (t) => {
  const { scan } = start(t, { limit: 300 })
  const order: string[] = []
  const run = (name: string, caller: typeof ann, text: string) =>
    scan(sql(text), caller).then(
      () => order.push(name),
      () => order.push(name)
    )
  await Promise.all([
    ...['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map((name) => run(name, ann, ENDLESS)),
    run('b', bob, 'SELECT 1')
  ])
  t.equal(order.length, 7)
  t.ok(order.indexOf('b') < 4, order.join(' '))
})

t.test('a caller whose views never end leaves a process to others, and descriptions do not wait', async (t) => {
  const { scan, describe } = start(t, { limit: 6000 })
  const endless = [1, 2, 3].map(() => rejection(scan(sql(ENDLESS), ann)))
  const began = performance.now()
  t.equal((await scan(sql('SELECT 1'), bob)).length, 1)
  const others = [1, 2].map(() => rejection(scan(sql(ENDLESS), bob)))
  t.match(await describe('cell_values', ann), { stored_columns: /value/, sources: /cells/ })
  t.match(await rejection(describe('broken', ann)), { code: 'STRUCTURE_CHANGED', reported: /missing/ })
  t.ok(performance.now() - began < 6000, 'no statement has ended yet')
  for (const failure of [...endless, ...others]) t.match(await failure, { code: 'SCAN_TIMEOUT' })
})

t.test('a view that takes too long to prepare is stopped', async (t) => {
  const file = databaseFile(t)
  const nested = Array.from(
    { length: 60 },
    (_, i) => `CREATE VIEW v${i + 1} AS SELECT a.i FROM v${i} AS a, v${i} AS b;`
  )
  prepareFile(file, `CREATE VIEW v0 AS SELECT 1 AS i; ${nested.join('\n')}`)
  const { describe, close } = createViewScans({ file, cacheSize: 2, limit: 200 })
  t.teardown(close)
  t.match(await rejection(describe('v60', ann)), { code: 'SCAN_TIMEOUT', message: /prepare/ })
  t.match(await describe('v1', ann), { sources: /v0/ })
})

t.test('at most three processes run statements', { skip: noProc }, async (t) => {
  const { scan } = start(t, { limit: 300 })
  const before = childrenOf().length
  const running = Promise.all([1, 2, 3, 4].map((id) => rejection(scan(sql(ENDLESS), callerOf(id)))))
  await until(() => childrenOf().length === before + 3)
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, childrenOf().length)
  }, 5)
  await running
  clearInterval(watch)
  t.equal(most, before + 3)
})

t.test('an idle process ends, and the next statement starts another one', { skip: noProc }, async (t) => {
  const { scan, tryChange } = start(t, { idle: 50 })
  const before = childrenOf().length
  await scan(sql('SELECT 1'), ann)
  // In the same process, which ends by itself: coverage is not collected from a process that is killed.
  t.match(await tryChange([sql('CREATE TABLE other (a)')], ann), { broken: [] })
  t.equal(childrenOf().length, before + 1)
  await until(() => childrenOf().length === before)
  t.equal((await scan(sql('SELECT 1'), ann)).length, 1)
})

t.test(
  'a process that ends fails its statement, and the next one starts another process',
  { skip: noProc },
  async (t) => {
    const { scan } = start(t)
    const before = childrenOf()
    const endless = rejection(scan(sql(ENDLESS), ann))
    await until(() => childrenOf().length === before.length + 1)
    const [pid] = childrenOf().filter((child) => !before.includes(child))
    process.kill(Number(pid), 'SIGKILL')
    t.match(await endless, { code: 'OVERLOADED', message: /has ended/ })
    t.equal((await scan(sql('SELECT 1'), ann)).length, 1)
  }
)

t.test('a process ends after the service was killed, also during a statement', { skip: noProc }, async (t) => {
  const file = databaseFile(t)
  prepareFile(file, SCHEMA)
  const service = spawnPlain(fileURLToPath(new URL(`../view-runner${extname(import.meta.url)}`, import.meta.url)), {
    args: [file, ENDLESS],
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const id = Number(service.pid)
  await until(() => childrenOf(id).length === 1)
  const [pid] = childrenOf(id)
  await once(service.stdout as Readable, 'data')
  service.kill('SIGKILL')
  await until(() => !existsSync(`${PROC}/${pid}`))
  t.pass('the process has ended')
})

t.test('the right of a caller is confirmed before and after a statement', async (t) => {
  const { scan } = start(t)
  let calls = 0
  const confirm = (last: number) => async () => {
    calls += 1
    if (calls === last) throw new Error('revoked')
  }
  t.match(await rejection(scan(sql('SELECT 1'), { ...ann, confirm: confirm(1) })), { message: 'revoked' })
  calls = 0
  t.match(await rejection(scan(sql('SELECT 1'), { ...ann, confirm: confirm(2) })), { message: 'revoked' })
  t.equal(calls, 2)
})

t.test('a held reader', async (t) => {
  const { scan, holdReader } = start(t)
  const reader = await holdReader(ann)

  t.test('collects rows in their order', async (t) => {
    t.equal(await reader.collect(sql('SELECT value FROM cell_values'), 1), 5)
    const all = reader.collected(0, 5)
    t.strictSame(await reader.scanChunk(sql(`SELECT count(*) AS n FROM ${all.from} AS r`, ...all.params)), { n: 5 })
    const last = reader.collected(4, 1)
    t.strictSame(await reader.scan(sql(`SELECT k0 FROM ${last.from} AS r`, ...last.params)), [{ k0: 'ü' }])
  })
  t.test('leaves a process for other statements, but none for another export', async (t) => {
    t.equal((await scan(sql('SELECT 1'), bob)).length, 1)
    t.match(await rejection(holdReader(bob)), { code: 'OVERLOADED' })
  })
  t.test('is ended by its release, also during a statement', async (t) => {
    const endless = rejection(reader.scan(sql(ENDLESS)))
    await reader.release()
    t.match(await endless, { code: 'OVERLOADED' })
    const next = await holdReader(bob)
    const { from, params } = next.collected(0, 1)
    t.match(await rejection(next.scan(sql(`SELECT * FROM ${from} AS r`, ...params))), { message: /no such table/ })
    await next.release()
  })
})

t.test('a held reader does not end while its client is slow', { skip: noProc }, async (t) => {
  const { scan, holdReader } = start(t, { idle: 20 })
  const before = childrenOf().length
  const reader = await holdReader(ann)
  await reader.collect(sql('SELECT value FROM cell_values'), 1)
  await scan(sql('SELECT 1'), bob)
  await until(() => childrenOf().length === before + 1)
  const { from, params } = reader.collected(0, 5)
  t.strictSame(await reader.scan(sql(`SELECT count(*) AS n FROM ${from} AS r`, ...params)), [{ n: 5 }])
  await reader.release()
})

t.test('the close ends running and waiting statements', async (t) => {
  const { scan, holdReader, close } = start(t)
  const failures = [1, 2, 3].map((id) => rejection(scan(sql(ENDLESS), callerOf(id))))
  await close()
  for (const failure of failures) t.match(await failure, { code: 'OVERLOADED', message: /stopping/ })
  t.match(await rejection(holdReader(ann)), { code: 'OVERLOADED' })
})
