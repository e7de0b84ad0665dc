import t from 'tap'
import type { Database } from '../../../services/engine/database.ts'
import { serviceCaller } from '../../../services/model/caller.ts'
import { DomainError } from '../../../services/model/errors.ts'
import { createIndexes } from '../../../services/tables/indexes.ts'
import { rejection } from '../engine/engine.ts'
import { startServices } from '../services.ts'

t.test('a unique index that fails shows an example only if the search for it succeeds', async (t) => {
  const rows = "CREATE TABLE cats (name TEXT); INSERT INTO cats VALUES ('a'), ('a')"
  const { db, registry, tables } = await startServices(t, rows)
  const { id } = await tables.importTable(serviceCaller, 'cats')
  const createWith = (scan: Database['scan']) => {
    const { createIndex } = createIndexes({ db: { ...db, scan }, registry })
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
  const { tables, serve, db, records, views } = await startServices(
    t,
    'CREATE TABLE cats (name TEXT COLLATE NOCASE PRIMARY KEY, n INTEGER) WITHOUT ROWID'
  )
  const { id } = await serve('cats')
  const plans: string[] = []
  const before = tables.get(id)
  const steps = async () => {
    const view = views.administratorView(tables.get(id))
    plans.push(await records.list(serviceCaller, view, { order: 'n,name' }))
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
