import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { NewField } from '../../schemas/new-table.ts'
import type { Statement } from '../../services/sql/statement.ts'
import {
  type App,
  asAdmin,
  asToken,
  type Client,
  createDatabase,
  createTable,
  dataOf,
  expectData,
  expectDone,
  expectError,
  importTable,
  startApp
} from '../helpers.ts'

// For every way to declare a key: records are found by the key and listed in its order, and no statement on the event
// loop or in the writer makes a full scan or sorts a table.

type Row = Record<string, unknown>

const INTEGER_KEYS = [
  '(a INTEGER PRIMARY KEY, b INT, n INT)',
  '(a INT PRIMARY KEY, b INT, n INT) STRICT',
  '(a INTEGER PRIMARY KEY DESC, b INT, n INT)',
  '(a INTEGER PRIMARY KEY, b INT, n INT) WITHOUT ROWID',
  '(a INTEGER, b INT, n INT, PRIMARY KEY (a DESC)) WITHOUT ROWID',
  '(a INT, b INT, n INT, PRIMARY KEY (a COLLATE NOCASE))',
  '(a REAL PRIMARY KEY, b INT, n INT)',
  '(a PRIMARY KEY, b INT, n INT)',
  '(a INT, b INT, n INT, PRIMARY KEY (b, a DESC))',
  '(a INT, b INT, n INT)'
]

const TEXT_KEYS = [
  '(a TEXT PRIMARY KEY, b INT, n INT)',
  '(a TEXT PRIMARY KEY, b INT, n INT) STRICT',
  '(a TEXT PRIMARY KEY COLLATE NOCASE, b INT, n INT)',
  '(a TEXT PRIMARY KEY COLLATE NOCASE, b INT, n INT) STRICT',
  '(a TEXT, b INT, n INT, PRIMARY KEY (a COLLATE NOCASE))',
  '(a TEXT, b INT, n INT, PRIMARY KEY (a COLLATE NOCASE)) STRICT',
  '(a TEXT, b INT, n INT, PRIMARY KEY (a COLLATE NOCASE)) WITHOUT ROWID',
  '(a TEXT COLLATE NOCASE, b INT, n INT, PRIMARY KEY (a COLLATE BINARY))',
  '(a TEXT COLLATE NOCASE, b INT, n INT, PRIMARY KEY (a COLLATE BINARY)) WITHOUT ROWID',
  '(a TEXT, b INT, n INT, PRIMARY KEY (a COLLATE RTRIM DESC))',
  '(a TEXT NOT NULL UNIQUE, b INT, n INT, PRIMARY KEY (a COLLATE NOCASE))',
  '(a, b INT, n INT, PRIMARY KEY (a))',
  '(a COLLATE NOCASE PRIMARY KEY, b INT, n INT)',
  '(a, b INT, n INT, PRIMARY KEY (a COLLATE NOCASE))',
  '(a ANY, b INT, n INT, PRIMARY KEY (a COLLATE NOCASE)) STRICT',
  '(a TEXT, b INT, n INT, PRIMARY KEY (b, a))',
  '(a TEXT, b INT, n INT, PRIMARY KEY (b, a DESC))',
  '(a TEXT, b INT, n INT, PRIMARY KEY (b, a DESC)) WITHOUT ROWID',
  '(a TEXT, b INT, n INT, PRIMARY KEY (a DESC, b DESC))',
  '(a TEXT, b INT, n INT, PRIMARY KEY (a COLLATE NOCASE, b))',
  '(a, b, n INT, PRIMARY KEY (a COLLATE NOCASE, b COLLATE RTRIM)) WITHOUT ROWID'
]

/** 25 rows in mixed order. Because of the trigger, the service reads a created record by its key. */
const fill = (name: string, declaration: string, a: string) => `
  CREATE TABLE ${name} ${declaration};
  WITH i(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM i WHERE i < 24)
    INSERT INTO ${name} (a, b, n) SELECT ${a}, i % 3, 0 FROM i ORDER BY i * 7 % 25;
  CREATE TRIGGER seen_${name} AFTER INSERT ON ${name} BEGIN SELECT 1; END;`

const TABLES = [
  ...INTEGER_KEYS.map((declaration) => ({ declaration, a: 'i * 3 + 1', added: 50 })),
  // Upper and lower case, so that the collations differ in their order.
  ...TEXT_KEYS.map((declaration) => ({ declaration, a: "char(65 + i + 32 * (i % 2)) || ' ,%x'", added: 'new Key' }))
].map((table, index) => ({ ...table, name: `t${index}` }))

const EXTERNAL = '(a TEXT, b INT, n INT, PRIMARY KEY (a COLLATE NOCASE))'

const DATABASE = createDatabase(
  t,
  [
    ...TABLES.map(({ name, declaration, a }) => fill(name, declaration, a)),
    fill('external', EXTERNAL, "'k' || i")
  ].join('')
)

/** Gives a table a collation that only another program defines. */
const setUnknownCollation = (table: string) => {
  const db = new BetterSqlite3(DATABASE)
  db.unsafeMode()
  db.pragma('writable_schema = ON')
  db.prepare("UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'of_another_program') WHERE name = ?").run(table)
  db.close()
}

/** Returns rows and query plans, read with plain SQL. */
const openOracle = (t: Test) => {
  const db = new BetterSqlite3(DATABASE)
  t.teardown(() => db.close())
  db.function('base64', (bytes) => String(bytes))
  return {
    rows: (table: string, key: string) => {
      const columns = key === 'rowid' ? 'rowid, a, b, n' : 'a, b, n'
      return db.prepare(`SELECT ${columns} FROM ${table} ORDER BY ${key}`).all() as Row[]
    },
    plan: ({ sql, params }: Statement) =>
      (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...params) as { detail: string }[]).map(({ detail }) => detail)
  }
}

type Oracle = ReturnType<typeof openOracle>

/**
 * Records the statements on these tables that run on the event loop and in the writer. Returns a function that returns
 * them and clears the record.
 */
const observe = ({ database }: App) => {
  let recorded: Statement[] = []
  const { read, readText, write } = database
  const record = (...statements: readonly Statement[]) => {
    recorded.push(...statements.filter(({ sql }) => / "(?:t\d+|external)"/.test(sql)))
  }
  Object.assign(database, {
    read: (statement: Statement) => {
      record(statement)
      return read(statement)
    },
    readText: (statement: Statement) => {
      record(statement)
      return readText(statement)
    },
    write: (unit: readonly Statement[]) => {
      record(...unit)
      return write(unit)
    }
  })
  return () => {
    const taken = recorded
    recorded = []
    return taken
  }
}

/** A full scan with a LIMIT is bounded. A sort reads every row first, so it is not. */
const isUnbounded = ({ plan }: Oracle, statement: Statement) => {
  const isLimited = / LIMIT \?/.test(statement.sql)
  return plan(statement).some((step) => /TEMP B-TREE/.test(step) || (!isLimited && /^SCAN /.test(step)))
}

const expectBounded = (t: Test, oracle: Oracle, statements: readonly Statement[]) => {
  t.ok(statements.length > 0)
  t.strictSame(
    statements.filter((statement) => isUnbounded(oracle, statement)).map(({ sql }) => sql),
    []
  )
}

const keyText = (key: string, row: Row) => {
  const parts = key.split(',').map((name) => String(row[name]))
  return parts.length === 1 ? String(parts[0]) : parts.map(encodeURIComponent).join(',')
}

const swapCase = (text: string) =>
  text.replace(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()))

const expectOrderedLists = async (t: Test, token: Client, table: string, key: string, rows: readonly Row[]) => {
  const descending = key.replaceAll(',', ',-')
  for (const [order, wanted] of [
    ['', rows],
    [key, rows],
    [`-${descending}`, rows.toReversed()]
  ] as const) {
    const pages: Row[] = []
    for (const page of [1, 2]) {
      const data = dataOf(await token.get(`/data/${table}?size=13&page=${page}&order=${order}`))
      t.equal(data.total, rows.length)
      pages.push(...data.rows)
    }
    t.strictSame(pages, wanted, `in the order '${order}'`)
  }
}

const expectChanges = async (t: Test, token: Client, table: string, key: string, row: Row) => {
  const text = keyText(key, row)
  const path = `/data/${table}/records/${encodeURIComponent(text)}`
  expectData(t, await token.get(path), row)
  expectDone(t, await token.put(path, { n: 5 }))
  expectDone(t, await token.put(path, { ...row, n: 6 }))
  expectDone(t, await token.post(`/data/${table}/incr`, { pk: text, field: 'n', count: 2 }))
  expectData(t, await token.get(path), { ...row, n: 8 })
  expectDone(t, await token.delete(path))
  expectError(t, await token.delete(path), 404, 'RECORD_NOT_FOUND')
}

const expectOtherCaseNotFound = async (t: Test, token: Client, table: string, key: string, row: Row) => {
  const path = `/data/${table}/records/${encodeURIComponent(keyText(key, { ...row, a: swapCase(String(row.a)) }))}`
  for (const response of [await token.get(path), await token.put(path, { n: 1 }), await token.delete(path)])
    expectError(t, response, 404, 'RECORD_NOT_FOUND')
}

t.test('records are found by their key and listed in its order, for each declaration', async (t) => {
  setUnknownCollation('external')
  const app = await startApp(t, { env: { DATABASE } })
  const admin = await asAdmin(app)
  const token = await asToken(app, admin)
  const oracle = openOracle(t)
  const take = observe(app)

  for (const { name, declaration, added } of TABLES) {
    t.test(declaration, async (t) => {
      const { primaryKey: key, id } = await importTable(admin, name)
      const rows = oracle.rows(name, key)
      await expectOrderedLists(t, token, name, key, rows)
      const [first, last] = [rows[0], rows.at(-1)] as [Row, Row]
      if (typeof first.a === 'string') await expectOtherCaseNotFound(t, token, name, key, first)
      const { rowid: _, ...record }: Row = { ...last, a: added }
      const created = dataOf(await token.post(`/data/${name}/records`, record))
      t.match(created, record)
      const path = `/data/${name}/records/${encodeURIComponent(keyText(key, created))}`
      expectData(t, await token.get(path), created)
      expectDone(t, await token.delete(path))
      await expectChanges(t, token, name, key, first)
      t.strictSame(oracle.rows(name, key), rows.slice(1))
      expectBounded(t, oracle, take())

      const csv = await admin.get(`/admin/tables/${id}/export?order=n`)
      t.equal(new Set(csv.body.split('\r\n').slice(1, -1)).size, rows.length - 1, 'each row is exported once')
    })
  }

  t.test('a key whose collation only another program defines is searched by a reader thread', async (t) => {
    await importTable(admin, 'external')
    expectData(t, await token.get('/data/external/records/k7'), { a: 'k7', b: 1, n: 0 })
    expectDone(t, await token.put('/data/external/records/k7', { n: 1 }))
    const writes = take().filter(({ sql }) => sql.startsWith('UPDATE'))
    t.equal(writes.length, 1)
    for (const path of ['K7', 'k99']) {
      expectError(t, await token.get(`/data/external/records/${path}`), 404, 'RECORD_NOT_FOUND')
      expectError(t, await token.put(`/data/external/records/${path}`, { n: 1 }), 404, 'RECORD_NOT_FOUND')
    }
    expectError(t, await token.delete('/data/external/records/k7'), 409, 'STRUCTURE_CHANGED')
    t.strictSame(
      take().filter(({ sql }) => /^SELECT/.test(sql)),
      []
    )
    t.equal(dataOf(await token.get('/data/external?size=1')).rows[0].a, 'k0')
  })
})

t.test('a record with a boolean key is found by the JSON literal', async (t) => {
  const file = createDatabase(
    t,
    'CREATE TABLE flags (on_off BOOLEAN PRIMARY KEY, n INT); INSERT INTO flags VALUES (1, 10), (0, 20)'
  )
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  const { id } = await importTable(admin, 'flags')
  const path = (key: unknown) => `/admin/tables/${id}/data/${key}`
  const { rows } = dataOf(await admin.get(`/admin/tables/${id}/data`))
  for (const row of rows) t.strictSame(dataOf(await admin.get(path(row.on_off))), row)
  for (const key of ['1', '0', 'True']) expectError(t, await admin.get(path(key)), 404, 'RECORD_NOT_FOUND')

  dataOf(await admin.put(path(true), { on_off: true, n: 11 }))
  expectError(t, await admin.put(path(true), { on_off: false, n: 12 }), 400, 'VALIDATION_FAILED', '/on_off')
  t.strictSame(dataOf(await admin.get(path(true))), { on_off: true, n: 11 })
  dataOf(await admin.delete(path(false)))
  t.equal(dataOf(await admin.get(`/admin/tables/${id}/data`)).total, 1)
})

t.test('a record with a large double as its key is found by the number in its JSON', async (t) => {
  const app = await startApp(t)
  const admin = await asAdmin(app)
  const fields: NewField[] = [{ name: 'a', jsonType: 'number', isPrimary: true }]
  const { id } = await createTable(admin, { name: 'doubles', fields })
  for (const a of [-18522257411224070, 2 ** 60, 1e21, 5, 0.1]) {
    dataOf(await admin.post(`/admin/tables/${id}/data`, { a }))
    const path = `/admin/tables/${id}/data/${encodeURIComponent(a)}`
    t.strictSame(dataOf(await admin.get(path)), { a })
    dataOf(await admin.delete(path))
  }
})
