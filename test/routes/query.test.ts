import t from 'tap'
import { asAdmin, asToken, createDatabase, dataOf, expectError, importTable, startApp } from '../helpers.ts'

const file = createDatabase(
  t,
  `CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price REAL, color TEXT COLLATE NOCASE, stock INTEGER, secret TEXT);
   CREATE INDEX items_color ON items (color);
   CREATE INDEX items_price ON items (price DESC);
   WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
   INSERT INTO items SELECT i, 'Item ' || i, CASE WHEN i % 7 = 0 THEN NULL ELSE i % 10 * 1.5 END,
     CASE i % 3 WHEN 0 THEN 'red' WHEN 1 THEN 'Blue' END, i % 5, 'x' FROM n;
   CREATE TABLE pairs (a TEXT, b INTEGER, n, PRIMARY KEY (a, b)) WITHOUT ROWID;
   INSERT INTO pairs SELECT char(97 + id % 4), id, id FROM items;
   CREATE TABLE keyless (n INTEGER, t TEXT);
   INSERT INTO keyless SELECT stock, color FROM items;`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
for (const name of ['items', 'pairs']) await importTable(admin, name)
const token = await asToken(app, admin)
const ids = (response: { body: string }) => dataOf(response as never).rows.map(({ id }: { id: number }) => id)

t.test('a query', async (t) => {
  const query = (body: object) => token.post('/data/items/query', body)
  t.same(ids(await query({ filter: { where: { color: { eq: 'blue' } } }, size: 3 })), [1, 4, 7])
  const pages: number[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const data = dataOf(await query({ order: '-price,name', size: 7, cursor, fields: ['name'] }))
    pages.push(...data.rows.map((row: { id: number }) => row.id))
    cursor = data.next
  }
  t.same(pages, ids(await token.get('/data/items?order=-price,name&size=50')))
  t.match(dataOf(await query({ size: 1, fields: ['color'], total: true })), {
    total: 50,
    rows: [{ id: 1, color: 'Blue' }]
  })
  expectError(t, await query({ filter: { where: { colr: { eq: 1 } } } }), 400, 'VALIDATION_FAILED')
})
