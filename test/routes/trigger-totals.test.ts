import t from 'tap'
import { asAdmin, asToken, createDatabase, dataOf, importTable, startApp } from '../helpers.ts'
import { openServed } from '../served.ts'

/** More rows than the event loop counts. */
const ROWS = 3000

const TABLES = ['big', 'audited', 'log', 'quoted', 'child', 'skipped']

const SCHEMA = `
  CREATE TABLE ids (id INTEGER PRIMARY KEY);
  WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT ${ROWS}) INSERT INTO ids SELECT i FROM c;
  ${TABLES.filter((name) => name !== 'child')
    .map((name) => `CREATE TABLE ${name} (id INTEGER PRIMARY KEY); INSERT INTO ${name} SELECT id FROM ids;`)
    .join('\n')}
  CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES log (id) ON DELETE CASCADE);
  INSERT INTO child SELECT id, id FROM ids;
  CREATE TRIGGER a AFTER INSERT ON audited BEGIN INSERT INTO log VALUES (NULL); END;
  CREATE TRIGGER b AFTER UPDATE OF id ON ids BEGIN DELETE FROM 'quoted' WHERE id = new.id; SELECT 1 FROM big; END;
  CREATE TRIGGER c BEFORE INSERT ON skipped WHEN new.id < 0 BEGIN SELECT RAISE(IGNORE); END;`

t.test('only tables that a trigger can reach are counted for each list', async (t) => {
  const file = createDatabase(t, SCHEMA)
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  for (const name of TABLES) await importTable(admin, name)
  const token = await asToken(app, admin)
  const { scan } = app.database
  let scans = 0
  app.database.scan = (...args) => {
    scans += 1
    return scan(...args)
  }
  const countsAgain = async (name: string) => {
    t.equal(dataOf(await token.get(`/data/${name}`)).total, ROWS)
    scans = 0
    t.equal(dataOf(await token.get(`/data/${name}`)).total, ROWS)
    return scans > 0
  }
  for (const name of ['big', 'audited']) t.equal(await countsAgain(name), false, name)
  for (const name of ['log', 'quoted', 'child', 'skipped']) t.equal(await countsAgain(name), true, name)

  await token.post('/data/audited/records', {})
  t.equal(dataOf(await token.get('/data/audited')).total, ROWS + 1)
  t.equal(dataOf(await token.get('/data/log')).total, ROWS + 1)
  await token.post('/data/big/records', {})
  t.equal(dataOf(await token.get('/data/big')).total, ROWS + 1)
})

t.test('a table that was empty shows the records of another program at once', async (t) => {
  const file = createDatabase(t, 'CREATE TABLE empty (id INTEGER PRIMARY KEY)')
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  await importTable(admin, 'empty')
  const other = openServed(t, file)
  const { rows, total } = dataOf(await admin.get('/admin/tables/1/data'))
  t.same([rows, total], [[], 0])
  other.exec('INSERT INTO empty VALUES (7)')
  t.same(dataOf(await admin.get('/admin/tables/1/data')).rows, [{ id: 7 }])
})
