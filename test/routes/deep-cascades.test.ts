import t from 'tap'
import { asAdmin, asToken, createDatabase, dataOf, expectError, importTable, startApp } from '../helpers.ts'

const file = createDatabase(
  t,
  `CREATE TABLE tree (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES tree ON DELETE CASCADE);
   CREATE INDEX tree_parent ON tree (parent);
   WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
   INSERT INTO tree SELECT i, nullif(i - 1, 0) FROM n;`
)

t.test('a delete that cascades through too many levels is refused', async (t) => {
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  await importTable(admin, 'tree')
  const token = await asToken(app, admin)
  const refused = await token.delete('/data/tree/records/1')
  expectError(t, refused, 400, 'CONSTRAINT_VIOLATION')
  t.match(refused.json().error.message, /more than 1,000 levels/)
  t.equal(dataOf(await token.get('/data/tree?size=1')).total, 1500)
  dataOf(await token.delete('/data/tree/records/1000'))
  dataOf(await token.delete('/data/tree/records/1'))
  t.equal(dataOf(await token.get('/data/tree?size=1')).total, 0)
})
