import t, { type Test } from 'tap'
import { type Database, StaleMemory } from '../../../../services/engine/database.ts'
import { serviceCaller } from '../../../../services/model/caller.ts'
import type { UsedMemory } from '../../../../services/model/memory.ts'
import { startFakeRqlite } from '../../../rqlite/fake.ts'
import { rejection, sql } from '../engine.ts'
import { openOn } from './engine.ts'

const CHANGE = sql(
  "INSERT INTO _rowhouse_settings VALUES ('maxPageSize', '7', 0) ON CONFLICT DO UPDATE SET value = '8'"
)
const USED: readonly UsedMemory[] = [['settings', 'maxPageSize']]
const OTHER = sql('INSERT INTO t (n) VALUES (1)')

/** Counts the calls of the listeners of an engine. */
const listen = (db: Database, reload: () => Promise<unknown> = async () => {}) => {
  const counts = { reloads: 0, commits: 0 }
  db.onStaleMemory(() => {
    counts.reloads += 1
    return reload()
  })
  db.onExternalCommit(() => {
    counts.commits += 1
  })
  return counts
}

const startTwo = async (t: Test) => {
  const fake = await startFakeRqlite(t)
  fake.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)')
  const [first, second] = [await openOn(t, fake), await openOn(t, fake)]
  return { fake, first, second, ofFirst: listen(first), ofSecond: listen(second) }
}

t.test('a change of what services have in memory makes the others read it again, once', async (t) => {
  const { first, second, ofFirst, ofSecond } = await startTwo(t)
  await first.write([CHANGE])
  await Promise.all([second.catchUp?.(), second.catchUp?.(), second.catchUp?.()])
  await second.catchUp?.()
  await first.catchUp?.()
  t.match([ofFirst, ofSecond], [{ reloads: 0 }, { reloads: 1 }])
})

t.test('another change only reports the commit', async (t) => {
  const { first, second, ofFirst, ofSecond } = await startTwo(t)
  await first.write([OTHER])
  await first.write([CHANGE], { keepsMemory: true })
  await second.read(sql('SELECT 1'))
  await first.read(sql('SELECT 1'))
  t.strictSame(
    [ofFirst, ofSecond],
    [
      { reloads: 0, commits: 0 },
      { reloads: 0, commits: 1 }
    ]
  )
})

t.test('a unit that was made from older memory changes nothing', async (t) => {
  const { first, second, ofSecond } = await startTwo(t)
  await first.write([CHANGE])
  const [stale, other] = await Promise.allSettled([second.write([OTHER], { usesMemory: USED }), second.write([OTHER])])
  t.match(stale, { status: 'rejected', reason: StaleMemory })
  t.equal(other.status, 'fulfilled', 'a unit that does not depend on memory is sent again')
  t.match(ofSecond, { reloads: 1 })
  t.strictSame(await first.read(sql('SELECT count(*) AS count FROM t')), [{ count: 1 }])
  await second.write([OTHER], { usesMemory: USED })
})

t.test('memory that could not be read again is read at the next request', async (t) => {
  const fake = await startFakeRqlite(t)
  const [first, second] = [await openOn(t, fake), await openOn(t, fake)]
  let failures = 1
  const counts = listen(second, async () => {
    if (failures-- > 0) throw new Error('unreadable')
  })
  await first.write([CHANGE])
  await t.rejects(Promise.resolve(second.catchUp?.()), { message: 'unreadable' })
  await second.catchUp?.()
  await second.catchUp?.()
  t.match(counts, { reloads: 2 })
})

t.test('a read that memory is newer than is repeated', async (t) => {
  const { fake, first } = await startTwo(t)
  const held = fake.faults.holdResponse('/db/query')
  const reading = first.read(sql('SELECT count(*) AS count FROM _rowhouse_settings'))
  await held.arrived
  await first.write([CHANGE])
  held.release()
  t.strictSame(await reading, [{ count: 1 }])
})

t.test('a scan reports what another service has changed', async (t) => {
  const { first, second, ofSecond } = await startTwo(t)
  await first.write([CHANGE])
  t.strictSame(await second.scan(sql('SELECT 5 AS five'), serviceCaller), [{ five: 5 }])
  t.strictSame(ofSecond, { reloads: 1, commits: 1 })
  t.match(await rejection(second.scan(sql('SELECT * FROM missing'), serviceCaller)), { code: 'STRUCTURE_CHANGED' })
  t.match(await rejection(second.viewScans.scan(sql('SELECT * FROM missing'), serviceCaller)), {
    code: 'STRUCTURE_CHANGED',
    message: /cannot compute the view/
  })
})

t.test('a change of the service itself during a scan reads nothing again', async (t) => {
  const { fake, first, ofFirst } = await startTwo(t)
  const held = fake.faults.holdResponse('/db/query')
  const scanning = first.scan(sql('SELECT 1 AS one'), serviceCaller)
  await held.arrived
  await first.write([CHANGE])
  held.release()
  t.strictSame(await scanning, [{ one: 1 }])
  t.match(ofFirst, { reloads: 0 })
})

t.test('the batches of a service that has ended are reported', async (t) => {
  const { fake, first, ofFirst } = await startTwo(t)
  await first.read(sql('SELECT 1'))
  const third = await openOn(t, fake)
  await third.write([OTHER])
  await third.close()
  await first.read(sql('SELECT 1'))
  t.match(ofFirst, { commits: 1 })
})

t.test('after a restore of the cluster, memory is read again', async (t) => {
  const { fake, first, second, ofFirst } = await startTwo(t)
  await first.write([CHANGE])
  await second.catchUp?.()
  fake.execute("UPDATE _rowhouse_state SET value = 1 WHERE name = 'epoch'")
  await first.catchUp?.()
  t.match(ofFirst, { reloads: 1 })
  await first.write([OTHER], { usesMemory: USED })
})

t.test('a unit without foreign keys makes its own service read memory again', async (t) => {
  const { first, ofFirst } = await startTwo(t)
  await first.write([sql('DROP TABLE t')], { foreignKeys: false })
  t.match(ofFirst, { reloads: 1 })
})
