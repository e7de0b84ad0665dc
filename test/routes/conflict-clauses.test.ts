import t, { type Test } from 'tap'
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

/** Triggers of a table that declares conflict clauses: their statements must keep their own. */
const triggersOf = (table: string) =>
  ['INSERT', 'UPDATE']
    .map(
      (event) => `CREATE TRIGGER ${table}_${event} AFTER ${event} ON ${table} BEGIN
        INSERT OR REPLACE INTO latest VALUES ('n', new.n);
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
   CREATE TABLE checked (
     id INTEGER PRIMARY KEY, code INTEGER UNIQUE ON CONFLICT REPLACE, a TEXT, b INTEGER, n INTEGER,
     UNIQUE (a COLLATE NOCASE, b) ON CONFLICT IGNORE);
   CREATE INDEX checked_n ON checked (n);
   CREATE UNIQUE INDEX checked_sum ON checked (code + b) WHERE b > 900;
   CREATE TABLE joined (
     id INTEGER PRIMARY KEY, a TEXT, n INTEGER, text TEXT AS (a || n) STORED, UNIQUE (text) ON CONFLICT REPLACE);
   CREATE TABLE keyed (k TEXT PRIMARY KEY ON CONFLICT REPLACE, code REAL UNIQUE ON CONFLICT REPLACE, n INTEGER)
     WITHOUT ROWID;
   CREATE TABLE defaulted (k TEXT PRIMARY KEY ON CONFLICT REPLACE DEFAULT 'only', n INTEGER DEFAULT 5) WITHOUT ROWID;
   CREATE TRIGGER checked_next AFTER INSERT ON checked WHEN new.b = 800 BEGIN
     INSERT INTO checked (id, code) VALUES (990, 990);
   END;
   ${['checked', 'joined', 'keyed', 'defaulted'].map(triggersOf).join('\n')}
   INSERT INTO latest VALUES ('n', 0);
   INSERT INTO replacing VALUES ('n', 0);
   ${TRIGGERS}`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const csv = client(app, { ...(await logIn(app)), 'content-type': 'text/csv' })
const ids = new Map<string, number>()
for (const name of [
  ...Object.keys(DECLARED),
  'logged',
  'latest',
  'replacing',
  'both',
  'computed',
  'checked',
  'joined',
  'keyed',
  'defaulted'
]) {
  ids.set(name, (await importTable(admin, name)).id)
}
const token = await asToken(app, admin)

type Body = Readonly<Record<string, unknown>>

const rowsOf = async (table: string) => dataOf(await token.get(`/data/${table}`)).rows
const create = (table: string, body: Body) => token.post(`/data/${table}/records`, body)
const upsert = (table: string, body: Body) => token.post(`/data/${table}/records?upsert=id`, body)
const upsertBy = (on: string, body: Body) => token.post(`/data/checked/records?upsert=${on}`, body)
const upsertNew = (body: Body) =>
  app.inject({
    method: 'POST',
    url: '/data/checked/records?upsert=id',
    headers: { ...token.headers, 'if-none-match': '*' },
    payload: body
  })
const batch = (...operations: readonly Body[]) => token.post('/data/_batch', { operations })
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

t.test(
  'a record without any field is created where the key is a default, and triggers keep their clauses',
  async (t) => {
    t.match(dataOf(await create('defaulted', {})), { k: 'only', n: 5 })
    t.match(await rowsOf('latest'), [{ v: 5 }])
    expectError(t, await create('defaulted', {}), 409, 'UNIQUE_VIOLATION')
    t.match(await rowsOf('defaulted'), [{ k: 'only', n: 5 }])
  }
)

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

type Change = readonly [name: string, change: () => ReturnType<typeof create>]

/** Each change sets `n` to 100 more than the one before. */
const assertTriggersWork = async (t: Test, changes: readonly Change[]) => {
  for (const [index, [name, change]] of changes.entries()) {
    const response = await change()
    t.equal(response.json().success, true, `${name}: ${response.body}`)
    t.match(await rowsOf('latest'), [{ k: 'n', v: 100 * (index + 1) }], name)
  }
}

const assertRefused = async (t: Test, table: string, changes: readonly Change[]) => {
  const [stored, latest] = [await rowsOf(table), await rowsOf('latest')]
  for (const [name, change] of changes) {
    const response = await change()
    t.equal(response.json().error?.code, 'UNIQUE_VIOLATION', `${name}: ${response.body}`)
    t.equal(response.statusCode, 409, name)
    t.strictSame(await rowsOf(table), stored, name)
    t.strictSame(await rowsOf('latest'), latest, name)
  }
}

t.test('a table may declare conflict clauses and have triggers with their own', async (t) => {
  const where = (n: number) => ({ where: { n: { eq: n } } })
  await assertTriggersWork(t, [
    ['create', () => create('checked', { id: 1, code: 1, a: 'x', b: 1, n: 100 })],
    ['upsert that creates', () => upsert('checked', { id: 2, code: 2, a: 'x', b: 2, n: 200 })],
    ['upsert by another key', () => upsertBy('code', { id: 3, code: 3, a: 'y', b: 3, n: 300 })],
    ['upsert that only creates', () => upsertNew({ id: 4, code: 4, n: 400 })],
    ['import', () => importCsv('checked', 'id,code,n\n5,5,500\n')],
    ['import that creates', () => importCsv('checked', 'id,code,a,b,n\n6,6,z,6,600\n', '?mode=upsert')],
    ['import that changes', () => importCsv('checked', 'id,code,a,b,n\n6,66,z,7,700\n', '?mode=upsert')],
    ['import of no unique field', () => importCsv('checked', 'id,n\n6,800\n', '?mode=upsert')],
    ['import of keys only', () => importCsv('checked', 'id,code,a,b,n\n7,7,,,900\n', '?mode=upsert&atomic=true')],
    ['update', () => update('checked', 1, { code: 11, n: 1000 })],
    ['update to its own values', () => update('checked', 1, { code: 11, a: 'X', b: 1, n: 1100 })],
    ['update of a part of a key', () => update('checked', 1, { b: 4, n: 1200 })],
    ['update to null', () => update('checked', 2, { a: null, b: 4, n: 1300 })],
    ['filtered update', () => updateFiltered('checked', where(1200), { code: 1, a: 'x', b: 5, n: 1400 })],
    ['filtered update to null', () => updateFiltered('checked', where(1400), { code: null, n: 1500 })],
    ['returned update', () => token.put('/data/checked/records/1?return=record', { code: 1, n: 1600 })]
  ])
  t.equal((await increment('checked', { pk: 3, field: 'code', count: 90 })).statusCode, 200)
  t.match(await rowsOf('latest'), [{ v: 300 }])
  const { id } = dataOf(await create('checked', {}))
  t.match(await rowsOf('latest'), [{ v: null }])
  t.equal((await token.delete(`/data/checked/records/${id}`)).statusCode, 200)
  t.strictSame(await rowsOf('checked'), [
    { id: 1, code: 1, a: 'x', b: 5, n: 1600 },
    { id: 2, code: 2, a: null, b: 4, n: 1300 },
    { id: 3, code: 93, a: 'y', b: 3, n: 300 },
    { id: 4, code: 4, a: null, b: null, n: 400 },
    { id: 5, code: 5, a: null, b: null, n: 500 },
    { id: 6, code: 66, a: 'z', b: 7, n: 800 },
    { id: 7, code: 7, a: null, b: null, n: 900 }
  ])
})

t.test('a conflict of such a table changes nothing', async (t) => {
  const all = { where: { id: { lte: 2 } } }
  dataOf(await create('checked', { id: 8, code: 8, b: 901 }))
  const stored = await rowsOf('checked')
  await assertRefused(t, 'checked', [
    ['create', () => create('checked', { id: 9, code: 66 })],
    ['upsert that creates', () => upsert('checked', { id: 9, code: 66 })],
    ['upsert that creates, by its other key', () => upsert('checked', { id: 9, a: 'X', b: 5 })],
    ['upsert that changes', () => upsert('checked', { id: 2, code: 1 })],
    ['upsert by another key', () => upsertBy('code', { id: 1, code: 99 })],
    ['upsert that only creates', () => upsertNew({ id: 9, code: 1 })],
    ['update', () => update('checked', 2, { code: 1 })],
    ['returned update', () => token.put('/data/checked/records/2?return=record', { code: 1 })],
    ['update of a composite key', () => update('checked', 2, { a: 'X', b: 5 })],
    ['increment', () => increment('checked', { pk: 3, field: 'code', count: -92 })],
    ['filtered update to a stored value', () => updateFiltered('checked', { where: { id: { eq: 2 } } }, { code: 66 })],
    ['filtered update to one value', () => updateFiltered('checked', all, { code: 77 })],
    ['filtered update of a composite key', () => updateFiltered('checked', all, { a: 'q', b: 1 })],
    [
      'filtered update that meets another record',
      () => updateFiltered('checked', { where: { id: { in: [4, 5] } } }, { code: 66 })
    ],
    ['index on an expression', () => update('checked', 5, { code: 6, b: 903 })]
  ])
  expectError(t, await upsertNew({ id: 1, code: 99 }), 412, 'PRECONDITION_FAILED')
  expectError(t, await upsertBy('code', { id: 9, code: 1 }), 400, 'VALIDATION_FAILED', '/id')
  expectError(t, await update('checked', 99, { code: 1 }), 404, 'RECORD_NOT_FOUND')
  for (const query of ['', '?mode=upsert', '?mode=upsert&atomic=true']) {
    expectError(t, await importCsv('checked', 'id,code,a,b\n9,66,,\n', query), 400, 'IMPORT_FAILED')
  }
  expectError(t, await importCsv('checked', 'id,code,a,b\n2,66,,\n', '?mode=upsert'), 400, 'IMPORT_FAILED')
  t.strictSame(await rowsOf('checked'), stored)
})

t.test('a batch checks the value that an earlier operation returns', async (t) => {
  const first = (code: number) => ({ op: 'create', table: 'checked', values: { code } })
  const values = { code: { $result: 0, field: 'code' } }
  const last = (pk: number) => ({ op: 'update', table: 'checked', pk, values })
  const upserted = { op: 'upsert', table: 'checked', values: { ...values, id: 50 }, on: ['id'] }
  const freed = { op: 'update', table: 'checked', pk: { $result: 0, field: 'id' }, values: { code: null } }
  expectError(t, await batch(first(500), last(3)), 409, 'UNIQUE_VIOLATION')
  expectError(t, await batch(first(500), upserted), 409, 'UNIQUE_VIOLATION')
  t.equal((await batch(first(500), freed, last(3))).json().success, true)
  t.match(dataOf(await token.get('/data/checked/records/3')), { code: 500 })
})

t.test('an import checks what changes after its file was checked', async (t) => {
  const stored = await rowsOf('checked')
  // The first record makes a trigger store the code 990.
  const rows = ['800,800,,800', '801,990,,']
  for (const query of ['', '?atomic=true']) {
    expectError(t, await importCsv('checked', `id,code,a,b\n${rows.join('\n')}\n`, query), 409, 'UNIQUE_VIOLATION')
    t.strictSame(await rowsOf('checked'), stored)
  }
  const between = Array.from({ length: 5000 }, (_, index) => `${2000 + index},${2000 + index},,`)
  const text = `id,code,a,b\n${['800,800,,800', ...between, '90000,990,,'].join('\n')}\n`
  const stopped = await importCsv('checked', text, '?mode=upsert')
  expectError(t, stopped, 409, 'IMPORT_STOPPED')
  t.match(stopped.json().error.message, /unique/)
  t.match(dataOf(await token.get('/data/checked/records/990')), { code: 990 })
})

t.test('a table without a rowid is checked, too', async (t) => {
  const keys = (k: string, body: Body) => token.put(`/data/keyed/records/${k}`, body)
  await assertTriggersWork(t, [
    ['create', () => create('keyed', { k: 'a', code: 1.5, n: 100 })],
    ['upsert that creates', () => token.post('/data/keyed/records?upsert=k', { k: 'b', code: 2, n: 200 })],
    ['update', () => keys('a', { code: 3, n: 300 })],
    ['update to its own value', () => keys('a', { code: 3, n: 400 })],
    ['import', () => importCsv('keyed', 'k,code,n\nc,4,500\n')],
    ['import that changes', () => importCsv('keyed', 'k,code,n\nc,5,600\n', '?mode=upsert')]
  ])
  await assertRefused(t, 'keyed', [
    ['create', () => create('keyed', { k: 'a', code: 9 })],
    ['upsert that creates', () => token.post('/data/keyed/records?upsert=k', { k: 'd', code: 3 })],
    ['update', () => keys('a', { code: 5 })],
    ['increment', () => increment('keyed', { pk: 'b', field: 'code', count: 1 })]
  ])
})

t.test('an import without all fields of a unique key deletes no record', async (t) => {
  dataOf(await create('checked', { id: 60, a: 'p', b: 1 }))
  dataOf(await create('checked', { id: 61, a: 'p', b: 2 }))
  const stored = await rowsOf('checked')
  expectError(t, await importCsv('checked', 'id,b\n60,2\n', '?mode=upsert'), 409, 'UNIQUE_VIOLATION')
  t.strictSame(await rowsOf('checked'), stored)
})

t.test('an import that changes a unique generated field deletes no record', async (t) => {
  for (const n of [1, 2]) dataOf(await create('joined', { id: n, a: 'x', n }))
  const stored = await rowsOf('joined')
  expectError(t, await importCsv('joined', 'id,n\n1,2\n', '?mode=upsert'), 409, 'UNIQUE_VIOLATION')
  t.strictSame(await rowsOf('joined'), stored)
})
