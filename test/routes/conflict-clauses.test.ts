import t from 'tap'
import {
  asAdmin,
  asToken,
  client,
  createDatabase,
  dataOf,
  expectError,
  importTable,
  logIn,
  startApp
} from '../helpers.ts'

/** By the name of a table: the declarations of its key, its unique field and its field that must not be null. */
const DECLARED: Readonly<Record<string, readonly [key: string, unique: string, notNull: string]>> = {
  replaced: ['', 'UNIQUE ON CONFLICT REPLACE', 'NOT NULL ON CONFLICT REPLACE DEFAULT 7'],
  ignored: ['ON CONFLICT IGNORE', 'UNIQUE ON CONFLICT IGNORE', 'NOT NULL ON CONFLICT IGNORE DEFAULT 7'],
  replaced_keys: ['ON CONFLICT REPLACE', 'UNIQUE', 'NOT NULL DEFAULT 7']
}

/** Triggers with conflict clauses of their own, on a table that declares none. */
const TRIGGERS = ['INSERT', 'UPDATE']
  .map(
    (event) => `CREATE TRIGGER after_${event} AFTER ${event} ON logged BEGIN
      INSERT OR REPLACE INTO latest VALUES ('n', new.n);
      INSERT OR IGNORE INTO latest VALUES ('n', 'ignored');
      INSERT INTO replacing VALUES ('n', new.n);
    END;`
  )
  .join('\n')

const file = createDatabase(
  t,
  `${Object.entries(DECLARED)
    .map(
      ([name, [key, unique, notNull]]) => `
        CREATE TABLE ${name} (id INTEGER PRIMARY KEY ${key}, code INTEGER ${unique}, n INTEGER ${notNull});
        CREATE INDEX ${name}_n ON ${name} (n);`
    )
    .join('')}
   CREATE TABLE logged (id INTEGER PRIMARY KEY, code INTEGER UNIQUE, n INTEGER);
   CREATE TABLE latest (k TEXT PRIMARY KEY, v);
   CREATE TABLE replacing (k TEXT PRIMARY KEY ON CONFLICT REPLACE, v);
   CREATE TABLE both (id INTEGER PRIMARY KEY, code INTEGER UNIQUE ON CONFLICT REPLACE, n INTEGER);
   CREATE TABLE computed (
     id INTEGER PRIMARY KEY, n INTEGER, twice INTEGER AS (n * 2) UNIQUE ON CONFLICT REPLACE);
   CREATE TRIGGER both_created AFTER INSERT ON both BEGIN UPDATE logged SET n = new.n WHERE id = 1; END;
   CREATE TRIGGER both_changed AFTER UPDATE ON both BEGIN UPDATE logged SET n = new.n WHERE id = 1; END;
   CREATE TRIGGER computed_changed AFTER UPDATE ON computed BEGIN UPDATE logged SET n = new.n WHERE id = 1; END;
   INSERT INTO latest VALUES ('n', 0);
   INSERT INTO replacing VALUES ('n', 0);
   ${TRIGGERS}`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const csv = client(app, { ...(await logIn(app)), 'content-type': 'text/csv' })
const ids = new Map<string, number>()
for (const name of [...Object.keys(DECLARED), 'logged', 'latest', 'replacing', 'both', 'computed']) {
  ids.set(name, (await importTable(admin, name)).id)
}
const token = await asToken(app, admin)

type Body = Readonly<Record<string, unknown>>

const rowsOf = async (table: string) => dataOf(await token.get(`/data/${table}`)).rows
const create = (table: string, body: Body) => token.post(`/data/${table}/records`, body)
const upsert = (table: string, body: Body) => token.post(`/data/${table}/records?upsert=id`, body)
const update = (table: string, pk: number, body: Body) => token.put(`/data/${table}/records/${pk}`, body)
const increment = (table: string, body: Body) => token.post(`/data/${table}/incr`, body)
const updateFiltered = (table: string, filter: Body, values: Body) =>
  token.post('/data/_batch', { operations: [{ op: 'update', table, filter, values, maxAffected: 9 }] })
const importCsv = (table: string, text: string, query = '') =>
  csv.post(`/admin/tables/${ids.get(table)}/import${query}`, text)

for (const table of Object.keys(DECLARED)) {
  t.test(`a conflict clause of '${table}' neither deletes nor ignores a record`, async (t) => {
    for (const id of [1, 2]) dataOf(await create(table, { id, code: id, n: id }))
    const stored = await rowsOf(table)
    const conflicts = {
      create: await create(table, { id: 3, code: 1 }),
      'create with a key': await create(table, { id: 1, code: 3 }),
      'upsert that creates': await upsert(table, { id: 3, code: 1 }),
      'upsert that changes': await upsert(table, { id: 2, code: 1 }),
      update: await update(table, 2, { code: 1 }),
      increment: await increment(table, { pk: 1, field: 'code' }),
      'filtered update': await updateFiltered(table, { where: { n: { eq: 2 } } }, { code: 1 })
    }
    for (const [name, response] of Object.entries(conflicts)) {
      expectError(t, response, 409, 'UNIQUE_VIOLATION')
      t.strictSame(await rowsOf(table), stored, name)
    }
    expectError(t, await importCsv(table, 'id,code\n3,1\n'), 400, 'IMPORT_FAILED')
    t.strictSame(await rowsOf(table), stored)

    dataOf(await create(table, { id: 3, code: 3 }))
    t.match(dataOf(await upsert(table, { id: 4, code: 4 })), { created: true })
    t.match(dataOf(await upsert(table, { id: 4, code: 5 })), { created: false })
    t.equal((await update(table, 2, { code: 20 })).statusCode, 200)
    t.equal((await increment(table, { pk: 1, field: 'code' })).statusCode, 200)
    t.equal((await updateFiltered(table, { where: { n: { eq: 2 } } }, { code: 30 })).statusCode, 200)
    t.match(dataOf(await importCsv(table, 'id,code\n3,6\n8,8\n', '?mode=upsert')), { created: 1, updated: 1 })
    t.match(await rowsOf(table), [
      { id: 1, code: 2 },
      { id: 2, code: 30 },
      { id: 3, code: 6 },
      { id: 4, code: 5 },
      { id: 8, code: 8 }
    ])
  })
}

t.test('conflict clauses in triggers are not changed', async (t) => {
  const changes: readonly (readonly [name: string, change: () => ReturnType<typeof create>, n: number])[] = [
    ['create', () => create('logged', { id: 1, code: 1, n: 1 }), 1],
    ['upsert that creates', () => upsert('logged', { id: 2, code: 2, n: 2 }), 2],
    ['update', () => update('logged', 1, { n: 3 }), 3],
    ['increment', () => increment('logged', { pk: 1, field: 'n' }), 4],
    ['filtered update', () => updateFiltered('logged', { where: { code: { eq: 2 } } }, { n: 5 }), 5],
    ['import', () => importCsv('logged', 'id,code,n\n3,3,6\n'), 6],
    ['import that changes', () => importCsv('logged', 'id,n\n3,7\n', '?mode=upsert'), 7]
  ]
  for (const [name, change, n] of changes) {
    t.equal((await change()).json().success, true, name)
    t.match(await rowsOf('latest'), [{ k: 'n', v: n }], name)
    t.match(await rowsOf('replacing'), [{ k: 'n', v: n }], name)
  }
  expectError(t, await create('logged', { id: 9, code: 1 }), 409, 'UNIQUE_VIOLATION')
  expectError(t, await update('logged', 2, { code: 1 }), 409, 'UNIQUE_VIOLATION')
})

t.test('a table may declare conflict clauses and have triggers that reach others', async (t) => {
  const ignoring = (body: Body) =>
    token.post('/data/_batch', { operations: [{ op: 'create', table: 'both', values: body, onConflict: 'ignore' }] })
  const changes: readonly (readonly [name: string, change: () => ReturnType<typeof create>, n: number])[] = [
    ['create', () => create('both', { id: 1, code: 1, n: 11 }), 11],
    ['create or ignore', () => ignoring({ id: 2, code: 2, n: 12 }), 12],
    ['update', () => update('both', 2, { n: 13 }), 13],
    ['increment', () => increment('both', { pk: 2, field: 'n' }), 14],
    ['filtered update', () => updateFiltered('both', { where: { code: { eq: 2 } } }, { n: 15 }), 15]
  ]
  for (const [name, change, n] of changes) {
    t.equal((await change()).json().success, true, name)
    t.match(await rowsOf('latest'), [{ k: 'n', v: n }], name)
    t.match(await rowsOf('replacing'), [{ k: 'n', v: n }], name)
  }
  const stored = await rowsOf('both')
  const filter = { where: { code: { eq: 2 } } }
  for (const response of [
    await create('both', { id: 3, code: 1, n: 1 }),
    await update('both', 2, { code: 1 }),
    await increment('both', { pk: 1, field: 'code' }),
    await updateFiltered('both', filter, { code: 1 }),
    await upsert('both', { id: 3, code: 1 })
  ]) {
    expectError(t, response, 409, 'UNIQUE_VIOLATION')
    t.strictSame(await rowsOf('both'), stored)
  }
  t.match(dataOf(await ignoring({ id: 3, code: 1 })).results, [{ ignored: true }])
  t.strictSame(await rowsOf('both'), stored)
})

t.test('any change may change a generated field', async (t) => {
  for (const n of [1, 2]) dataOf(await create('computed', { id: n, n }))
  expectError(t, await update('computed', 1, { n: 2 }), 409, 'UNIQUE_VIOLATION')
  t.match(await rowsOf('computed'), [{ n: 1 }, { n: 2 }])
})
