import t from 'tap'
import { serviceCaller } from '../../../../services/model/caller.ts'
import type { Row } from '../../../../services/model/sql-value.ts'
import { createTableService } from '../../../../services/tables/tables.ts'
import { rejection } from '../../engine/engine.ts'
import { startServices } from '../../services.ts'
import { createTokenService, noRoleNames } from '../../token-service.ts'

const numbers = (count: number) =>
  `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n`

const SCHEMA = `
  CREATE TABLE exact (id INTEGER PRIMARY KEY); INSERT INTO exact ${numbers(9999)};
  CREATE TABLE dense (a TEXT); INSERT INTO dense ${numbers(30_000)};
  CREATE TABLE sparse (id INTEGER PRIMARY KEY); INSERT INTO sparse SELECT i * 1000 FROM (${numbers(20_000)});
  CREATE TABLE random (id INTEGER PRIMARY KEY); INSERT INTO random SELECT random() FROM (${numbers(40_000)});
  CREATE TABLE uneven (id INTEGER PRIMARY KEY); INSERT INTO uneven ${numbers(10_000)};
  INSERT INTO uneven VALUES (9223372036854775807);
  CREATE TABLE keyed (code PRIMARY KEY) WITHOUT ROWID; INSERT INTO keyed ${numbers(12_000)};
  CREATE TABLE empty (a)`

t.test('rows are exact below 10,000, and an estimate from the rowids beyond', async (t) => {
  const { tables } = await startServices(t, SCHEMA)
  const rows = new Map((await tables.listAdoptable(serviceCaller)).map((table) => [table.name, Number(table.rows)]))
  t.match(Object.fromEntries(rows), { empty: 0, exact: 9999, dense: 30_000, keyed: 10_000 })
  t.equal(rows.get('uneven'), Number.MAX_SAFE_INTEGER, 'one key far from the others')
  for (const [name, expected] of [
    ['sparse', 20_000],
    ['random', 40_000]
  ] as const) {
    const ratio = Number(rows.get(name)) / expected
    t.ok(ratio > 0.9 && ratio < 1.1, `${name}: ${rows.get(name)}`)
  }
})

t.test('a table that is dropped while the list is made has no number of rows', async (t) => {
  const { db, registry, external } = await startServices(
    t,
    'CREATE TABLE a (x); CREATE TABLE b (x); INSERT INTO b VALUES (1)'
  )
  const withFailure = (scan: typeof db.scan) =>
    createTableService({
      db: { ...db, scan },
      registry,
      clock: Date.now,
      tokenNames: createTokenService({ db, clock: Date.now }).names,
      roleNames: noRoleNames,
      onBuildFailure: () => {}
    }).listAdoptable(serviceCaller)
  const listed = await withFailure(async (...args): Promise<readonly Row[]> => {
    const found = await db.scan(...args)
    external.exec('DROP TABLE IF EXISTS a')
    return found
  })
  t.match(listed, [
    { name: 'a', rows: null },
    { name: 'b', rows: 1 }
  ])
  let scans = 0
  const failing = withFailure(async (...args) => {
    scans += 1
    if (scans > 1) throw new Error('broken')
    return db.scan(...args)
  })
  t.match(await rejection(failing), { message: 'broken' })
})
