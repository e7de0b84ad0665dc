import t, { type Test } from 'tap'
import type { Table } from '../../../schemas/table.ts'
import {
  asAdmin,
  asToken,
  createDatabase,
  dataOf,
  expectDone,
  expectError,
  importTable,
  startApp
} from '../../helpers.ts'
import { openServed } from '../../served.ts'

/** A shop that rents films: full texts kept by triggers, a log, and views over views. */
const SHOP = `
  CREATE TABLE film (id INTEGER PRIMARY KEY, title TEXT NOT NULL, plot TEXT, rate NUMERIC, spare TEXT, changed INTEGER);
  CREATE TABLE film_text (film_id INTEGER PRIMARY KEY, title TEXT, plot TEXT);
  CREATE TRIGGER film_added AFTER INSERT ON film BEGIN
    INSERT INTO film_text (film_id, title, plot) VALUES (new.id, new.title, new.plot);
  END;
  CREATE TRIGGER film_changed AFTER UPDATE OF title ON film BEGIN
    UPDATE film_text SET title = new.title WHERE film_id = new.id;
  END;
  CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, points INTEGER DEFAULT 0, mail TEXT);
  CREATE TABLE rental (id INTEGER PRIMARY KEY, film INTEGER REFERENCES film, customer INTEGER REFERENCES customer, day TEXT);
  CREATE TABLE visits (name TEXT PRIMARY KEY, times INTEGER, last TEXT);
  CREATE TRIGGER rented AFTER INSERT ON rental BEGIN
    UPDATE customer SET points = points + 1 WHERE id = new.customer;
    INSERT INTO visits (name, times) VALUES (new.customer, 1) ON CONFLICT (name) DO UPDATE SET times = times + 1;
  END;
  CREATE TRIGGER last_seen AFTER UPDATE OF points ON customer BEGIN SELECT 1; END;
  CREATE INDEX rental_days ON rental (day);
  CREATE VIEW rented_films AS SELECT film.title, rental.day FROM rental JOIN film ON film.id = rental.film;
  CREATE VIEW film_days AS SELECT title, count(*) AS days FROM rented_films GROUP BY title;
  CREATE VIEW people AS SELECT * FROM customer;
  CREATE TRIGGER person_added INSTEAD OF INSERT ON people BEGIN INSERT INTO customer (name) VALUES (new.name); END;
  INSERT INTO film VALUES (1, 'Alien', 'In space', 2.5, 'x', 0);
  INSERT INTO customer (id, name) VALUES (1, 'Ann');
`

const start = async (t: Test, sql = SHOP) => {
  const file = createDatabase(t, sql)
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  const db = openServed(t, file)
  const table = (name: string) => importTable(admin, name)
  const path = ({ id }: Table, field: string) => `/admin/tables/${id}/fields/${field}`
  return {
    app,
    admin,
    db,
    table,
    drop: (of: Table, field: string) => admin.delete(`${path(of, field)}?confirm=true`),
    change: (of: Table, field: string, body: object) => admin.put(path(of, field), body),
    add: (of: Table, field: object) => admin.post(`/admin/tables/${of.id}/fields`, { field }),
    rename: ({ id }: Table, name: string) => admin.put(`/admin/tables/${id}`, { name }),
    dropTable: ({ id }: Table) => admin.delete(`/admin/tables/${id}?confirm=true&drop=true`),
    schema: () => db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2').all()
  }
}

type Response = Awaited<ReturnType<Awaited<ReturnType<typeof start>>['drop']>>

/** `named`: the objects in the message, such as "trigger 'a'". */
const expectNamed = (t: Test, response: Response, named: readonly string[]) => {
  expectError(t, response, 409, 'STRUCTURE_IN_USE')
  const { message, details } = response.json().error
  for (const object of named) {
    t.ok(message.includes(`the ${object}`), message)
    t.ok(JSON.stringify(details).includes(`The ${object}`), `details have ${object}`)
  }
  t.equal(details.length, named.length, JSON.stringify(details))
}

t.test('a field that a trigger writes is not dropped', async (t) => {
  const { table, drop, schema, db, admin } = await start(t)
  const [film, filmText, customer, visits] = [
    await table('film'),
    await table('film_text'),
    await table('customer'),
    await table('visits')
  ]
  const before = schema()
  expectNamed(t, await drop(filmText, 'title'), ["trigger 'film_added'", "trigger 'film_changed'"])
  expectNamed(t, await drop(filmText, 'plot'), ["trigger 'film_added'"])
  expectNamed(t, await drop(customer, 'points'), ["trigger 'rented'", "trigger 'last_seen'"])
  expectNamed(t, await drop(visits, 'times'), ["trigger 'rented'"])
  expectNamed(t, await drop(film, 'plot'), ["trigger 'film_added'"])
  t.strictSame(schema(), before)
  dataOf(await admin.post(`/admin/tables/${film.id}/data`, { title: 'Brazil', plot: 'Ducts' }))
  t.equal(db.prepare("SELECT plot FROM film_text WHERE title = 'Brazil'").pluck().get(), 'Ducts')

  for (const [of, field] of [
    [film, 'spare'],
    [customer, 'mail'],
    [visits, 'last']
  ] as const) {
    dataOf(await drop(of, field))
  }
  dataOf(await admin.put(`/admin/tables/${film.id}/data/1`, { title: 'Aliens' }))
  const rental = await table('rental')
  for (let rents = 0; rents < 2; rents += 1) {
    dataOf(await admin.post(`/admin/tables/${rental.id}/data`, { film: 2, customer: 1 }))
  }
  t.equal(db.prepare('SELECT times FROM visits').pluck().get(), 2)
})

t.test('views, foreign keys and indexes that need a field or a table are named, all of them', async (t) => {
  const { table, drop, dropTable, admin } = await start(t)
  const [film, rental, customer] = [await table('film'), await table('rental'), await table('customer')]
  const views = ["view 'rented_films'", "view 'film_days'"]
  expectNamed(t, await drop(film, 'title'), ["trigger 'film_added'", "trigger 'film_changed'", ...views])
  expectNamed(t, await drop(rental, 'day'), ["index 'rental_days'", ...views])
  expectNamed(t, await dropTable(rental), views)
  expectNamed(t, await dropTable(film), ["table 'rental'", "trigger 'rented'", ...views])
  expectNamed(t, await dropTable(customer), [
    "table 'rental'",
    "view 'people'",
    "trigger 'rented'",
    "trigger 'person_added'"
  ])
  expectNamed(t, await dropTable(await table('visits')), ["trigger 'rented'"])
  const text = await table('film_text')
  dataOf(await admin.put(`/admin/tables/${text.id}`, { searchIndex: true }))
  expectNamed(t, await drop(text, 'plot'), ["trigger 'film_added'"])
})

t.test('a new field, and an index that is dropped, do not break what another program declared', async (t) => {
  const { table, add, admin, db } = await start(
    t,
    `CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT);
     CREATE TABLE b (id INTEGER PRIMARY KEY, y TEXT);
     CREATE TABLE counts (id INTEGER PRIMARY KEY, word TEXT, n INTEGER);
     CREATE VIEW both AS SELECT * FROM a UNION SELECT * FROM b;
     CREATE VIEW joined AS SELECT x, y FROM a JOIN b USING (id)`
  )
  const [a, counts] = [await table('a'), await table('counts')]
  expectNamed(t, await add(a, { name: 'y', jsonType: 'string' }), ["view 'both'", "view 'joined'"])
  dataOf(await add(counts, { name: 'z', jsonType: 'string' }))
  const indexes = `/admin/tables/${counts.id}/indexes`
  const index = dataOf(await admin.post(indexes, { fields: ['word'], isUnique: true }))
  const other = dataOf(await admin.post(indexes, { fields: ['z'] }))
  db.exec(`CREATE TRIGGER counted AFTER INSERT ON a BEGIN
    INSERT INTO counts (word, n) VALUES (new.x, 1) ON CONFLICT (word) DO UPDATE SET n = n + 1; END`)
  expectNamed(t, await admin.delete(`${indexes}/${index.name}`), ["trigger 'counted'"])
  expectDone(t, await admin.delete(`${indexes}/${other.name}`))
  db.exec('DROP TRIGGER counted')
  expectDone(t, await admin.delete(`${indexes}/${index.name}`))
})

t.test('what was broken before does not prevent a change, and stays as it is', async (t) => {
  const { table, drop, change, rename, dropTable, db, admin } = await start(
    t,
    `${SHOP} CREATE VIEW broken AS SELECT gone.x FROM gone;
     CREATE VIEW broken_too AS SELECT film.missing FROM film;
     CREATE TRIGGER broken_trigger AFTER DELETE ON film_text BEGIN DELETE FROM gone WHERE y = old.plot; END`
  )
  const declared = () =>
    db.prepare("SELECT sql FROM sqlite_schema WHERE name LIKE 'broken%' ORDER BY name").pluck().all()
  const before = declared()
  const film = await table('film')
  dataOf(await change(film, 'rate', { name: 'price' }))
  dataOf(await change(film, 'price', { jsonType: 'string' }))
  expectNamed(t, await change(film, 'title', { name: 'name' }), ["view 'film_days'"])
  dataOf(await drop(film, 'spare'))
  expectNamed(t, await drop(film, 'plot'), ["trigger 'film_added'"])
  dataOf(await rename(await table('visits'), 'calls'))
  t.strictSame(declared(), before)
  t.match(db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'rented'").pluck().get(), /INSERT INTO "calls"/)
  dataOf(await admin.post(`/admin/tables/${film.id}/data`, { title: 'Brazil' }))
  expectNamed(t, await dropTable(await table('customer')), [
    "table 'rental'",
    "view 'people'",
    "trigger 'rented'",
    "trigger 'person_added'"
  ])
  const lonely = dataOf(
    await admin.post('/admin/tables', { name: 'lonely', label: '', fields: [{ name: 'a', jsonType: 'string' }] })
  )
  expectDone(t, await dropTable(lonely))
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok')
})

t.test('a rename renames the fields of registered views, which stay hidden', async (t) => {
  const { table, change, drop, admin } = await start(t)
  const customer = await table('customer')
  const people = dataOf(
    await admin.post('/admin/tables/import', {
      name: 'people',
      primaryKey: ['id'],
      fields: [{ name: 'mail', isHidden: true, label: 'Mail' }]
    })
  ) as Table
  dataOf(await change(customer, 'mail', { name: 'address' }))
  dataOf(await change(customer, 'id', { name: 'number' }))
  const view = async () => dataOf(await admin.get(`/admin/tables/${people.id}`)) as Table
  const renamed = await view()
  t.equal(renamed.primaryKey, 'number')
  t.match(
    renamed.fields.find(({ name }) => name === 'address'),
    { isHidden: true, label: 'Mail', clientName: 'Mail' }
  )
  t.match(dataOf(await admin.get(`/admin/tables/${people.id}/data`)).rows, [{ number: 1, name: 'Ann', address: null }])
  dataOf(await drop(customer, 'address'))
  t.notOk((await view()).fields.some(({ name }) => name === 'address'))
  t.strictSame(dataOf(await admin.get(`/admin/tables/${people.id}/data`)).rows, [{ number: 1, name: 'Ann', points: 0 }])
})

t.test('virtual tables and tables without a rowid do not prevent a change', async (t) => {
  const { table, drop, change, db } = await start(
    t,
    `${SHOP} CREATE VIRTUAL TABLE words USING fts5 (plot, content = 'film', content_rowid = 'id');
     CREATE VIRTUAL TABLE places USING rtree (id, low, high);
     CREATE TABLE pairs (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID;
     CREATE VIEW found AS SELECT pairs.a FROM words JOIN pairs ON pairs.b = words.rowid`
  )
  dataOf(await change(await table('film'), 'spare', { name: 'extra' }))
  dataOf(await drop(await table('visits'), 'last'))
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok')
})

t.test('a new name is written without quotes where it can be, and a drop names the index that has it', async (t) => {
  const { table, change, drop, db } = await start(
    t,
    'CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT, y TEXT, z TEXT); CREATE INDEX by_x ON a (x, lower(x)); CREATE INDEX by_y ON a (y)'
  )
  const a = await table('a')
  const declared = (name: string) => db.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').pluck().get(name)
  dataOf(await change(a, 'x', { name: 'word' }))
  t.equal(declared('by_x'), 'CREATE INDEX by_x ON a (word, lower(word))')
  for (const name of ['order', 'true', 'current_time']) {
    dataOf(await change(a, 'y', { name }))
    t.equal(declared('by_y'), `CREATE INDEX by_y ON a ("${name}")`)
    const refused = await drop(a, name)
    expectNamed(t, refused, ["index 'by_y'"])
    t.notMatch(refused.body, /single/)
    dataOf(await change(a, name, { name: 'y' }))
  }
  dataOf(await drop(a, 'z'))
})

t.test('a message names five objects, and none of them for a token', async (t) => {
  const views = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `CREATE VIEW ${name} AS SELECT x, y FROM t JOIN u`)
  const { table, add, admin, app } = await start(
    t,
    `CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT); CREATE TABLE u (k INTEGER PRIMARY KEY, y TEXT); ${views.join(';')}`
  )
  const of = await table('t')
  const field = { name: 'y', jsonType: 'string' }
  const refused = await add(of, field)
  expectError(t, refused, 409, 'STRUCTURE_IN_USE')
  t.match(refused.json().error, { message: /the view 'e' and 1 more\.$/, details: { length: 6 } })
  const token = await asToken(app, admin, { tables: ['t'], actions: ['schema'] })
  const unnamed = await token.post('/data/_schema/tables/t/fields', { field })
  expectError(t, unnamed, 409, 'STRUCTURE_IN_USE')
  t.notMatch(unnamed.body, /view '/)
  t.notOk(unnamed.json().error.details)
})

t.test('a registered view whose key is dropped has no key any more', async (t) => {
  const { table, drop, admin, db } = await start(t)
  const customer = await table('customer')
  db.exec("UPDATE customer SET mail = 'a'")
  const body = { name: 'people', primaryKey: ['mail'] }
  const people = dataOf(await admin.post('/admin/tables/import', body)) as Table
  dataOf(await drop(customer, 'mail'))
  t.equal(dataOf(await admin.get(`/admin/tables/${people.id}`)).primaryKey, '')
})
