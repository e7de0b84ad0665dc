import t, { type Test } from 'tap'
import type { Database } from '../../../services/engine/database.ts'
import { serviceCaller } from '../../../services/model/caller.ts'
import type { Unit } from '../../../services/sql/statement.ts'
import { createTableService } from '../../../services/tables/tables.ts'
import { startServices } from '../services.ts'
import { createTokenService, noRoleNames } from '../token-service.ts'

const SCHEMA = `
  CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT, lives INTEGER);
  CREATE UNIQUE INDEX cat_names ON cats (name);
  INSERT INTO cats VALUES (1, 'Tom', 9)`

/** Another program changes the file between the checks of a change and its commit, once or each time. */
const start = async (t: Test) => {
  const { db, registry, external } = await startServices(t, SCHEMA)
  let pending: readonly string[] = []
  const write: Database['write'] = (unit: Unit) => {
    const [sql = '', ...rest] = pending
    pending = rest
    external.exec(sql)
    return db.write(unit)
  }
  const clock = Date.now
  const tokenNames = createTokenService({ db, clock }).names
  const tables = createTableService({
    db: { ...db, write },
    registry,
    clock,
    tokenNames,
    roleNames: noRoleNames,
    onBuildFailure: () => {}
  })
  const { id } = await tables.adoptTable(serviceCaller, 'cats')
  return {
    tables,
    registry,
    external,
    id,
    change: (field: string, sent: Parameters<typeof tables.changeField>[3]) =>
      tables.changeField(serviceCaller, id, field, sent),
    interrupt: (...sql: readonly string[]) => {
      pending = sql
    }
  }
}

t.test('a table that is gone, or lacks the field, is not changed', async (t) => {
  const { tables, registry, external, id, change } = await start(t)
  const gone = { code: 'STRUCTURE_CHANGED' }
  external.exec('ALTER TABLE cats DROP COLUMN lives')
  await t.rejects(change('lives', { defaultValue: 1 }), { ...gone, message: /'cats' does not have the field 'lives'/ })
  external.exec('DROP TABLE cats')
  await t.rejects(change('name', { defaultValue: 'x' }), gone)
  await registry.load()
  await t.rejects(change('name', { defaultValue: 'x' }), gone)
  await t.rejects(tables.update(serviceCaller, id, { name: 'dogs' }), gone)
  await t.rejects(tables.dropField(serviceCaller, id, 'name', true), gone)
  await t.rejects(tables.drop(serviceCaller, id, true), gone)
  external.exec(SCHEMA)
  await registry.load()
  await change('name', { defaultValue: 'x' })
})

t.test('a declaration that changes between the check and the commit is read again', async (t) => {
  const { external, change, interrupt } = await start(t)
  interrupt('CREATE INDEX cat_lives ON cats (lives)')
  const { structure } = await change('lives', { defaultValue: 7 })
  t.match(structure.columns[2], { defaultValue: 7, isIndexed: true })
  t.ok(external.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'cat_lives'").get())
})

t.test('a value that is written between the check and the commit is found by SQLite', async (t) => {
  const { change, interrupt, external } = await start(t)
  interrupt('INSERT INTO cats (id) VALUES (2)')
  await t.rejects(change('lives', { nullable: false }), { code: 'VALUES_DO_NOT_FIT', message: /^Stored values of/ })
  t.equal(external.prepare('SELECT count(*) FROM cats').pluck().get(), 2)
})

t.test('a foreign key that is declared between the check and the commit prevents a drop', async (t) => {
  const { tables, id, interrupt, external } = await start(t)
  await tables.createIndex(serviceCaller, id, { fields: ['lives'], isUnique: true })
  interrupt('CREATE TABLE toys (id INTEGER PRIMARY KEY, cat INTEGER REFERENCES cats (lives))')
  await t.rejects(tables.dropField(serviceCaller, id, 'lives', true), {
    code: 'STRUCTURE_IN_USE',
    message: /table 'toys'/
  })
  external.exec('DROP TABLE toys')
  interrupt('CREATE TABLE toys (id INTEGER PRIMARY KEY, cat INTEGER REFERENCES cats)')
  await t.rejects(tables.drop(serviceCaller, id, true), { code: 'STRUCTURE_IN_USE', message: /table 'toys'/ })
  external.exec('DROP TABLE toys')
  await tables.drop(serviceCaller, id, true)
})

t.test('a deletion is retried while other tables change, a limited number of times', async (t) => {
  const { tables, id, interrupt } = await start(t)
  const createIndex = async () => (await tables.createIndex(serviceCaller, id, { fields: ['lives'] })).name
  const otherTables = Array.from({ length: 40 }, (_, number) => `CREATE TABLE other_${number} (id INTEGER PRIMARY KEY)`)
  const name = await createIndex()
  interrupt(...otherTables.slice(0, 3))
  await tables.dropIndex(serviceCaller, id, name)
  t.strictSame(
    (await tables.listIndexes(id)).map(({ isOurs }) => isOurs),
    [false]
  )
  const next = await createIndex()
  interrupt(...otherTables.slice(3))
  await t.rejects(tables.dropIndex(serviceCaller, id, next), { code: 'TABLE_CHANGED' })
})

t.test('a table that is registered anew between the check and the commit is not dropped', async (t) => {
  const { tables, id, interrupt, external } = await start(t)
  interrupt('UPDATE _rowhouse_tables SET updated_at = updated_at + 1')
  await t.rejects(tables.drop(serviceCaller, id, true), { code: 'TABLE_CHANGED' })
  t.equal(external.prepare('SELECT count(*) FROM cats').pluck().get(), 1)
})

t.test('without a right to fields, a field refers only to its own table', async (t) => {
  const { tables } = await start(t)
  const declare = (name: string, table: string) =>
    tables.create(serviceCaller, {
      name,
      label: '',
      fields: [{ name: 'other', jsonType: 'integer', references: { table, field: 'id' } }]
    })
  await t.rejects(declare('refused', 'cats'), { code: 'VALIDATION_FAILED' })
  await declare('nodes', 'nodes')
})
