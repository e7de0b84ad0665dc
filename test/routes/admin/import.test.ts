import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { ErrorDetail } from '../../../schemas/error.ts'
import type { NewField } from '../../../schemas/new-table.ts'
import {
  asAdmin,
  client,
  createDatabase,
  createTable,
  dataOf,
  expectData,
  expectError,
  importTable,
  logIn,
  startApp,
  type TestResponse
} from '../../helpers.ts'
import { onlyOnFile, openServed, ROWID_KEY } from '../../served.ts'
import { interrupt as beforeCalls } from '../../staging-events.ts'

const file = createDatabase(
  t,
  `CREATE TABLE rules (
     id INTEGER PRIMARY KEY, sku TEXT UNIQUE NOT NULL, qty INTEGER CHECK (qty >= 0), a INTEGER, b INTEGER,
     parent INTEGER REFERENCES rules (id), double INTEGER AS (qty * 2), UNIQUE (a, b)
   ) STRICT;
   CREATE UNIQUE INDEX lower_sku ON rules (lower(sku));
   CREATE TABLE children (id INTEGER PRIMARY KEY, rule TEXT REFERENCES rules (sku));
   CREATE TABLE composite (a TEXT, b INTEGER, v, PRIMARY KEY (a, b)) WITHOUT ROWID;
   CREATE TABLE single (v TEXT);
   CREATE TABLE words (id INTEGER PRIMARY KEY, v TEXT);
   CREATE TABLE drafts (k TEXT PRIMARY KEY, name TEXT, gone INTEGER DEFAULT 0) WITHOUT ROWID;
   CREATE UNIQUE INDEX live ON drafts (name DESC) WHERE gone = 0;
   CREATE TABLE loose (v TEXT, n INTEGER);
   CREATE UNIQUE INDEX loose_v ON loose (upper(v));
   CREATE TABLE formulas (id INTEGER PRIMARY KEY, s TEXT, "=n" TEXT);
   CREATE TABLE replacing (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, v TEXT);
   CREATE TABLE collated (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE);
   CREATE TABLE guarded (id INTEGER PRIMARY KEY, v INTEGER);
   CREATE TRIGGER odd BEFORE INSERT ON guarded WHEN new.v = 13 BEGIN SELECT RAISE(ABORT, 'thirteen'); END;
   CREATE TRIGGER skip BEFORE INSERT ON guarded WHEN new.v = 14 BEGIN SELECT RAISE(IGNORE); END;
   CREATE TABLE kept (id INTEGER PRIMARY KEY, v INTEGER);
   CREATE TRIGGER kept_new BEFORE INSERT ON kept WHEN new.v = 14 BEGIN SELECT RAISE(IGNORE); END;
   CREATE TRIGGER kept_old BEFORE UPDATE ON kept WHEN new.v = 15 BEGIN SELECT RAISE(IGNORE); END;
   CREATE TABLE selective (k TEXT PRIMARY KEY, n INTEGER DEFAULT 1) WITHOUT ROWID;
   CREATE TRIGGER selected BEFORE INSERT ON selective WHEN new.k = 'no' BEGIN SELECT RAISE(IGNORE); END;
   CREATE TABLE ignoring (id INTEGER PRIMARY KEY ON CONFLICT IGNORE);
   CREATE TABLE dropped (v TEXT);
   CREATE TABLE nodes (k TEXT PRIMARY KEY, parent TEXT REFERENCES nodes (k), v TEXT) WITHOUT ROWID;
   CREATE TABLE keyless (rowid TEXT, oid TEXT, _rowid_ TEXT);
   CREATE VIEW shown AS SELECT * FROM single;`
)
const app = await startApp(t, { env: { DATABASE: file } })
const cookie = await logIn(app)
const admin = await asAdmin(app)
const csv = client(app, { ...cookie, 'content-type': 'text/csv' })
const ndjson = client(app, { ...cookie, 'content-type': 'application/x-ndjson' })

const ids: Record<string, number> = {}
for (const name of [
  'rules',
  'children',
  'composite',
  'single',
  'words',
  'drafts',
  'loose',
  'formulas',
  'replacing',
  'collated',
  'guarded',
  'kept',
  'selective',
  'ignoring',
  'dropped',
  'nodes',
  'shown'
])
  ids[name] = (await importTable(admin, name)).id

const url = (table: string, query = '') => `/admin/tables/${ids[table]}/import${query}`
const rowsOf = async (table: string) => dataOf(await admin.get(`/admin/tables/${ids[table]}/data?size=100`)).rows
const totalOf = async (table: string) => dataOf(await admin.get(`/admin/tables/${ids[table]}/data`)).total
const exported = async (table: string) => (await admin.get(`/admin/tables/${ids[table]}/export`)).body

let created = 0
const newTable = async (fields: readonly NewField[], properties: object = {}) => {
  created += 1
  const table = await createTable(admin, { name: `made_${created}`, fields: [...fields], ...properties })
  ids[table.name] = table.id
  return table.name
}

/** Asserts that nothing was imported because of these errors: line, column, code. */
const expectErrors = (
  t: Test,
  response: TestResponse,
  expected: readonly (readonly [number, string | null, string])[]
) => {
  expectError(t, response, 400, 'IMPORT_FAILED')
  const { details, total } = response.json().error
  t.strictSame(
    details.map(({ line, column, code }: ErrorDetail) => [line, column ?? null, code]),
    expected,
    response.body
  )
  t.equal(total, expected.length)
}

const imported = (rows: number, updated = 0) => ({
  rows,
  created: rows - updated,
  updated,
  atomic: rows <= 5000,
  dryRun: false
})

t.test('a CSV file is imported, with quotes, a byte order mark and any line ends', async (t) => {
  const name = await newTable([
    { name: 's', jsonType: 'string' },
    { name: 'n', jsonType: 'number' }
  ])
  const text = '\ufeffs,n\r\n"x, ""y""\nz",1.5\n,\r"",-2e3\r\n  ä ,\n'
  expectData(t, await csv.post(url(name), text), imported(4))
  t.strictSame(await rowsOf(name), [
    { id: 1, s: 'x, "y"\nz', n: 1.5 },
    { id: 2, s: null, n: null },
    { id: 3, s: '', n: -2000 },
    { id: 4, s: '  ä ', n: null }
  ])
  t.equal(await totalOf(name), 4)
})

t.test('every kind of value is converted strictly', async (t) => {
  const name = await newTable([
    { name: 'i', jsonType: 'integer' },
    { name: 'n', jsonType: 'number' },
    { name: 'b', jsonType: 'boolean' },
    { name: 'o', jsonType: 'object' },
    { name: 'l', jsonType: 'array' },
    { name: 'x', jsonType: 'string', sqliteType: 'BLOB' }
  ])
  const good = 'i,n,b,o,l,x\n9223372036854775807,1,true,"{""a"":1}",[],AAE=\n"-1",-0.5,false,{},[1],\n'
  expectData(t, await csv.post(url(name), good), imported(2))
  t.match(await rowsOf(name), [
    { i: '9223372036854775807', n: 1, b: true, o: { a: 1 }, l: [], x: 'AAE=' },
    { i: -1, n: -0.5, b: false, o: {}, l: [1], x: null }
  ])
  const wrong = await csv.post(url(name), 'i,n,b,o,l,x\n1.0,1e999,1,[],{},?\n01,x,TRUE,x,"",""\n')
  expectErrors(t, wrong, [
    [2, 'i', 'type'],
    [2, 'n', 'range'],
    [2, 'b', 'type'],
    [2, 'o', 'type'],
    [2, 'l', 'type'],
    [2, 'x', 'format'],
    [3, 'i', 'type'],
    [3, 'n', 'type'],
    [3, 'b', 'type'],
    [3, 'o', 'type'],
    [3, 'l', 'type']
  ])
  t.equal(await totalOf(name), 2, 'nothing was imported')
})

t.test('NDJSON is imported under the rules of a create', async (t) => {
  const name = await newTable([
    { name: 's', jsonType: 'string', defaultValue: 'none' },
    { name: 'o', jsonType: 'object' }
  ])
  const text = '\ufeff{"s":"a","o":{"x":[1]}}\n\n{"o":null}\r\n{"s":null}'
  expectData(t, await ndjson.post(url(name), text), imported(3))
  t.strictSame(await rowsOf(name), [
    { id: 1, s: 'a', o: { x: [1] } },
    { id: 2, s: 'none', o: null },
    { id: 3, s: null, o: null }
  ])
  expectErrors(t, await ndjson.post(url(name), '{"s":1,"o":[]}\n{"s":"\\u0000"}\n{"t":1}\n{"id":9}\n'), [
    [1, 's', 'type'],
    [1, 'o', 'type'],
    [2, 's', 'format'],
    [3, 't', 'unknown'],
    [4, null, 'fields']
  ])
  expectErrors(t, await ndjson.post(url(name), '{"s":"a"}\n[]\n{"s":1}\n'), [[2, null, 'type']])
  expectErrors(t, await ndjson.post(url(name), '{"s":"a"}\n{\n'), [[2, null, 'syntax']])
})

t.test('the rules of the table name the line and the column', async (t) => {
  const first = await csv.post(url('rules'), 'id,sku,qty,a,b\n1,one,1,1,1\n2,two,2,1,2\n')
  expectData(t, first, imported(2))
  const text = [
    'sku,qty,a,b,parent,id',
    ',1,,,,10', // NOT NULL
    'x,-1,,,,11', // CHECK
    'y,1,5,5,,12',
    'z,1,5,5,,13', // UNIQUE in the file
    'one,1,,,,14', // UNIQUE, stored
    'q,1,1,2,,15', // two fields, stored
    'r,1,,,99,16', // a reference
    's,1,,,12,17', // a reference to a record of the file
    't,1,,,1,18', // a reference to a stored record
    'u,1,,,,1', // the key, stored
    'Y,1,,,,19', // an index on an expression
    'v,1'
  ].join('\n')
  expectErrors(t, await csv.post(url('rules'), text), [
    [2, 'sku', 'required'],
    [3, 'qty', 'check'],
    [5, 'a', 'unique'],
    [6, 'sku', 'unique'],
    [6, null, 'unique'], // the index on an expression, too
    [7, 'a', 'unique'],
    [8, 'parent', 'reference'],
    [11, 'id', 'unique'],
    [12, null, 'unique'],
    [13, null, 'cells']
  ])
  t.equal(await totalOf('rules'), 2)
})

t.test('one wrong record does not hide another, and errors are in the order of their lines', async (t) => {
  const name = await newTable([
    { name: 'n', jsonType: 'integer', isUnique: true },
    { name: 's', jsonType: 'string' }
  ])
  const numbers = Array.from({ length: 60 }, (_, index) => String(index))
  const wrong: readonly string[] = numbers.map((number) => ({ 3: '0', 8: 'x', 23: '1', 58: '2' })[number] ?? number)
  const errors = [
    [5, 'n', 'unique'],
    [10, 'n', 'type'],
    [25, 'n', 'unique'],
    [60, 'n', 'unique']
  ] as const
  expectErrors(t, await csv.post(url(name), `n\n${wrong.join('\n')}`), errors)
  const lineOf = (n: string, index: number) =>
    n === 'x' ? '{"n":"x"}' : `{"n":${n}${index % 7 === 0 ? ',"s":"seventh"' : ''}}`
  const inNdjson = errors.map(([line, column, code]) => [line - 1, column, code] as const)
  expectErrors(t, await ndjson.post(url(name), wrong.map(lineOf).join('\n')), inNdjson)
  expectData(t, await csv.post(url(name), `n\n${numbers.join('\n')}`), imported(60))
  t.equal(await totalOf(name), 60)
})

t.test('the first 100 errors are listed, and all are counted', async (t) => {
  const name = await newTable([{ name: 'n', jsonType: 'integer' }])
  const response = await csv.post(url(name), `n\n${'x\n'.repeat(250)}`)
  expectError(t, response, 400, 'IMPORT_FAILED', '/n')
  const { details, total } = response.json().error
  t.equal(total, 250)
  t.strictSame([details.length, details[0].line, details[99].line], [100, 2, 101])
})

t.test('the header may be mapped, and must fit the table', async (t) => {
  const name = await newTable([
    { name: 'n', jsonType: 'integer' },
    { name: 's', jsonType: 'string', nullable: false }
  ])
  const map = encodeURIComponent('{"Number":"n","Comment":null}')
  expectData(t, await csv.post(url(name, `?map=${map}`), 'Number,s,Comment\n5,x,?\n'), imported(1))
  t.strictSame(await rowsOf(name), [{ id: 1, n: 5, s: 'x' }])
  expectErrors(t, await csv.post(url(name, `?map=${map}`), 'Number,s,Comment\nx,y,\n'), [[2, 'Number', 'type']])
  expectErrors(t, await csv.post(url(name), 'n,Comment,n\n1,2,3\n'), [
    [1, 'Comment', 'unknown'],
    [1, 'n', 'duplicate'],
    [1, 's', 'required']
  ])
  const { details } = (await csv.post(url(name), 'n;s\n1;x\n')).json().error
  t.match(details[0], { path: '/n;s', code: 'unknown', message: /send it as `delimiter`/ })
  const line = (await ndjson.post(url(name), '{"n;s":1}\n')).json().error.details[0]
  t.match(line, { code: 'unknown', message: /in `map`/ })
  for (const wrong of ['x', '[]', '{"a":1}', '{"a":"b","a":"c"}'])
    expectError(
      t,
      await csv.post(url(name, `?map=${encodeURIComponent(wrong)}`), 'n\n'),
      400,
      'VALIDATION_FAILED',
      '/map'
    )
})

t.test('the file must have the names of the map', async (t) => {
  const name = await newTable([{ name: 'stock', jsonType: 'integer' }])
  const query = `?map=${encodeURIComponent('{"Stock":null}')}`
  expectErrors(t, await csv.post(url(name, query), 'id,stock\n1,5\n'), [[1, 'Stock', 'unknown']])
  expectErrors(t, await ndjson.post(url(name, query), '{"stock":5}\n\n{"stock":6}\n'), [[1, 'Stock', 'unknown']])
  expectData(t, await csv.post(url(name, query), 'id,Stock\n1,5\n'), imported(1))
  // A record of NDJSON may lack a field.
  expectData(t, await ndjson.post(url(name, query), '{"stock":5}\n{"Stock":6}\n'), imported(2))
  expectData(t, await ndjson.post(url(name, query), '\n'), imported(0))
  t.strictSame(
    (await rowsOf(name)).map(({ stock }: { stock: unknown }) => stock),
    [null, 5, null]
  )
})

t.test('a CSV file has a header', async (t) => {
  for (const empty of ['', '\n\r\n']) expectErrors(t, await csv.post(url('words'), empty), [[1, null, 'required']])
  expectData(t, await csv.post(url('words'), 'v\n'), imported(0))
  expectData(t, await ndjson.post(url('words'), ''), imported(0))
})

t.test('quotes and the encoding must be right', async (t) => {
  const name = await newTable([{ name: 's', jsonType: 'string' }])
  expectErrors(t, await csv.post(url(name), 's\nok\na"b\n'), [[3, null, 'syntax']])
  expectErrors(t, await csv.post(url(name), 's\n"a"b\n'), [[2, null, 'syntax']])
  expectErrors(t, await csv.post(url(name), 's\nok\n"open\n\n'), [[3, null, 'syntax']])
  expectErrors(t, await csv.post(url(name), 's\n\u0001\n'), [[2, null, 'syntax']])
  expectErrors(t, await csv.post(url(name), 's\n"\0"\n'), [[2, 's', 'format']])
  expectErrors(t, await csv.post(url(name), 's\n"two\nlines"\n"a\0b"\n'), [[4, 's', 'format']])
  const latin = Buffer.from('s\nok\nä\n', 'latin1')
  const response = await app.inject({ method: 'POST', url: url(name), headers: csv.headers, payload: latin })
  expectErrors(t, response, [[3, null, 'encoding']])
  const line = Buffer.from('{"s":"ä"}', 'latin1')
  expectErrors(t, await app.inject({ method: 'POST', url: url(name), headers: ndjson.headers, payload: line }), [
    [1, null, 'encoding']
  ])
})

t.test('a cell may have millions of doubled quotes', async (t) => {
  const name = await newTable([{ name: 's', jsonType: 'string' }])
  const quotes = 3_900_000
  expectData(t, await csv.post(url(name), `s\n"${'""'.repeat(quotes)}"\n`), imported(1))
  t.equal((await rowsOf(name))[0].s, '"'.repeat(quotes))
})

t.test('a record that is too large is an error', async (t) => {
  const name = await newTable([{ name: 's', jsonType: 'string' }])
  const large = 'x'.repeat(9 * 2 ** 20)
  expectErrors(t, await csv.post(url(name), `s\n"${large}"`), [[2, null, 'syntax']])
  expectErrors(t, await ndjson.post(url(name), `{"s":"a"}\n{"s":"${large}"}`), [[2, null, 'length']])
})

t.test('a record of very many parts is an error', async (t) => {
  const name = await newTable([{ name: 'a', jsonType: 'array' }])
  const list = (length: number) => `[${Array.from({ length }, () => '{}').join(',')}]`
  expectErrors(t, await ndjson.post(url(name), `{"a":[]}\n{"a":${list(2_500_000)}}\n`), [[2, null, 'length']])
  expectErrors(t, await csv.post(url(name), `a\n"[]"\n"${list(2_500_000)}"\n`), [[3, 'a', 'length']])
  expectErrors(t, await ndjson.post(`/admin/tables/from-file?name=parts&label=Parts`, `{"a":${list(25_000)}}\n`), [
    [1, null, 'length']
  ])
  // The array and its objects are 19,999 parts; in NDJSON the record and its key are two more.
  expectData(t, await ndjson.post(url(name), `{"a":${list(19_997)}}\n`), imported(1))
  expectData(t, await csv.post(url(name), `a\n"${list(19_999)}"\n`), imported(1))
})

t.test('other delimiters, and the guard against formulas', async (t) => {
  for (const [delimiter, separator] of [
    [';', ';'],
    ['|', '|'],
    ['tab', '\t']
  ])
    expectData(
      t,
      await csv.post(
        url('formulas', `?delimiter=${encodeURIComponent(String(delimiter))}`),
        `s${separator}=n\na${separator}\n`
      ),
      imported(1)
    )
  const guarded = `"s","'=n"\n"'=1","'x"\n`
  expectData(t, await csv.post(url('formulas', '?escape=formulas'), guarded), imported(1))
  t.match((await rowsOf('formulas'))[3], { s: '=1', '=n': "'x" })
})

t.test('a dry run checks the file and stores nothing', async (t) => {
  const name = await newTable([{ name: 'n', jsonType: 'integer' }])
  expectData(t, await csv.post(url(name, '?dryRun=true'), 'n\n1\n2\n'), {
    rows: 2,
    created: 2,
    updated: 0,
    atomic: true,
    dryRun: true
  })
  t.equal(await totalOf(name), 0)
  expectErrors(t, await csv.post(url(name, '?dryRun=true'), 'n\nx\n'), [[2, 'n', 'type']])
  await csv.post(url(name), 'id,n\n1,1\n')
  expectData(t, await csv.post(url(name, '?dryRun=true&mode=upsert'), 'id,n\n1,2\n3,3\n'), {
    rows: 2,
    created: 1,
    updated: 1,
    atomic: true,
    dryRun: true
  })
  t.strictSame(await rowsOf(name), [{ id: 1, n: 1 }])
})

t.test('an upsert changes the fields of the file, by the key or by another unique index', async (t) => {
  const text = 'id,qty,sku\n1,7,one\n50,8,fifty\n'
  expectData(t, await csv.post(url('rules', '?mode=upsert'), text), imported(2, 1))
  t.match(await rowsOf('rules'), [
    { id: 1, sku: 'one', qty: 7, a: 1, b: 1, double: 14 },
    { id: 2, qty: 2 },
    { id: 50, qty: 8, a: null }
  ])
  expectData(t, await csv.post(url('rules', '?mode=upsert&on=sku'), 'sku,a\ntwo,9\nthree,3\n'), imported(2, 1))
  expectData(t, await csv.post(url('rules', '?mode=upsert&on=b,a'), 'a,b,sku\n1,1,one\n1,,none\n'), imported(2, 1))
  t.match(await rowsOf('rules'), [
    { id: 1, sku: 'one', qty: 7 },
    { id: 2, a: 9, qty: 2 },
    { id: 50 },
    { sku: 'three', a: 3 },
    { sku: 'none', a: 1, b: null }
  ])
  expectErrors(t, await csv.post(url('rules', '?mode=upsert'), 'id,sku\n1,two\n'), [
    [2, 'sku', 'unique'],
    [2, null, 'unique']
  ])
  expectErrors(t, await csv.post(url('rules', '?mode=upsert'), 'id,sku\n1,one\n1,uno\n'), [[3, 'id', 'unique']])
  expectErrors(t, await csv.post(url('rules', '?mode=upsert'), 'sku\nx\n'), [[1, 'id', 'required']])
  expectErrors(
    t,
    await ndjson.post(url('rules', '?mode=upsert'), '{"id":1,"sku":"one"}\n{"id":2,"sku":"b","qty":1}\n'),
    [[2, null, 'fields']]
  )
})

t.test('an upsert needs a unique key of the table', async (t) => {
  for (const on of ['qty', 'a', 'sku,id', 'nothing'])
    expectError(t, await csv.post(url('rules', `?mode=upsert&on=${on}`), 'id\n'), 400, 'VALIDATION_FAILED', '/on')
  expectError(t, await csv.post(url('rules', '?on=sku'), 'id\n'), 400, 'VALIDATION_FAILED', '/on')
  expectError(t, await csv.post(url('words', '?mode=upsert&on=v'), 'v\n'), 400, 'VALIDATION_FAILED', '/on')
})

t.test('timestamps are set for new and changed records, unless the file has them', async (t) => {
  const name = await newTable([{ name: 'n', jsonType: 'integer' }], { autoTimestamps: true })
  expectData(t, await csv.post(url(name), 'id,n,created_at,updated_at\n1,1,5,6\n'), imported(1))
  expectData(t, await csv.post(url(name, '?mode=upsert'), 'id,n\n1,2\n2,3\n'), imported(2, 1))
  const [one, two] = await rowsOf(name)
  t.equal(one.created_at, 5)
  t.ok(one.updated_at > 6)
  t.ok(two.created_at > 6)
  t.equal(two.created_at, two.updated_at)
})

t.test('a table without a rowid', async (t) => {
  const text = 'a,b,v\nx,1,5\nx,2,"5"\ny,1,1.0\n'
  expectData(t, await csv.post(url('composite'), text), imported(3))
  t.equal(await exported('composite'), '"a","b","v"\r\n"x",1,5\r\n"x",2,"5"\r\n"y",1,1.0\r\n')
  expectErrors(t, await csv.post(url('composite'), 'a,b\nx,1\nz,\n'), [
    [2, 'a', 'unique'],
    [3, 'b', 'required']
  ])
  expectData(t, await csv.post(url('composite', '?mode=upsert'), 'b,a,v\n1,x,\n9,x,9\n'), imported(2, 1))
})

t.test('a single field and a pseudo-key', onlyOnFile(ROWID_KEY), async (t) => {
  expectData(t, await csv.post(url('single'), 'v\n\nx\n\n""\n'), imported(4))
  t.strictSame(await rowsOf('single'), [
    { rowid: 1, v: null },
    { rowid: 2, v: 'x' },
    { rowid: 3, v: null },
    { rowid: 4, v: '' }
  ])
})

t.test('a declared reaction to conflicts does not replace records', async (t) => {
  expectData(t, await csv.post(url('replacing'), 'id,v\n1,a\n'), imported(1))
  expectErrors(t, await csv.post(url('replacing'), 'id,v\n1,b\n2,c\n2,d\n'), [
    [2, 'id', 'unique'],
    [4, 'id', 'unique']
  ])
  expectData(t, await csv.post(url('replacing', '?mode=upsert'), 'id,v\n1,b\n'), imported(1, 1))
  t.strictSame(await rowsOf('replacing'), [{ id: 1, v: 'b' }])
})

t.test('values are compared by the collation of the index', async (t) => {
  expectData(t, await csv.post(url('collated'), 'name\nTom\n'), imported(1))
  expectErrors(t, await csv.post(url('collated'), 'name\nTOM\nx\nX\n'), [
    [2, 'name', 'unique'],
    [4, 'name', 'unique']
  ])
  // The record has no other field to change.
  const unchanged = { rows: 1, created: 0, updated: 0, atomic: true, dryRun: false }
  expectData(t, await csv.post(url('collated', '?mode=upsert&on=name'), 'name,id\nTOM,1\n'), unchanged)
})

t.test('a unique index on an expression is checked before the first record is stored', async (t) => {
  const added = 'id,sku,qty\n900,Straße,1\n'
  expectData(t, await csv.post(url('rules'), added), imported(1))
  for (const query of ['', '?dryRun=true', '?mode=upsert', '?mode=upsert&dryRun=true']) {
    const response = await csv.post(url('rules', query), 'id,sku,qty\n901,other,2\n902,STRAßE,2\n')
    expectErrors(t, response, [[3, null, 'unique']])
    t.match(response.json().error.details[0].message, /index 'lower_sku'/)
  }
  expectData(t, await csv.post(url('rules', '?mode=upsert'), 'id,sku,qty\n900,straße,3\n'), imported(1, 1))
})

t.test('a unique index of some records is compared with these only', async (t) => {
  expectData(t, await csv.post(url('drafts'), 'k,name,gone\na,one,0\nb,two,1\n'), imported(2))
  expectErrors(t, await csv.post(url('drafts'), 'k,name\nc,two\nd,one\n'), [[3, null, 'unique']])
  expectData(t, await csv.post(url('drafts'), 'k,name,gone\nc,two,0\nd,one,1\n'), imported(2))
  // Whether a record is in the index depends on a field that the file does not have.
  expectData(t, await csv.post(url('drafts', '?mode=upsert'), 'k,name\nb,three\n'), imported(1, 1))
})

t.test('a unique index on an expression of a table without a declared key', onlyOnFile(ROWID_KEY), async (t) => {
  expectData(t, await csv.post(url('loose'), 'v,n\na,1\nb,2\n'), imported(2))
  expectErrors(t, await csv.post(url('loose'), 'v\nA\n'), [[2, null, 'unique']])
  expectErrors(t, await csv.post(url('loose', '?mode=upsert'), 'rowid,v,n\n1,B,3\n'), [[2, null, 'unique']])
  expectData(t, await csv.post(url('loose', '?mode=upsert'), 'rowid,v,n\n1,A,3\n'), imported(1, 1))
})

t.test('a trigger that refuses a record ends the import', async (t) => {
  expectError(t, await csv.post(url('guarded'), 'v\n1\n13\n'), 409, 'REFUSED_BY_TRIGGER')
  expectError(t, await csv.post(url('guarded'), 'v\n1\n14\n'), 409, 'REFUSED_BY_TRIGGER')
  t.equal(await totalOf('guarded'), 0)
  const many = Array.from({ length: 20_000 }, (_, index) => (index === 19_000 ? 13 : 1))
  const response = await csv.post(url('guarded'), `v\n${many.join('\n')}`)
  expectError(t, response, 409, 'IMPORT_STOPPED')
  const stored = await totalOf('guarded')
  t.ok(stored > 0 && stored < 19_000)
  t.match(response.json().error.message, `after ${stored} of 20000 records`)
})

t.test('an upsert does not lose a record that a trigger skips', async (t) => {
  const upsert = '?mode=upsert'
  expectData(t, await csv.post(url('kept', upsert), 'id,v\n1,1\n2,2\n'), imported(2))
  for (const skipped of ['id,v\n1,3\n3,14\n', 'id,v\n3,3\n2,15\n'])
    for (const query of [upsert, `${upsert}&atomic=true`]) {
      expectError(t, await csv.post(url('kept', query), skipped), 409, 'REFUSED_BY_TRIGGER')
      t.strictSame(await rowsOf('kept'), [
        { id: 1, v: 1 },
        { id: 2, v: 2 }
      ])
    }
  expectData(t, await csv.post(url('kept', `${upsert}&atomic=true`), 'id,v\n1,3\n3,3\n'), imported(2, 1))
})

t.test('nor does an upsert of keys alone', async (t) => {
  const created = (rows: number, created: number) => ({ rows, created, updated: 0, atomic: true, dryRun: false })
  for (const query of ['?mode=upsert', '?mode=upsert&atomic=true']) {
    const [old, added] = [`old ${query}`, `new ${query}`]
    expectData(t, await csv.post(url('selective', query), `k\n${old}\n`), created(1, 1))
    expectError(t, await csv.post(url('selective', query), `k\n${added}\nno\n`), 409, 'REFUSED_BY_TRIGGER')
    expectData(t, await csv.post(url('selective', query), `k\n${old}\n${added}\n`), created(2, 1))
  }
})

t.test('a conflict that the declaration of the table ignores ends the import', async (t) => {
  const { stage } = app.database
  t.teardown(() => Object.assign(app.database, { stage }))
  /** Another program stores the key after the check. */
  const storeFirst: typeof stage = (request) => {
    const staging = stage(request)
    const store: typeof staging.store = (plan) => {
      openServed(t, file).exec('INSERT INTO ignoring VALUES (1)')
      return staging.store(plan)
    }
    return { ...staging, store }
  }
  Object.assign(app.database, { stage: storeFirst })
  expectError(t, await csv.post(url('ignoring'), 'id\n1\n'), 409, 'UNIQUE_VIOLATION')
  Object.assign(app.database, { stage })
  expectData(t, await csv.post(url('ignoring'), 'id\n2\n'), imported(1))
})

const interrupt = (t: Test, ...rest: [method: 'store' | 'step', event: (call: number) => unknown]) =>
  beforeCalls(t, app, ...rest)

const manyRecords = (count: number) => `n\n${'1\n'.repeat(count)}`
const INTEGERS: readonly NewField[] = [{ name: 'n', jsonType: 'integer' }]

/** Another table takes the name of this one. */
const takeName = async (name: string) => {
  const renamed = await admin.put(`/admin/tables/${ids[name]}`, { name: `${name}_old` })
  expectData(t, renamed, renamed.json().data)
  ids[`${name}_old`] = ids[name] as number
  ids[name] = (await createTable(admin, { name, fields: [...INTEGERS] })).id
}

t.test('a table that takes the name of the table gets none of the records', async (t) => {
  const name = await newTable(INTEGERS)
  interrupt(t, 'store', () => takeName(name))
  expectError(t, await csv.post(url(name), manyRecords(2)), 409, 'TABLE_CHANGED')
  t.strictSame([await totalOf(name), await totalOf(`${name}_old`)], [0, 0])
})

t.test('a rename between two steps ends the import', async (t) => {
  const name = await newTable(INTEGERS)
  interrupt(t, 'step', (call) => call === 1 && takeName(name))
  const response = await csv.post(url(name), manyRecords(6000))
  expectError(t, response, 409, 'IMPORT_STOPPED')
  t.match(response.json().error.message, /^The import ended after 5000 of 6000 records were stored: .* was changed/)
  t.strictSame([await totalOf(name), await totalOf(`${name}_old`)], [0, 5000])
})

t.test('a table that another program has replaced gets none of the records', async (t) => {
  const name = await newTable(INTEGERS)
  interrupt(t, 'store', () => {
    const other = openServed(t, file)
    other.exec(`DROP TABLE ${name}; CREATE TABLE ${name} (id INTEGER PRIMARY KEY, n INTEGER, other TEXT)`)
  })
  expectError(t, await csv.post(url(name), manyRecords(2)), 409, 'TABLE_CHANGED')
  t.equal(await totalOf(name), 0)
})

t.test('a change of the type of a field ends the import, and a new label of the table does not', async (t) => {
  const name = await newTable(INTEGERS)
  interrupt(t, 'store', () => admin.put(`/admin/tables/${ids[name]}`, { label: 'New' }))
  expectData(t, await csv.post(url(name), manyRecords(1)), imported(1))
  interrupt(t, 'store', () => admin.put(`/admin/tables/${ids[name]}/fields/n`, { jsonType: 'boolean' }))
  expectError(t, await csv.post(url(name), manyRecords(1)), 409, 'TABLE_CHANGED')
  t.equal(await totalOf(name), 1)
})

t.test('an import that ends for an unknown reason says how many records are stored', async (t) => {
  const name = await newTable(INTEGERS)
  interrupt(t, 'step', (call) => {
    if (call === 1) throw new Error('broken')
  })
  const response = await csv.post(url(name), manyRecords(6000))
  expectError(t, response, 409, 'IMPORT_STOPPED')
  t.match(response.json().error.message, 'after 5000 of 6000 records were stored: The service failed')
  t.equal(await totalOf(name), 5000)
  interrupt(t, 'step', () => {
    throw new Error('broken')
  })
  expectError(t, await csv.post(url(name), manyRecords(1)), 500, 'INTERNAL_ERROR')
})

t.test('an import whose failure cannot be explained says how many records are stored, too', async (t) => {
  const { read } = app.database
  t.teardown(() => Object.assign(app.database, { read }))
  interrupt(t, 'step', (call) => {
    if (call === 1) Object.assign(app.database, { read: () => Promise.reject(new Error('broken')) })
  })
  const before = await totalOf('guarded')
  const many = Array.from({ length: 6000 }, (_, index) => (index === 5500 ? 13 : 1))
  const response = await csv.post(url('guarded'), `v\n${many.join('\n')}`)
  Object.assign(app.database, { read })
  expectError(t, response, 409, 'IMPORT_STOPPED')
  const { message } = response.json().error
  t.match(message, /after \d+ of 6000 records were stored: The service failed/)
  const stored = Number(/after (\d+)/.exec(message)?.[1])
  t.ok(stored > 0 && stored <= 5500, message)
  t.equal(await totalOf('guarded'), before + stored)
})

t.test('a step without records ends the import', async (t) => {
  const name = await newTable(INTEGERS)
  const { stage } = app.database
  t.teardown(() => Object.assign(app.database, { stage }))
  const empty: typeof stage = (request) => ({ ...stage(request), step: async () => ({ last: null, rows: 0 }) })
  Object.assign(app.database, { stage: empty })
  expectError(t, await csv.post(url(name), manyRecords(1)), 500, 'INTERNAL_ERROR')
})

t.test('a record of a large file refers to one that is stored before', async (t) => {
  const line = (id: number, parent: number) => `${id},t${id},${parent}\n`
  const records = (parent: number) =>
    `id,sku,parent\n${Array.from({ length: 5001 }, (_, index) => line(1000 + index, index === 0 ? parent : 1000)).join('')}`
  const wrong = await csv.post(url('rules'), records(1001))
  expectErrors(t, wrong, [[2, 'parent', 'reference']])
  t.match(wrong.json().error.details[0].message, /stores later/)
  expectData(t, await csv.post(url('rules'), records(1000)), imported(5001))
})

t.test('a large file has its references in the order of its lines, if the table has no rowid', async (t) => {
  const large = 'x'.repeat(4.2 * 2 ** 20)
  expectErrors(t, await csv.post(url('nodes'), `k,parent,v\na,b,${large}\nb,,\n`), [[2, 'parent', 'reference']])
  expectData(t, await csv.post(url('nodes'), `k,parent,v\nb,,\na,b,${large}\n`), { ...imported(2), atomic: false })
})

t.test('a reference is to a record of the other table', async (t) => {
  expectErrors(t, await csv.post(url('children'), 'rule\none\nabsent\n'), [[3, 'rule', 'reference']])
  expectData(t, await csv.post(url('children'), 'rule\none\n'), imported(1))
})

t.test('an error names the column of the file', async (t) => {
  const map = encodeURIComponent('{"Label":"name"}')
  expectErrors(t, await csv.post(url('collated', `?map=${map}`), 'Label\nTom\n'), [[2, 'Label', 'unique']])
})

t.test('a table that another program has dropped is not imported into', async (t) => {
  openServed(t, file).exec('DROP TABLE dropped')
  expectError(t, await csv.post(url('dropped'), 'v\nx\n'), 409, 'STRUCTURE_CHANGED')
})

t.test('the body must be a file in UTF-8', async (t) => {
  expectError(t, await admin.post(url('words')), 415, 'UNSUPPORTED_MEDIA_TYPE')
  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
    const response = await client(app, { ...cookie, 'content-type': type }).post(url('words'), 'v\n')
    expectError(t, response, 415, 'UNSUPPORTED_MEDIA_TYPE')
    t.match(response.json().error.hint, /Content-Type: text\/csv/, type)
  }
  const latin = client(app, { ...cookie, 'content-type': 'text/csv; charset=latin1' })
  expectError(t, await latin.post(url('words'), 'v\n'), 415, 'UNSUPPORTED_MEDIA_TYPE')
  const utf8 = client(app, { ...cookie, 'content-type': 'text/csv; charset="UTF-8"; header=present' })
  expectData(t, await utf8.post(url('words'), 'v\n'), imported(0))
})

t.test('a view cannot be imported into', async (t) => {
  expectError(t, await csv.post(url('shown'), 'v\nx\n'), 403, 'TABLE_READ_ONLY')
})

t.test('no staging file is left', async (t) => {
  t.strictSame(readdirSync(join(app.config.DATA_DIR, 'staging')), [])
})
