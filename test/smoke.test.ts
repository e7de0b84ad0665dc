import { mkdtempSync } from 'node:fs'
import t from 'tap'
import { openDatabase } from '../services/database/open.ts'
t.test('engine', async (t) => {
  const dir = mkdtempSync('/tmp/rh-')
  const db = await openDatabase({ file: `${dir}/a.db`, cacheSize: 16, isQuiet: () => false, onDeath: (e) => t.fail(String(e)) })
  await db.write([{ sql: 'create table x(a integer primary key, b text) strict', params: [] }])
  const r = await Promise.all(Array.from({ length: 5 }, (_, i) => db.write([{ sql: 'insert into x(b) values (?) returning a', params: [`n${i}`] }])))
  t.same(r[4], [{ changes: 1, rows: [{ a: 5 }] }])
  await t.rejects(db.write([{ sql: 'insert into x values (1, 2)', params: [] }]), { code: 'UNIQUE_VIOLATION' })
  t.same(await db.scan({ sql: 'select count(*) n from x where alive()', params: [] }), [{ n: 5 }])
  const h = await db.holdReader()
  await h.scan({ sql: 'create temp table k as select a from x order by b desc', params: [] })
  t.same(await h.scan({ sql: 'select * from k where rowid>3', params: [] }), [{ a: 2 }, { a: 1 }])
  await h.release()
  t.equal(await db.readText({ sql: 'select json_group_array(b) from x', params: [] }), '["n0","n1","n2","n3","n4"]')
  await t.rejects(openDatabase({ file: `${dir}/a.db`, cacheSize: 16, isQuiet: () => false, onDeath: () => {} }), /Another Rowhouse/)
  await db.close()
})
