import t from 'tap'
import { serviceCaller } from '../../../../services/model/caller.ts'
import { rejection, sql } from '../engine.ts'
import { startEngine } from './engine.ts'

const SCHEMA = `
  CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER);
  CREATE VIEW doubled AS SELECT n * 2 AS n FROM t;
  INSERT INTO t VALUES (1, 10), (2, 20);`

t.test('scans, plans and sizes are those of the cluster', async (t) => {
  const { db } = await startEngine(t, SCHEMA)
  const chunk = db.chunkScan(serviceCaller)
  t.strictSame(await chunk(sql('SELECT n FROM t ORDER BY id')), { n: 10 })
  t.match(await db.plan(sql('SELECT n FROM t WHERE id = ?', 1n)), [/PRIMARY KEY/])
  t.ok((await db.fileSizes()).database > 4096)
  t.equal(db.replication?.evaluate('? + 1', [2n]), 3)
})

t.test('rows are collected for several statements, of tables and of views', async (t) => {
  const { db } = await startEngine(t, SCHEMA)
  for (const [scans, table] of [
    [db, 't'],
    [db.viewScans, 'doubled']
  ] as const) {
    const reader = await scans.holdReader(serviceCaller)
    t.equal(await reader.collect(sql(`SELECT n FROM ${table}`), 1), 2)
    t.equal(db.counts().heldReaders, table === 't' ? 1 : 0)
    await reader.release()
  }
})

t.test('each batch is reported, and counted', async (t) => {
  const { db } = await startEngine(t, SCHEMA)
  const batches: number[] = []
  db.onWriteBatch(({ units }) => batches.push(units))
  await db.write([sql('DELETE FROM t')])
  t.strictSame(batches, [1])
  t.match(db.counts(), { writes: { pending: 0, pendingSize: 0, refused: 0 }, cluster: { retries: 0, reloads: 0 } })
})

t.test('backups are those of rqlite', async (t) => {
  const { db } = await startEngine(t)
  for (const refused of [db.backups.copy('file', () => {}), db.backups.check('file')])
    t.match(await rejection(refused), { code: 'NOT_ON_CLUSTER', hint: /docs\/guides\/cluster\.md/ })
})

t.test('a service without a listener reads nothing again', async (t) => {
  const { db, fake } = await startEngine(t)
  fake.execute("UPDATE _rowhouse_state SET value = value + 1 WHERE name = 'epoch'")
  await db.catchUp?.()
  await db.close()
  await db.close()
  t.match(await rejection(db.write([sql('SELECT 1')])), { message: /stop/ })
})
