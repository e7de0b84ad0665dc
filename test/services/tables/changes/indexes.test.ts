import t from 'tap'
import type { Database } from '../../../../services/engine/database.ts'
import { serviceCaller } from '../../../../services/model/caller.ts'
import { DomainError } from '../../../../services/model/errors.ts'
import { createIndexes } from '../../../../services/tables/changes/indexes.ts'
import { rejection } from '../../engine/engine.ts'
import { startServices } from '../../services.ts'

t.test('a unique index that fails shows an example only if the search for it succeeds', async (t) => {
  const rows = "CREATE TABLE cats (name TEXT); INSERT INTO cats VALUES ('a'), ('a')"
  const { db, registry, tables } = await startServices(t, rows)
  const { id } = await tables.adoptTable(serviceCaller, 'cats')
  const createWith = (scan: Database['scan']) => {
    const { createIndex } = createIndexes({
      db: { ...db, scan },
      registry,
      commit: (_caller, { unit }) => db.write(unit),
      commitTried: async () => {}
    })
    return rejection(createIndex(serviceCaller, id, { fields: ['name'], isUnique: true }))
  }
  const example = [{ path: '/fields', code: 'unique', message: "2 records have 'name' = 'a'." }]
  t.match(await createWith(db.scan), { code: 'UNIQUE_VIOLATION', details: example })
  t.match(await createWith(async () => []), { code: 'UNIQUE_VIOLATION', details: undefined })
  const failWith = (error: Error) => createWith(() => Promise.reject(error))
  const timeout = new DomainError('SCAN_TIMEOUT', 'It took too long.')
  t.match(await failWith(timeout), { code: 'UNIQUE_VIOLATION', details: undefined })
  t.match(await failWith(new Error('unknown')), { message: 'unknown' })
})

t.test('a table is replaced with the plans that are cached for it', async (t) => {
  const { tables, db } = await startServices(
    t,
    'CREATE TABLE cats (name TEXT COLLATE NOCASE PRIMARY KEY, n INTEGER) WITHOUT ROWID'
  )
  const { id } = await tables.adoptTable(serviceCaller, 'cats')
  const before = tables.get(id)
  const steps = async () => {
    const sql = 'SELECT "cats"."n" FROM "cats" ORDER BY "cats"."n"'
    return (await db.plan({ sql, params: [] })).join()
  }
  t.match(await steps(), /TEMP B-TREE/)
  const { name } = await tables.createIndex(serviceCaller, id, { fields: ['n'] })
  t.not(tables.get(id), before)
  t.match(await steps(), /USING COVERING INDEX/)
  await tables.dropIndex(serviceCaller, id, name)
  t.match(await steps(), /TEMP B-TREE/)
})

t.test('an index on an expression does not count as one on the field', async (t) => {
  const { tables } = await startServices(
    t,
    'CREATE TABLE cats (name TEXT); CREATE INDEX lower_name ON cats (lower(name))'
  )
  const { id } = await tables.adoptTable(serviceCaller, 'cats')
  t.match(await tables.createIndex(serviceCaller, id, { fields: ['name'] }), { fields: ['name'], isOurs: true })
  t.match(await tables.listIndexes(id), [{ isOurs: true }, { name: 'lower_name', fields: [], hasExpressions: true }])
})

t.test('records of a table without a rowid that are the same are found', async (t) => {
  const rows = 'CREATE TABLE cats (id PRIMARY KEY, n INTEGER) WITHOUT ROWID; INSERT INTO cats VALUES (1, 7), (2, 7)'
  const { tables } = await startServices(t, rows)
  const { id } = await tables.adoptTable(serviceCaller, 'cats')
  const error = await rejection(tables.createIndex(serviceCaller, id, { fields: ['n'], isUnique: true }))
  t.match(error, { code: 'UNIQUE_VIOLATION', details: [{ message: "2 records have 'n' = '7'." }] })
})

t.test('an outdated table gets no index', async (t) => {
  const { tables, registry, external } = await startServices(t, 'CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT)')
  const { id } = await tables.adoptTable(serviceCaller, 'cats')
  external.exec('DROP TABLE cats')
  await registry.load()
  const error = await rejection(tables.createIndex(serviceCaller, id, { fields: ['name'] }))
  t.match(error, { code: 'STRUCTURE_CHANGED', message: "The stored table 'cats' does not exist" })
})
