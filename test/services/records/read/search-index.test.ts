import t, { type Test } from 'tap'
import type { Database } from '../../../../services/engine/database.ts'
import { serviceCaller } from '../../../../services/model/caller.ts'
import { DomainError } from '../../../../services/model/errors.ts'
import { createAccessOf } from '../../../../services/records/access/access-of.ts'
import { createSearch } from '../../../../services/records/read/search.ts'
import { selectionOf } from '../../../../services/records/read/selection.ts'
import { countRows } from '../../../../services/sql/selections.ts'
import { rejection } from '../../engine/engine.ts'
import { startServices } from '../../services.ts'

const SCHEMA = `CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO items (name) VALUES ('tuba'), ('oboe')`

type Fail = (sql: string) => Error | undefined

const start = async (t: Test) => {
  const { db, tables, registry, totals } = await startServices(t, SCHEMA)
  t.teardown(tables.builds.stop)
  const { id } = await tables.adoptTable(serviceCaller, 'items')
  await tables.update(serviceCaller, id, { searchIndex: true })
  while (registry.get(id).searchIndex.state === 'building') await new Promise((resolve) => setTimeout(resolve, 10))
  const count = async (fail: Fail = () => undefined) => {
    const reads: string[] = []
    const scan: Database['scan'] = async (...args) => {
      const { sql } = args[0]
      const error = fail(sql)
      if (error) throw error
      reads.push(/AS declared/.test(sql) ? 'candidates' : /MATCH/.test(sql) ? 'index' : 'scan')
      return db.scan(...args)
    }
    const failing = { ...db, scan }
    const access = createAccessOf(db.dialect, () => null)(serviceCaller, registry.get(id), [])
    const selection = selectionOf(access, { q: 'tuba' }, { mayRead: () => true, accessTo: () => undefined })
    const [row] = await createSearch(failing, totals)(serviceCaller, selection, (rows) =>
      scan(countRows(rows), serviceCaller)
    )
    return { total: row?.total, reads }
  }
  return { count }
}

const isCandidates = (sql: string) => /AS declared/.test(sql)
const isIndexed = (sql: string) => /IN \(SELECT rowid/.test(sql)
const changed = new DomainError('STRUCTURE_CHANGED', 'The stored table has changed.')
const slow = new DomainError('SCAN_TIMEOUT', 'The search took too long.')

t.test('a search counts the candidates, then reads them', async (t) => {
  const { count } = await start(t)
  t.strictSame(await count(), { total: 1, reads: ['candidates', 'index'] })
})

t.test('an index that cannot be read is not used', async (t) => {
  const { count } = await start(t)
  for (const error of [changed, new Error('database disk image is malformed')]) {
    t.strictSame(await count((sql) => (isCandidates(sql) ? error : undefined)), { total: 1, reads: ['scan'] })
    t.strictSame(await count((sql) => (isIndexed(sql) ? error : undefined)), {
      total: 1,
      reads: ['candidates', 'scan']
    })
  }
})

t.test('other errors are those of the search', async (t) => {
  const { count } = await start(t)
  t.match(await rejection(count((sql) => (isCandidates(sql) ? slow : undefined))), { code: 'SCAN_TIMEOUT' })
  t.match(await rejection(count((sql) => (isIndexed(sql) ? slow : undefined))), { code: 'SCAN_TIMEOUT' })
})
