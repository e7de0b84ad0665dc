import t, { type Test } from 'tap'
import { type Database, StaleMemory } from '../../../../services/engine/database.ts'
import type { UsedMemory } from '../../../../services/model/memory.ts'
import type { Unit } from '../../../../services/sql/statement.ts'
import { startFakeRqlite } from '../../../rqlite/fake.ts'
import { sql } from '../engine.ts'
import { openOn } from './engine.ts'

const insertToken = (name: string) =>
  sql(
    `INSERT INTO _rowhouse_tokens (name, digest, token_prefix, permissions, is_active, created_at, updated_at)
      VALUES (?, ?, 'rh_', '{}', 1, 0, 0)`,
    name,
    name
  )
const insertRole = sql("INSERT INTO _rowhouse_roles VALUES (3, 'reader', '[]', 0, 0)")
const storeSetting = sql("INSERT INTO _rowhouse_settings VALUES ('maxPageSize', '7', 0)")
const RECORD = sql('INSERT INTO t (n) VALUES (1)')

type Changes = { readonly [kind: string]: readonly (number | string)[] } | null

/** Starts two engines on a fake cluster. `reloaded`: what the second one has been told to reload. */
const startTwo = async (t: Test) => {
  const fake = await startFakeRqlite(t)
  fake.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)')
  const [first, second] = [await openOn(t, fake), await openOn(t, fake)]
  const reloaded: Changes[] = []
  second.onStaleMemory(async (changes) => reloaded.push(changes && Object.fromEntries(changes)))
  /** Returns what the second engine reloads after a change. */
  const reloadedAfter = async (change: () => unknown) => {
    reloaded.length = 0
    await change()
    await second.catchUp?.()
    return reloaded
  }
  return { fake, first, second, reloaded, reloadedAfter }
}

t.test('a service reloads the rows that another one has changed', async (t) => {
  const { first, reloadedAfter } = await startTwo(t)
  const cases: readonly (readonly [Unit, Changes])[] = [
    [[insertToken('a'), insertToken('b'), insertRole], { tokens: [1, 2], roles: [3] }],
    [[sql("UPDATE _rowhouse_tokens SET name = 'c', updated_at = 1 WHERE id = 2")], { tokens: [2] }],
    [[sql('DELETE FROM _rowhouse_tokens WHERE id = 1'), RECORD], { tokens: [1] }],
    [[storeSetting], { settings: ['maxPageSize'] }],
    [[sql('DELETE FROM _rowhouse_settings')], { settings: ['maxPageSize'] }],
    [[sql('CREATE TABLE other (id INTEGER PRIMARY KEY)')], { structure: [''] }],
    [[sql('DELETE FROM _rowhouse_tokens WHERE id = 99')], {}]
  ]
  for (const [unit, changes] of cases) t.strictSame(await reloadedAfter(() => first.write(unit)), [changes])
})

t.test('changes of several services since the last reload are reloaded together', async (t) => {
  const { fake, first, reloadedAfter } = await startTwo(t)
  const third = await openOn(t, fake)
  const changes = await reloadedAfter(async () => {
    await first.write([insertToken('a')])
    await third.write([insertToken('b')])
    await first.write([storeSetting])
  })
  t.strictSame(changes, [{ settings: ['maxPageSize'], tokens: [1, 2] }])
})

t.test('times of use are no changes', async (t) => {
  const { fake, first, reloadedAfter } = await startTwo(t)
  await first.write([insertToken('a')])
  await reloadedAfter(() => {})
  const use = sql('UPDATE _rowhouse_tokens SET last_used_at = 5')
  t.strictSame(await reloadedAfter(() => first.write([use], { keepsMemory: true })), [])
  t.strictSame(fake.read("SELECT row FROM _rowhouse_memory_changes WHERE kind = 'tokens'"), [{ row: 1 }])
})

t.test('everything is reloaded after a change by an older version, which moves only the epoch', async (t) => {
  const { fake, first, reloadedAfter } = await startTwo(t)
  const moveEpoch = () => fake.execute("UPDATE _rowhouse_state SET value = value + 1 WHERE name = 'epoch'")
  t.strictSame(await reloadedAfter(moveEpoch), [null])
  const both = async () => {
    await first.write([insertToken('a')])
    moveEpoch()
    await first.write([insertToken('b')])
  }
  t.strictSame(await reloadedAfter(both), [null])
  t.strictSame(await reloadedAfter(() => first.write([insertToken('c')])), [{ tokens: [3] }])
})

t.test('everything is reloaded if the last known change is no longer in the table', async (t) => {
  const { fake, first, reloadedAfter } = await startTwo(t)
  fake.execute("UPDATE _rowhouse_state SET value = value + 9999 WHERE name IN ('epoch', 'recorded')")
  t.strictSame(await reloadedAfter(() => first.write([insertToken('a')])), [null])
  t.strictSame(fake.read("SELECT count(*) AS count FROM _rowhouse_memory_changes WHERE kind = 'move'"), [{ count: 1 }])
})

t.test('everything is reloaded after a change of many rows', async (t) => {
  const { first, reloadedAfter } = await startTwo(t)
  const many = sql(
    `INSERT INTO _rowhouse_tokens (name, digest, token_prefix, permissions, is_active, created_at, updated_at)
      SELECT value, value, 'rh_', '{}', 1, 0, 0 FROM temp.json_each(?)`,
    JSON.stringify(Array.from({ length: 1001 }, (_, index) => index))
  )
  t.strictSame(await reloadedAfter(() => first.write([many])), [null])
})

t.test(
  'after a restore of the cluster, another change with the same number makes services reload everything',
  async (t) => {
    const { fake, first, second, reloaded } = await startTwo(t)
    await first.write([insertToken('kept')])
    await second.catchUp?.()
    const saved = ['_rowhouse_state', '_rowhouse_memory_changes', '_rowhouse_tokens']
    fake.execute(saved.map((table) => `CREATE TABLE saved${table} AS SELECT * FROM ${table};`).join(''))
    await first.write([insertToken('removed')])
    await second.catchUp?.()
    reloaded.length = 0
    fake.execute(
      saved.map((table) => `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM saved${table};`).join('')
    )
    await first.write([insertToken('other')])
    await second.catchUp?.()
    t.strictSame(reloaded, [null])
    t.strictSame(fake.read('SELECT name FROM _rowhouse_tokens'), [{ name: 'kept' }, { name: 'other' }])
  }
)

const writeDuring = async (
  { fake, second }: Pick<Awaited<ReturnType<typeof startTwo>>, 'fake' | 'second'>,
  used: readonly UsedMemory[],
  change: () => Promise<unknown>
) => {
  const held = fake.faults.holdRequest()
  const writing = second.write([RECORD], { usesMemory: used })
  await held.arrived
  await change()
  held.release()
  return writing.then(
    () => 'stored',
    (error) => error
  )
}

t.test('a write fails if memory has changed that it was made from, and is not delayed by other changes', async (t) => {
  const services = await startTwo(t)
  const { first, reloaded } = services
  await first.write([insertToken('a'), insertToken('b'), insertRole])
  await services.second.catchUp?.()
  const cases: readonly (readonly [UsedMemory, Unit, 'stored' | 'stale'])[] = [
    [['tokens', 1], [sql("UPDATE _rowhouse_tokens SET name = 'c' WHERE id = 2")], 'stored'],
    [['tokens', 1], [sql("UPDATE _rowhouse_tokens SET name = 'd' WHERE id = 1")], 'stale'],
    [['roles', 3], [sql('DELETE FROM _rowhouse_roles')], 'stale'],
    [['settings', null], [storeSetting], 'stale'],
    [['structure', null], [sql('CREATE TABLE two (id INTEGER PRIMARY KEY)')], 'stale'],
    [['tokens', 1], [sql('CREATE TABLE three (id INTEGER PRIMARY KEY)')], 'stored']
  ]
  for (const [used, unit, expected] of cases) {
    reloaded.length = 0
    const outcome = await writeDuring(services, [used], () => first.write(unit))
    if (expected === 'stored') t.equal(outcome, 'stored', String(used))
    else t.ok(outcome instanceof StaleMemory, String(used))
    t.equal(reloaded.length, expected === 'stored' ? 0 : 1)
    await services.second.catchUp?.()
  }
})

t.test('a write fails if it is not known what has changed', async (t) => {
  const services = await startTwo(t)
  const { fake, first, reloaded } = services
  const changes = [
    "UPDATE _rowhouse_state SET value = value + 1 WHERE name = 'epoch'",
    "UPDATE _rowhouse_memory_changes SET id = 'other'; UPDATE _rowhouse_state SET value = 'another' WHERE name = 'change'"
  ]
  for (const change of changes) {
    const outcome = await writeDuring(services, [['tokens', 1]], async () => fake.execute(change))
    t.ok(outcome instanceof StaleMemory, change)
    t.strictSame(reloaded.splice(0), [null])
  }
  await first.catchUp?.()
})

t.test('a write that waits is compared with the memory of its arrival', async (t) => {
  const { fake, first, second, reloaded } = await startTwo(t)
  await first.write([insertToken('a')])
  await second.catchUp?.()
  const held = fake.faults.holdRequest()
  const before = second.write([insertRole])
  await held.arrived
  const waiting = second.write([RECORD], { usesMemory: [['tokens', 1]] })
  await first.write([sql('DELETE FROM _rowhouse_tokens')])
  held.release()
  await Promise.all([before, t.rejects(waiting, { name: 'StaleMemory' })])
  t.equal(reloaded.length, 2, 'the write before it has reloaded the change')
})

t.test('a change of memory is stored although another service changes memory again and again', async (t) => {
  const { fake, first, second, reloaded } = await startTwo(t)
  const writing = (async () => {
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const held = fake.faults.holdRequest()
      await held.arrived
      await first.write([insertToken(`other ${attempt}`)])
      held.release()
    }
  })()
  await second.write([insertToken('own')])
  await writing
  t.equal(reloaded.length, 3)
  // What the other service has changed before the last attempt is not known yet.
  await second.catchUp?.()
  t.strictSame(reloaded.at(-1), { tokens: [4, 5] })
  await second.write([insertToken('next')])
  t.equal(reloaded.length, 4)
})

t.test('the time that requests wait for reloads is counted', async (t) => {
  const { first, second } = await startTwo(t)
  const waitMs = (db: Database) => Number(db.counts().cluster?.waitMs)
  await first.write([insertToken('a')])
  t.equal(waitMs(second), 0)
  await second.catchUp?.()
  const waited = waitMs(second)
  t.ok(waited > 0)
  await second.catchUp?.()
  t.equal(waitMs(second), waited)
})
