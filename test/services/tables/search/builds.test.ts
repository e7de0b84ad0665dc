import t, { type Test } from 'tap'
import type { Database } from '../../../../services/engine/database.ts'
import { serviceCaller } from '../../../../services/model/caller.ts'
import { DomainError } from '../../../../services/model/errors.ts'
import type { RegisteredTable } from '../../../../services/model/table.ts'
import { createTableRegistry } from '../../../../services/tables/registry/registry.ts'
import { createTableService } from '../../../../services/tables/tables.ts'
import { startServices } from '../../services.ts'
import { createTokenService, noRoleNames } from '../../token-service.ts'

const LAST_KEY = '9223372036854775807'

const start = async (t: Test, sql: string, change: (db: Database) => Partial<Database> = () => ({})) => {
  const { db, external } = await startServices(t, sql)
  const registry = createTableRegistry(db)
  await registry.load()
  const failures: unknown[] = []
  const tables = createTableService({
    db: { ...db, ...change(db) },
    registry,
    clock: Date.now,
    tokenNames: createTokenService({ db, clock: Date.now }).names,
    roleNames: noRoleNames,
    onBuildFailure: (table, error) => failures.push([table, (error as Error).message])
  })
  t.teardown(tables.builds.stop)
  const { id } = await tables.adoptTable(serviceCaller, 'items')
  const isBuilding = () => (registry.get(id) as RegisteredTable).searchIndex.state === 'building'
  const untilBuilt = async () => {
    while (isBuilding()) await new Promise((resolve) => setTimeout(resolve, 10))
    return (registry.get(id) as RegisteredTable).searchIndex
  }
  const switchOn = () => tables.update(serviceCaller, id, { searchIndex: true })
  return { db, external, registry, tables, id, failures, switchOn, untilBuilt }
}

const insert = (keys: readonly (string | number)[], text: string) =>
  `CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT);
   ${keys.map((key) => `INSERT INTO items VALUES (${key}, ${text});`).join('\n')}`

t.test('the minimum and the maximum key are indexed', async (t) => {
  const { switchOn, untilBuilt } = await start(t, insert(['-9223372036854775808', 0, LAST_KEY], "'tuba'"))
  await switchOn()
  t.match(await untilBuilt(), { state: 'ready', indexed: 3, total: 3 })
})

t.test('a step has few bytes, or one row', async (t) => {
  const lengths: unknown[] = []
  const { switchOn, untilBuilt } = await start(t, insert([1, 2, 3, 4], "printf('%.*c', 40000, 'x')"), ({ scan }) => ({
    scan: async (...args) => {
      const rows = await scan(...args)
      if (/OVER/.test(args[0].sql)) lengths.push(rows[0]?.rows)
      return rows
    }
  }))
  await switchOn()
  t.match(await untilBuilt(), { state: 'ready', indexed: 4 })
  t.strictSame(lengths, [2, 2, 0])
})

t.test('a step that fails is reported once and retried', async (t) => {
  let fails = 2
  const { failures, switchOn, untilBuilt } = await start(t, insert([1], "'tuba'"), ({ scan }) => ({
    scan: async (...args) => {
      if (!/OVER/.test(args[0].sql) || fails === 0) return scan(...args)
      fails -= 1
      throw new DomainError('DATABASE_BUSY', 'Another program has locked the database. Try again.')
    }
  }))
  await switchOn()
  t.match(await untilBuilt(), { state: 'ready', indexed: 1 })
  t.strictSame(failures, [['items', 'Another program has locked the database. Try again.']])
})

t.test('a failing build does not delay the end of the service', async (t) => {
  const { failures, tables, switchOn } = await start(t, insert([1], "'tuba'"), () => ({
    scan: async () => {
      throw new DomainError('STRUCTURE_CHANGED', 'The stored table has changed.')
    }
  }))
  await switchOn()
  while (failures.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await tables.builds.stop()
  t.equal((await switchOn()).table.searchIndex.state, 'building')
})

t.test('a column that another program renames during a build ends it', async (t) => {
  const { external, failures, switchOn, untilBuilt } = await start(t, insert([1], "'tuba'"), ({ scan }) => ({
    scan: async (...args) => {
      if (/OVER/.test(args[0].sql)) external.exec('ALTER TABLE items RENAME COLUMN name TO title')
      return scan(...args)
    }
  }))
  await switchOn()
  t.equal((await untilBuilt()).state, 'outdated')
  t.strictSame(failures, [])
})

t.test('one build runs after the other', async (t) => {
  const { tables, registry, switchOn, untilBuilt } = await start(
    t,
    `${insert([1], "'tuba'")} CREATE TABLE others (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO others VALUES (1, 'oboe');`
  )
  const { id } = await tables.adoptTable(serviceCaller, 'others')
  await Promise.all([switchOn(), tables.update(serviceCaller, id, { searchIndex: true })])
  await untilBuilt()
  while (registry.get(id).searchIndex.state === 'building') await new Promise((resolve) => setTimeout(resolve, 10))
  t.match(registry.get(id).searchIndex, { state: 'ready', indexed: 1 })
})
