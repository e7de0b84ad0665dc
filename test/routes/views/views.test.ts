import t, { type Test } from 'tap'
import type { ErrorCode } from '../../../schemas/error.ts'
import type { Table } from '../../../schemas/table.ts'
import {
  asAdmin,
  asToken,
  createDatabase,
  createTable,
  dataOf,
  expectData,
  expectDone,
  expectError,
  importTable,
  prepareFile,
  startApp
} from '../../helpers.ts'
import { openServed, servedFile } from '../../served.ts'

const file = createDatabase(
  t,
  `CREATE TABLE lines (id INTEGER PRIMARY KEY, shop TEXT, day TEXT, price REAL, amount INTEGER, bytes BLOB, mixed);
   INSERT INTO lines VALUES (1, 'a', '2026-01-05', 2.5, 3, x'00ff', 5), (2, 'b', '2026-01-07', 1, 4, NULL, 'text'),
     (3, 'a', '2026-02-01', 0.5, 4, x'', 1.5), (4, NULL, NULL, 9, 1, x'61', NULL), (5, 'B', '2026-02-09', 1, 9007199254740993, NULL, 7);
   CREATE VIEW sales AS SELECT shop, count(*) AS n, sum(price * amount) AS total, max(day) AS last FROM lines
     WHERE id < 5 GROUP BY shop;
   CREATE VIEW everything AS SELECT id, shop, day, price * amount AS value, amount, bytes, mixed FROM lines;
   CREATE VIEW pairs AS SELECT shop, amount, id FROM lines WHERE shop IS NOT NULL;
   CREATE VIEW same AS SELECT 'x' AS a, 1 AS b FROM lines;
   CREATE VIEW keyed AS SELECT id, shop, price FROM lines;
   CREATE VIEW overflow AS SELECT id, abs(-9223372036854775808 + id - id) AS a FROM lines;
   CREATE VIEW json AS SELECT id, json_extract(shop, '$.a') AS a FROM lines;
   CREATE TABLE base (id INTEGER PRIMARY KEY, a TEXT);
   INSERT INTO base VALUES (1, 'one');
   CREATE VIEW dependent AS SELECT * FROM base;
   CREATE VIEW of_view AS SELECT * FROM dependent;`
)

const execute = (sql: string) => {
  openServed(t, file).exec(sql)
}

const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const token = await asToken(app, admin, { tables: ['*'], actions: ['read', 'write', 'schema'] })

/** The SQL texts that ran on the event loop. */
const onLoop: string[] = []
for (const method of ['read', 'readText', 'plan'] as const) {
  const run = app.database[method] as (statement: { sql: string; params: [] }) => Promise<never>
  app.database[method] = ((statement: { sql: string; params: [] }) => {
    onLoop.push(statement.sql)
    return run(statement)
  }) as never
}

const importKeyed = async (name: string, primaryKey: string | readonly string[]) =>
  dataOf(await admin.post('/admin/tables/import', { name, primaryKey })) as Table

const views = {
  sales: await importTable(admin, 'sales'),
  everything: await importTable(admin, 'everything'),
  same: await importTable(admin, 'same'),
  keyed: await importKeyed('keyed', 'id'),
  pairs: await importKeyed('pairs', 'shop, amount')
}
const lines = await importTable(admin, 'lines')

t.test('a view is a table that can only be read, without facts that only tables have', async (t) => {
  const { sales } = views
  t.match(sales, {
    name: 'sales',
    kind: 'view',
    isPublished: true,
    isEditable: false,
    primaryKey: '',
    foreignKeys: [],
    fields: [
      { name: 'shop', jsonType: 'string', sqliteType: 'TEXT' },
      { name: 'n' },
      { name: 'total', jsonType: 'string', sqliteType: 'BLOB' },
      { name: 'last' }
    ]
  })
  for (const field of sales.fields) {
    t.match(field, {
      isReadonly: true,
      isNullable: true,
      isRequired: false,
      isPrimary: false,
      isExact: false,
      isIndexed: false,
      isUnique: false,
      defaultKind: 'none'
    })
  }
  t.equal(lines.kind, 'table')
  t.match(dataOf(await token.get('/data/sales/schema')), { kind: 'view', isEditable: false })
  t.match(views.keyed, { primaryKey: 'id', fields: [{ isPrimary: true, isUnique: false }, {}, {}] })
  t.equal(views.pairs.primaryKey, 'shop,amount')
})

t.test('records of a view', async (t) => {
  t.test('are listed for tokens and administrators', async (t) => {
    const rows = [
      { shop: null, n: 1, total: 9.0, last: null },
      { shop: 'a', n: 2, total: 9.5, last: '2026-02-01' },
      { shop: 'b', n: 1, total: 4.0, last: '2026-01-07' }
    ]
    for (const response of [await token.get('/data/sales'), await admin.get(`/admin/tables/${views.sales.id}/data`)])
      expectData(t, response, { rows, total: 3, page: 1, size: 20 })
  })
  t.test('are sorted, searched and filtered', async (t) => {
    const shops = async (query: string) =>
      dataOf(await token.get(`/data/sales?${query}`)).rows.map((row: { shop: string }) => row.shop)
    t.strictSame(await shops('order=-total'), ['a', null, 'b'])
    t.strictSame(await shops('order=desc'), [null, 'a', 'b'])
    t.strictSame(await shops('q=2026-02'), ['a'])
    t.strictSame(await shops('total=false&order=shop&size=1&page=2'), ['a'])
    t.strictSame(dataOf(await token.get('/data/sales?page=9')).rows, [])
  })
  t.test('take texts and numbers in filters on fields without a declared type', async (t) => {
    const found = async (where: object) =>
      dataOf(await token.post('/data/everything/query', { filter: { where }, order: 'id', fields: ['id'] })).rows.map(
        ({ id }: { id: number }) => id
      )
    t.strictSame(await found({ mixed: { eq: 5 } }), [1])
    t.strictSame(await found({ mixed: { eq: 'text' } }), [2])
    t.strictSame(await found({ mixed: { in: ['text', 1.5] } }), [2, 3])
    t.strictSame(await found({ value: { gte: 7.5 } }), [1, 4, 5])
    t.strictSame(await found({ mixed: { startsWith: 'TE' } }), [2])
    t.strictSame(await found({ amount: { eq: '9007199254740993' } }), [5])
  })
  t.test('have exact values', async (t) => {
    const { rows } = dataOf(await token.get('/data/everything?order=id'))
    t.strictSame(rows[0], { id: 1, shop: 'a', day: '2026-01-05', value: 7.5, amount: 3, bytes: 'AP8=', mixed: 5 })
    t.equal(rows[4].amount, '9007199254740993')
  })
  t.test('are counted again after a change of a table', async (t) => {
    const total = async () => dataOf(await token.get('/data/everything')).total
    t.equal(await total(), 5)
    const { id } = dataOf(await token.post('/data/lines/records', { shop: 'c' }))
    t.equal(await total(), 6)
    t.equal(dataOf(await token.post('/data/everything/query', { total: true })).total, 6)
    expectDone(t, await token.delete(`/data/lines/records/${id}`))
    t.equal(await total(), 5)
  })
  t.test('are aggregated', async (t) => {
    const aggregate = async (table: string, body: object) =>
      dataOf(await token.post(`/data/${table}/aggregate`, body)).rows
    t.strictSame(
      await aggregate('sales', { compute: { n: { sum: 'n' }, avg: { avg: 'total' }, top: { max: 'total' } } }),
      [{ n: 4, avg: 7.5, top: 9.5 }]
    )
    t.strictSame(
      await aggregate('everything', {
        by: { field: 'day', unit: 'month' },
        compute: { n: { count: true } },
        order: 'day'
      }),
      [
        { day: null, n: 1 },
        { day: '2026-01', n: 2 },
        { day: '2026-02', n: 2 }
      ]
    )
    expectError(
      t,
      await token.post('/data/everything/aggregate', { compute: { n: { sum: 'day' } } }),
      400,
      'VALIDATION_FAILED',
      '/compute/n/sum'
    )
    const pages = await admin.post(`/admin/tables/${views.sales.id}/aggregate`, { compute: { n: { count: true } } })
    expectData(t, pages, { rows: [{ n: 3 }] })
  })
  t.test('are exported, all or one page, sorted and filtered', async (t) => {
    const header = '"id","shop","price"\r\n'
    const exported = async (query: string) => (await token.get(`/data/keyed/export?${query}`)).body
    t.equal(await exported(''), `${header}1,"a",2.5\r\n2,"b",1.0\r\n3,"a",0.5\r\n4,,9.0\r\n5,"B",1.0\r\n`)
    t.equal(await exported('size=1&page=2'), `${header}2,"b",1.0\r\n`)
    t.equal(await exported('order=-price&size=1&format=ndjson'), '{"id":4,"shop":null,"price":9.0}\n')
    const filter = encodeURIComponent(JSON.stringify({ where: { price: { lt: 2 } } }))
    t.equal(
      await exported(`order=-id&fields=shop&format=ndjson&filter=${filter}`),
      '{"id":5,"shop":"B"}\n{"id":3,"shop":"a"}\n{"id":2,"shop":"b"}\n'
    )
    t.equal(await exported('q=nothing'), header)
    t.equal((await admin.get(`/admin/tables/${views.same.id}/export`)).body, `"a","b"\r\n${'"x",1\r\n'.repeat(5)}`)
  })
  t.test('hide fields from tokens', async (t) => {
    const url = `/admin/tables/${views.sales.id}`
    dataOf(await admin.put(url, { fields: [{ name: 'total', isHidden: true }] }))
    t.strictSame(Object.keys(dataOf(await token.get('/data/sales')).rows[0]), ['shop', 'n', 'last'])
    t.equal((await token.get('/data/sales/export')).body.split('\r\n')[0], '"shop","n","last"')
    const all = views.sales.fields.map(({ name }) => ({ name, isHidden: true }))
    dataOf(await admin.put(url, { fields: all }))
    t.strictSame(dataOf(await token.post('/data/sales/query', {})).rows, [{}, {}, {}])
    t.strictSame(dataOf(await token.get('/data/sales?size=2')).rows, [{}, {}])
    t.equal((await token.get('/data/sales/export')).body, '\r\n\r\n\r\n\r\n')
    t.strictSame(dataOf(await token.post('/data/same/query', { fields: [], size: 1, total: true })).rows, [{}])
    dataOf(await admin.put(url, { fields: all.map(({ name }) => ({ name, isHidden: false })) }))
  })
})

t.test('groups have the order of the request, not that of the view', async (t) => {
  execute('CREATE VIEW descending AS SELECT id, shop FROM lines ORDER BY id DESC')
  const { id } = await importTable(admin, 'descending')
  const idsOf = async (body: object) => {
    const response = await admin.post(`/admin/tables/${id}/aggregate`, {
      groupBy: ['id'],
      compute: { sum: { sum: 'id' } },
      ...body
    })
    return dataOf(response).rows.map((row: { id: number }) => row.id)
  }
  t.strictSame(await idsOf({ size: 2 }), [1, 2])
  t.strictSame(await idsOf({ order: 'id' }), [1, 2, 3, 4, 5])
  t.strictSame(await idsOf({ order: '-id', size: 2 }), [5, 4])
  expectDone(t, await admin.delete(`/admin/tables/${id}?confirm=true`))
  execute('DROP VIEW descending')
})

t.test('a view without a key', async (t) => {
  t.test('has each of its records on one page, also equal ones', async (t) => {
    const rows: object[] = []
    for (const page of [1, 2, 3]) rows.push(...dataOf(await token.get(`/data/same?size=2&page=${page}`)).rows)
    t.strictSame(rows, Array(5).fill({ a: 'x', b: 1 }))
  })
  t.test('has each of its records after a cursor, also equal ones', async (t) => {
    for (const order of ['', 'b']) {
      const pages: unknown[] = []
      let cursor = ''
      do {
        const { rows, next } = dataOf(await token.post('/data/same/query', { size: 2, order, cursor }))
        pages.push(rows)
        cursor = next
      } while (cursor !== null)
      const record = { a: 'x', b: 1 }
      t.strictSame(pages, [[record, record], [record, record], [record]])
    }
    const { next } = dataOf(await token.get('/data/same?cursor=&size=4'))
    t.equal(dataOf(await token.get(`/data/same?cursor=${next}`)).rows.length, 1)
    expectError(t, await token.post('/data/same/query', { cursor: 'abc' }), 400, 'INVALID_CURSOR')
    expectError(t, await token.post('/data/same/query', { cursor: next, order: 'b' }), 400, 'CURSOR_OF_OTHER_QUERY')
  })
  t.test('has no single records', async (t) => {
    for (const pk of ['1', 'x', 'x,1']) {
      const response = await token.get(`/data/same/records/${pk}`)
      expectError(t, response, 404, 'RECORD_NOT_FOUND')
      t.match(response.json().error, { message: /has no key/, hint: /primaryKey/ })
    }
    expectError(t, await admin.get(`/admin/tables/${views.same.id}/data/1`), 404, 'RECORD_NOT_FOUND')
  })
})

t.test('a view with a key', async (t) => {
  t.test('has single records', async (t) => {
    expectData(t, await token.get('/data/keyed/records/3'), { id: 3, shop: 'a', price: 0.5 })
    expectData(t, await admin.get(`/admin/tables/${views.keyed.id}/data/3`), { id: 3, shop: 'a', price: 0.5 })
    expectError(t, await token.get('/data/keyed/records/9'), 404, 'RECORD_NOT_FOUND')
    expectError(t, await token.get('/data/keyed/records/a'), 404, 'RECORD_NOT_FOUND')
    expectData(t, await token.get('/data/pairs/records/a,4'), { shop: 'a', amount: 4, id: 3 })
    expectError(t, await token.get('/data/pairs/records/a'), 404, 'RECORD_NOT_FOUND')
  })
  t.test('has cursors', async (t) => {
    const ids: number[] = []
    let cursor = ''
    do {
      const { rows, next } = dataOf(await token.post('/data/keyed/query', { size: 2, order: '-price', cursor }))
      ids.push(...rows.map(({ id }: { id: number }) => id))
      cursor = next
    } while (cursor !== null)
    t.strictSame(ids, [4, 1, 2, 5, 3])
    t.type(dataOf(await token.get('/data/keyed?cursor=&size=2')).next, 'string')
  })
  t.test('returns the first of two records with the same key', async (t) => {
    execute("INSERT INTO lines VALUES (6, 'a', NULL, 7, 4, NULL, NULL)")
    expectData(t, await token.get('/data/pairs/records/a,4'), { shop: 'a', amount: 4, id: 3 })
    execute('DELETE FROM lines WHERE id = 6')
  })
  t.test('cannot hide it', async (t) => {
    const response = await admin.put(`/admin/tables/${views.keyed.id}`, { fields: [{ name: 'id', isHidden: true }] })
    expectError(t, response, 400, 'VALIDATION_FAILED', '/fields/0/isHidden')
  })
})

t.test('the key of a view is refused', async (t) => {
  const cases: readonly (readonly [reason: string, body: object, status: number, code: ErrorCode, path: string])[] = [
    ['of a table', { name: 'base', primaryKey: ['id'] }, 400, 'VALIDATION_FAILED', '/primaryKey'],
    ['for several views', { names: ['json'], primaryKey: ['id'] }, 400, 'VALIDATION_FAILED', '/primaryKey'],
    ['without fields', { name: 'of_view', primaryKey: [] }, 400, 'VALIDATION_FAILED', '/primaryKey'],
    ['with an unknown field', { name: 'of_view', primaryKey: ['id', 'aa'] }, 400, 'VALIDATION_FAILED', '/primaryKey/1'],
    [
      'with an unknown field in a text',
      { name: 'of_view', primaryKey: 'id,aa' },
      400,
      'VALIDATION_FAILED',
      '/primaryKey/1'
    ],
    ['with an empty text', { name: 'of_view', primaryKey: '' }, 400, 'VALIDATION_FAILED', '/primaryKey'],
    ['with a repeated field', { name: 'of_view', primaryKey: ['id', 'id'] }, 400, 'VALIDATION_FAILED', '/primaryKey/1'],
    [
      'with a hidden field',
      { name: 'of_view', primaryKey: ['id'], fields: [{ name: 'id', isHidden: true }] },
      400,
      'VALIDATION_FAILED',
      '/fields/0/isHidden'
    ]
  ]
  for (const [reason, body, status, code, path] of cases)
    await t.test(reason, async (t) =>
      expectError(t, await admin.post('/admin/tables/import', body), status, code, path)
    )

  const refused = async (t: Test, sql: string, primaryKey: readonly string[], message: string) => {
    execute(`DROP VIEW IF EXISTS candidates; CREATE VIEW candidates AS ${sql}`)
    const response = await admin.post('/admin/tables/import', { name: 'candidates', primaryKey })
    expectError(t, response, 409, 'UNIQUE_VIOLATION', '/primaryKey')
    t.equal(response.json().error.details[0].message, message)
  }
  await t.test('that occurs twice', (t) =>
    refused(t, 'SELECT amount, price FROM lines', ['amount'], "2 records have 'amount' = '4'.")
  )
  await t.test('whose combination occurs twice', (t) =>
    refused(
      t,
      "SELECT 1 AS a, 'x' AS b UNION ALL SELECT 1, 'x'",
      ['a', 'b'],
      "2 records have 'a' = '1', 'b' = 'x'.".replace("'x'.", "'x'.")
    )
  )
  await t.test('that is null', (t) =>
    refused(
      t,
      'SELECT shop, id FROM lines',
      ['id', 'shop'],
      "A record has 'id' = '4', 'shop' = NULL. A key must not be NULL."
    )
  )
  await t.test('that fails', async (t) => {
    const response = await admin.post('/admin/tables/import', { name: 'overflow', primaryKey: ['a'] })
    expectError(t, response, 409, 'STRUCTURE_CHANGED')
  })
  await t.test('if its texts are equal by the collation of the column, by which pages are sorted', async (t) => {
    const createView = (column: string) =>
      execute(`DROP VIEW candidates; CREATE VIEW candidates AS SELECT ${column} AS shop FROM lines WHERE id IN (2, 5)`)
    createView('shop COLLATE NOCASE')
    const refused = await admin.post('/admin/tables/import', { name: 'candidates', primaryKey: ['shop'] })
    expectError(t, refused, 409, 'UNIQUE_VIOLATION', '/primaryKey')
    createView('shop')
    const table = await importKeyed('candidates', ['shop'])
    expectData(t, await token.get('/data/candidates/records/B'), { shop: 'B' })
    expectDone(t, await admin.delete(`/admin/tables/${table.id}?confirm=true`))
    execute('DROP VIEW candidates')
  })
})

t.test('a view refuses', async (t) => {
  const { id } = views.keyed
  const readOnly = [
    [
      'a new record',
      () => admin.post(`/admin/tables/${id}/data`, { id: 9 }),
      () => token.post('/data/keyed/records', { id: 9 })
    ],
    [
      'a change',
      () => admin.put(`/admin/tables/${id}/data/1`, { price: 9 }),
      () => token.put('/data/keyed/records/1', { price: 9 })
    ],
    ['a delete', () => admin.delete(`/admin/tables/${id}/data/1`), () => token.delete('/data/keyed/records/1')],
    ['an increment', null, () => token.post('/data/keyed/incr', { pk: '1', field: 'price' })],
    [
      'a field',
      () => admin.post(`/admin/tables/${id}/fields`, { field: { name: 'more', jsonType: 'string' } }),
      () => token.post('/data/_schema/tables/keyed/fields', { field: { name: 'more', jsonType: 'string' } })
    ],
    ['an index', () => admin.post(`/admin/tables/${id}/indexes`, { fields: ['price'] }), null]
  ] as const
  for (const [name, ...calls] of readOnly) {
    await t.test(name, async (t) => {
      for (const call of calls) {
        if (!call) continue
        const response = await call()
        expectError(t, response, 403, 'TABLE_READ_ONLY')
        t.match(response.json().error.message, /is a view/)
      }
    })
  }
  await t.test('to become editable', async (t) => {
    expectError(
      t,
      await admin.put(`/admin/tables/${id}`, { isEditable: true }),
      400,
      'VALIDATION_FAILED',
      '/isEditable'
    )
    t.equal(dataOf(await admin.put(`/admin/tables/${id}`, { isEditable: false, label: 'L' })).label, 'L')
    const body = { name: 'of_view', isEditable: true }
    expectError(t, await admin.post('/admin/tables/import', body), 400, 'VALIDATION_FAILED', '/isEditable')
  })
  expectData(t, await admin.get(`/admin/tables/${id}/indexes`), [])
  expectError(t, await admin.delete(`/admin/tables/${id}/indexes/none`), 404, 'INDEX_NOT_FOUND')
  await t.test('a table of its name', async (t) => {
    const fields = [{ name: 'a', jsonType: 'string' }]
    const response = await admin.post('/admin/tables', { name: 'of_view', label: '', fields })
    expectError(t, response, 409, 'TABLE_EXISTS')
    t.match(response.json().error.hint, /import/)
  })
})

t.test('a view that SQLite cannot prepare is not imported', async (t) => {
  execute(
    `CREATE VIEW broken AS SELECT gone FROM missing; CREATE VIEW columns_differ (a, b) AS SELECT 1;
     CREATE VIEW unknown_function AS SELECT unknown(1) AS a`
  )
  for (const [name, reason] of [
    ['broken', /: no such table: main.missing\./],
    ['columns_differ', /: expected 2 columns for 'columns_differ' but got 1\./],
    ['unknown_function', /: no such function: unknown\./]
  ] as const) {
    const response = await admin.post('/admin/tables/import', { name })
    expectError(t, response, 400, 'TABLE_NOT_IMPORTABLE')
    t.match(response.json().error.message, reason)
  }
  const importable = dataOf(await admin.get('/admin/tables/importable'))
  t.match(
    importable.find(({ name }: { name: string }) => name === 'broken'),
    { isImportable: false, kind: 'view', reason: /no such table/ }
  )
  t.match(
    importable.find(({ name }: { name: string }) => name === 'of_view'),
    { isImportable: true, kind: 'view', rows: null }
  )
  execute('DROP VIEW broken; DROP VIEW columns_differ; DROP VIEW unknown_function')
})

t.test('a view that fails has the reason of SQLite, and harms nothing else', async (t) => {
  for (const [name, reason] of [
    ['overflow', 'integer overflow'],
    ['json', 'malformed JSON']
  ] as const) {
    await importTable(admin, name)
    for (const url of [`/data/${name}`, `/data/${name}?q=1`, `/data/${name}/export`, `/data/${name}/export?size=1`]) {
      const response = await token.get(url)
      expectError(t, response, 409, 'STRUCTURE_CHANGED')
      t.equal(response.json().error.message, `SQLite cannot compute the view: ${reason}.`)
    }
    expectError(t, await token.post(`/data/${name}/query`, { total: true }), 409, 'STRUCTURE_CHANGED')
  }
  expectError(t, await token.post('/data/json/aggregate', { compute: { n: { max: 'a' } } }), 409, 'STRUCTURE_CHANGED')
  t.equal(dataOf(await token.get('/data/keyed')).total, 5)
})

t.test('a registered view is reloaded when the schema changes', async (t) => {
  const dependent = await importTable(admin, 'dependent')
  const ofView = await importTable(admin, 'of_view')
  const url = `/admin/tables/${ofView.id}`
  const settle = async (isUsable: boolean) => {
    const status = isUsable ? 200 : 409
    for (let tries = 0; tries < 100; tries += 1) {
      await app.database.write([])
      if ((await token.get('/data/of_view')).statusCode === status) return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  await t.test('a broken one is listed, and everything else works', async (t) => {
    execute('DROP TABLE base')
    await settle(false)
    expectError(t, await token.get('/data/of_view'), 409, 'STRUCTURE_CHANGED')
    expectError(t, await admin.get(`${url}/data`), 409, 'STRUCTURE_CHANGED')
    t.match(dataOf(await admin.get(url)), { kind: 'view', fields: [{ name: 'id' }, { name: 'a' }] })
    t.equal(dataOf(await token.get('/data/keyed')).total, 5)
    t.equal((await token.get('/data/_openapi.json')).statusCode, 200)
    const refused = await admin.post(`${url}/refresh`)
    expectError(t, refused, 400, 'TABLE_NOT_IMPORTABLE')
    t.match(refused.json().error.message, /no such table/)
    const unregister = await admin.delete(url)
    expectError(t, unregister, 400, 'CONFIRMATION_REQUIRED')
  })
  await t.test('a service starts with it', async (t) => {
    const copy = createDatabase(t, `ATTACH '${file}' AS f; CREATE TABLE t (a)`)
    prepareFile(servedFile(file), `VACUUM INTO '${copy}.copy'`)
    const other = await startApp(t, { env: { DATABASE: `${copy}.copy` } })
    const otherAdmin = await asAdmin(other)
    expectError(t, await otherAdmin.get(`${url}/data`), 409, 'STRUCTURE_CHANGED')
    t.equal(dataOf(await otherAdmin.get(`/admin/tables/${views.keyed.id}/data`)).total, 5)
    t.match(dataOf(await otherAdmin.get(`/admin/tables/${views.pairs.id}`)), {
      kind: 'view',
      primaryKey: 'shop,amount'
    })
  })
  await t.test('it works again after it was corrected', async (t) => {
    execute("CREATE TABLE base (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO base VALUES (1, 'one')")
    await settle(true)
    expectData(t, await token.get('/data/of_view'), { rows: [{ id: 1, a: 'one' }], total: 1, page: 1, size: 20 })
  })
  await t.test('a column that appears is served after a refresh', async (t) => {
    execute('ALTER TABLE base ADD COLUMN added INTEGER')
    await app.database.write([])
    t.strictSame(Object.keys(dataOf(await token.get('/data/dependent')).rows[0]), ['id', 'a'])
    const { fields } = dataOf(await admin.post(`/admin/tables/${dependent.id}/refresh`))
    t.strictSame(
      fields.map(({ name }: { name: string }) => name),
      ['id', 'a', 'added']
    )
    t.strictSame(dataOf(await token.get('/data/dependent')).rows, [{ id: 1, a: 'one', added: null }])
  })
  await t.test('a key whose column is gone makes it unusable, and a refresh removes the key', async (t) => {
    expectDone(t, await admin.delete(`/admin/tables/${dependent.id}?confirm=true`))
    const { id } = await importKeyed('dependent', ['a'])
    execute('DROP VIEW dependent; CREATE VIEW dependent AS SELECT id FROM base')
    for (let status = 200; status === 200; ) {
      await app.database.write([])
      status = (await token.get('/data/dependent')).statusCode
    }
    expectError(t, await token.get('/data/dependent/records/one'), 409, 'STRUCTURE_CHANGED')
    t.equal(dataOf(await admin.post(`/admin/tables/${id}/refresh`)).primaryKey, '')
    t.strictSame(dataOf(await token.get('/data/dependent')).rows, [{ id: 1 }])
  })
  await t.test('a table in its place is not served before it is imported', async (t) => {
    execute('DROP VIEW dependent; CREATE TABLE dependent (id INTEGER PRIMARY KEY)')
    for (let status = 200; status === 200; ) {
      await app.database.write([])
      status = (await token.get('/data/dependent')).statusCode
    }
    expectError(t, await token.post('/data/dependent/records', { id: 1 }), 403, 'TABLE_READ_ONLY')
    const table = (dataOf(await admin.get('/admin/tables')) as Table[]).find(({ name }) => name === 'dependent')
    t.equal(table?.kind, 'view')
    const refused = await admin.post(`/admin/tables/${table?.id}/refresh`)
    expectError(t, refused, 400, 'TABLE_NOT_IMPORTABLE')
    t.match(refused.json().error.message, /is a table now/)
  })
  await t.test('and a view instead of a table is not served either', async (t) => {
    execute('CREATE TABLE replaced (id INTEGER PRIMARY KEY)')
    const { id } = await importTable(admin, 'replaced')
    execute('DROP TABLE replaced; CREATE VIEW replaced AS SELECT 1 AS id')
    for (let status = 200; status === 200; ) {
      await app.database.write([])
      status = (await token.get('/data/replaced')).statusCode
    }
    const refused = await admin.post(`/admin/tables/${id}/refresh`)
    expectError(t, refused, 400, 'TABLE_NOT_IMPORTABLE')
    t.match(refused.json().error.message, /is a view now/)
  })
  await t.test('a view cannot have a search index', async (t) => {
    const response = await admin.put(`/admin/tables/${views.keyed.id}`, { searchIndex: true })
    expectError(t, response, 400, 'VALIDATION_FAILED', '/searchIndex')
  })
})

t.test('the typed document of a view has its reads and no inputs', async (t) => {
  const { paths, components } = (await token.get('/data/_openapi.json')).json()
  const methods = (path: string) => Object.keys(paths[path] ?? {}).filter((key) => key !== 'parameters')
  t.strictSame(methods('/data/keyed'), ['get'])
  t.strictSame(methods('/data/keyed/query'), ['post'])
  t.strictSame(methods('/data/keyed/records/{id}'), ['get'])
  t.strictSame(methods('/data/keyed/records'), [])
  t.strictSame(methods('/data/same'), ['get'])
  t.strictSame(
    Object.keys(paths).filter((path) => path.startsWith('/data/same/')),
    ['/data/same/query', '/data/same/aggregate', '/data/same/export', '/data/same/schema']
  )
  t.notOk(
    Object.keys(components.schemas).some((name) => /^(?:Keyed|Same)(?:Create|Update|Change|Increment)/.test(name))
  )
  t.strictSame(components.schemas.Keyed.properties.price.type, ['number', 'null'])
  t.notOk('type' in components.schemas.Everything.properties.value, 'an expression has no type')
  const own = (await admin.get('/admin/openapi.json')).json()
  t.strictSame(Object.keys(own.paths[`/admin/tables/${views.keyed.id}/data`]), ['get'])
  t.notOk(own.paths[`/admin/tables/${views.same.id}/data/`])
})

t.test('a table that is created later can be joined by no expansion with a view', async (t) => {
  const fields = [{ name: 'keyed_id', jsonType: 'integer' }] as never
  await createTable(admin, { name: 'referring', fields })
  expectError(t, await token.get('/data/keyed?expand=shop'), 400, 'VALIDATION_FAILED', '/expand/0')
})

t.test('an unregistered view can be imported again', async (t) => {
  const response = await admin.delete(`/admin/tables/${views.sales.id}`)
  expectError(t, response, 400, 'CONFIRMATION_REQUIRED')
  t.match(response.json().error.message, /has 3 rows/)
  expectDone(t, await admin.delete(`/admin/tables/${views.sales.id}?confirm=true`))
  t.equal((await importTable(admin, 'SALES')).name, 'sales')
})

t.test('no statement on a view ran on the event loop', async (t) => {
  const names = Object.keys(views).join('|')
  t.ok(onLoop.length > 0)
  t.strictSame(
    onLoop.filter((sql) => new RegExp(`FROM "(?:${names})"`).test(sql)),
    []
  )
})
