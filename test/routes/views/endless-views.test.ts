import t from 'tap'
import type { Database } from '../../../services/engine/database.ts'
import { createViewScans } from '../../../services/engine/loop/view-scans.ts'
import { asAdmin, asToken, createDatabase, dataOf, expectError, importTable, startApp } from '../../helpers.ts'

/** SQLite never returns a row of `cross_join`, nor the count of `recursive`. */
const file = createDatabase(
  t,
  `CREATE TABLE n (i INTEGER PRIMARY KEY);
   WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 5000) INSERT INTO n SELECT i FROM c;
   CREATE VIEW cross_join AS SELECT a.i FROM n AS a, n AS b, n AS c, n AS d WHERE a.i + b.i + c.i + d.i < 0;
   CREATE VIEW recursive AS WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c;
   CREATE VIEW other AS SELECT i FROM n WHERE i <= 2`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const token = await asToken(app, admin)
const reader = await asToken(app, admin)
for (const name of ['cross_join', 'recursive', 'other', 'n']) await importTable(admin, name)

/** Replaces the view scans of the app by some with a short time limit. The services read the property for each statement. */
const viewScans = createViewScans({ file, cacheSize: 2, limit: 400 })
t.teardown(() => viewScans.close())
;(app.database as { viewScans: Database['viewScans'] }).viewScans = viewScans

const requests = {
  'a list': () => token.get('/data/recursive'),
  'a list of a view without rows': () => token.get('/data/cross_join?total=false'),
  'a query': () => token.post('/data/cross_join/query', {}),
  'an aggregate': () => token.post('/data/recursive/aggregate', { compute: { n: { count: true } } }),
  'an export': () => token.get('/data/cross_join/export'),
  'a key': async () => {
    const { id } = (dataOf(await admin.get('/admin/tables')) as { id: number; name: string }[]).find(
      ({ name }) => name === 'recursive'
    ) as { id: number }
    await admin.delete(`/admin/tables/${id}?confirm=true`)
    const response = await admin.post('/admin/tables/import', { name: 'recursive', primaryKey: ['i'] })
    await importTable(admin, 'recursive')
    return response
  }
}

for (const [name, request] of Object.entries(requests)) {
  t.test(`${name} that takes too long is stopped, and other requests go on`, async (t) => {
    const endless = request()
    for (let count = 0; count < 3; count += 1) {
      t.equal(dataOf(await reader.get('/data/n?size=1')).total, 5000)
      t.strictSame(dataOf(await reader.get('/data/other')).rows, [{ i: 1 }, { i: 2 }])
    }
    // Only one export of a view runs at a time.
    if (name !== 'an export') t.equal((await reader.get('/data/other/export')).statusCode, 200)
    expectError(t, await endless, 503, 'SCAN_TIMEOUT')
    t.equal(dataOf(await reader.get('/data/other')).total, 2)
  })
}
