import t from 'tap'
import { type Caller, type RetryKey, serviceCaller } from '../../../../services/model/caller.ts'
import { createCommit } from '../../../../services/records/change/commit.ts'
import { createRecordSizes } from '../../../../services/records/change/record-sizes.ts'
import { createRetries } from '../../../../services/records/change/retries.ts'
import { createRowCosts } from '../../../../services/records/change/row-costs.ts'
import { createTotals } from '../../../../services/records/read/totals.ts'
import type { RetryLimits } from '../../../../services/sql/retries.ts'
import { rejection } from '../../engine/engine.ts'
import { startServices } from '../../services.ts'

const SCHEMA = `
  CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT, lives INTEGER);
  CREATE TABLE later (id INTEGER PRIMARY KEY, cat INTEGER REFERENCES cats (id) DEFERRABLE INITIALLY DEFERRED);
  INSERT INTO cats VALUES (1, 'Tom', 0);
`

const DAY = 24 * 60 * 60 * 1000

const withKey = (key: string, id = 0): Caller => ({
  ...serviceCaller,
  id,
  retryKey: { key, digest: 'the same request', onReplay: () => {} }
})

const start = async (t: Parameters<typeof startServices>[0], limits: RetryLimits = {}) => {
  const services = await startServices(t, SCHEMA)
  const { db, time, registry, records, external, serve } = services
  const cats = await serve('cats')
  const totals = createTotals({ db, isCountable: registry.isCountable })
  const createOne = () =>
    createRetries({
      db,
      clock: () => time.now,
      commit: createCommit({
        db,
        totals,
        estimate: () => [],
        rowCosts: createRowCosts(registry),
        recordSizes: createRecordSizes(db),
        allTables: () => []
      }),
      limits
    }).commit
  const { incrementOp, createOp } = records.operations
  const increment = () => incrementOp(cats.access(), { pk: '1', field: 'lives' })
  const create = (name: string) => createOp(cats.access(), { name })
  const keys = () => external.prepare('SELECT key FROM _rowhouse_retries ORDER BY id').pluck().all()
  const lives = () => external.prepare('SELECT lives FROM cats WHERE id = 1').pluck().get()
  return { ...services, createOne, increment, create, keys, lives }
}

t.test('the oldest keys of a caller are deleted beyond the limit', async (t) => {
  const { createOne, increment, keys, lives } = await start(t, { maxKeys: 3 })
  const commit = createOne()
  await commit(withKey('other', 7), [increment()])
  for (const key of ['a', 'b', 'c', 'd', 'e']) await commit(withKey(key), [increment()])
  t.strictSame(keys(), ['other', 'c', 'd', 'e'])
  await commit(withKey('c'), [increment()])
  t.equal(lives(), 6, 'a replay')
  await commit(withKey('a'), [increment()])
  t.equal(lives(), 7, 'a key that was deleted')
})

t.test('the oldest keys of a caller are deleted beyond the limit of bytes, but never the newest', async (t) => {
  const { createOne, create, keys } = await start(t, { maxBytes: 15_000 })
  const commit = createOne()
  const name = 'x'.repeat(8000)
  for (const key of ['a', 'b', 'c', 'd']) await commit(withKey(key), [create(name)])
  t.strictSame(keys(), ['c', 'd'])
  await commit(withKey('e'), [create('x'.repeat(30_000))])
  t.strictSame(keys(), ['e'])
})

t.test('each new key deletes some expired ones of all callers', async (t) => {
  const { createOne, increment, keys, time } = await start(t)
  const commit = createOne()
  for (let number = 1; number <= 15; number += 1) await commit(withKey(`k${number}`, number), [increment()])
  time.now += DAY
  await commit(withKey('new'), [increment()])
  t.strictSame(keys(), ['k11', 'k12', 'k13', 'k14', 'k15', 'new'])
  await commit(withKey('newer'), [increment()])
  t.strictSame(keys(), ['new', 'newer'])
})

t.test('of two writers with one key, one writes, and the other gets its result', async (t) => {
  const { createOne, create, keys } = await start(t)
  const both = await Promise.all([createOne(), createOne()].map((commit) => commit(withKey('a'), [create('Kitty')])))
  t.strictSame(both, [['{"id":2,"name":"Kitty","lives":null}'], ['{"id":2,"name":"Kitty","lives":null}']])
  t.strictSame(keys(), ['a'])
  const other = withKey('b')
  const reused: Caller = { ...other, retryKey: { ...(other.retryKey as RetryKey), digest: 'another request' } }
  const outcomes = await Promise.allSettled([
    createOne()(other, [create('Tiger')]),
    createOne()(reused, [create('Tiger')])
  ])
  t.match(outcomes, [{ status: 'fulfilled' }, { reason: { code: 'IDEMPOTENCY_KEY_REUSED' } }])
})

t.test('a key that ends before its replay fails the request', async (t) => {
  const { createOne, create, db, external } = await start(t)
  const commit = createOne()
  const { write } = db
  t.teardown(() => Object.assign(db, { write }))
  db.write = async (...unit) => {
    await write([
      {
        sql: "INSERT INTO _rowhouse_retries (caller, number, key, digest, results, total_bytes, created_at, tables) VALUES ('service 0 rowhouse', 1, 'a', '', '[]', 0, 9e15, '')",
        params: []
      }
    ])
    return write(...unit).finally(() => external.exec('DELETE FROM _rowhouse_retries'))
  }
  t.match(await rejection(commit(withKey('a'), [create('Kitty')])), { code: 'IDEMPOTENCY_KEY_IN_FLIGHT' })
})

t.test('the results that an earlier version has stored are replayed', async (t) => {
  const { createOne, create, increment, records, serve, external } = await start(t)
  const cats = await serve('cats')
  const { deleteOp, createOrIgnoreOp } = records.operations
  const operations = () =>
    [
      create('Kitty'),
      createOrIgnoreOp(cats.access(), { id: 1 }),
      increment(),
      deleteOp(cats.access(), '1', { returnsRecord: true })
    ] as const
  const commit = createOne()
  const first = await commit(withKey('a'), operations())
  const record = (text: string) => [{ changes: 1, rows: [{ record: text }] }]
  const none = [{ changes: 1, rows: [] }]
  // One result for each statement of an operation.
  const results = [record(first[0]), [{ changes: 0, rows: [] }], none, record(String(first[3]))]
  external.prepare('UPDATE _rowhouse_retries SET results = ?').run(JSON.stringify(results))
  t.strictSame(await commit(withKey('a'), operations()), first)
})

t.test('a failure at COMMIT is explained as without a key', async (t) => {
  const { createOne, records, serve, keys } = await start(t)
  const later = await serve('later')
  const commit = createOne()
  const operation = () => records.operations.createOp(later.access(), { cat: 99 })
  const plain = await rejection(commit(serviceCaller, [operation()]))
  const keyed = await rejection(commit(withKey('a'), [operation()]))
  t.match(plain, { code: 'FOREIGN_KEY_VIOLATION' })
  t.equal(keyed.message, plain.message)
  t.strictSame(keys(), [])
})

t.test('a replay needs the right of the caller', async (t) => {
  const { createOne, increment, lives } = await start(t)
  const commit = createOne()
  await commit(withKey('a'), [increment()])
  const ended = { ...withKey('a'), confirm: () => Promise.reject(new Error('The right has ended.')) }
  t.match(await rejection(commit(ended, [increment()])), { message: 'The right has ended.' })
  t.equal(lives(), 1)
})
