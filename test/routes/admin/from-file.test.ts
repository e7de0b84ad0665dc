import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import type { ErrorCode } from '../../../schemas/error.ts'
import {
  asAdmin,
  client,
  createDatabase,
  dataOf,
  expectError,
  logIn,
  startApp,
  type TestResponse
} from '../../helpers.ts'
import { openServed } from '../../served.ts'

const file = createDatabase(t, 'CREATE TABLE stored (id INTEGER PRIMARY KEY)')
const app = await startApp(t, { env: { DATABASE: file, IMPORT_LIMIT: '1000000' } })
const cookie = await logIn(app)
const admin = await asAdmin(app)
const csv = client(app, { ...cookie, 'content-type': 'text/csv' })
const ndjson = client(app, { ...cookie, 'content-type': 'application/x-ndjson' })

const url = (name: string, query = '') => `/admin/tables/from-file?name=${name}&label=${name}${query}`
const namesOf = async () => dataOf(await admin.get('/admin/tables')).map(({ name }: { name: string }) => name)
const rowsOf = async (id: number) => dataOf(await admin.get(`/admin/tables/${id}/data?size=100`)).rows

/** Returns the details of the errors because of which there is no table. */
const expectNoTable = (t: Test, response: TestResponse, status: number, code: ErrorCode) => {
  expectError(t, response, status, code)
  const { details = [] } = response.json().error
  return details as readonly { path: string; code: string; line?: number }[]
}

t.test('the types of the fields follow from the values', async (t) => {
  const text = [
    'i,n,b,s,date,mixed,empty,zip,wide,long',
    '-1,1,true,x,2026-01-02,1,,01,9007199254740993,99999999999999999999',
    '2,2.5,false,"",2026-01-03,true,,02,1,1',
    ',,,,,,,,,'
  ].join('\n')
  const preview = dataOf(await csv.post(url('typed', '&dryRun=true'), text))
  const types = {
    i: 'integer',
    n: 'number',
    b: 'boolean',
    s: 'string',
    date: 'string',
    mixed: 'string',
    empty: 'string',
    zip: 'string',
    wide: 'integer',
    long: 'string'
  }
  const rows = [
    {
      i: -1,
      n: 1,
      b: true,
      s: 'x',
      date: '2026-01-02',
      mixed: '1',
      empty: null,
      zip: '01',
      wide: '9007199254740993',
      long: '99999999999999999999'
    },
    { i: 2, n: 2.5, b: false, s: '', date: '2026-01-03', mixed: 'true', empty: null, zip: '02', wide: 1, long: '1' },
    Object.fromEntries(Object.keys(types).map((name) => [name, null]))
  ]
  t.strictSame(preview, {
    fields: Object.entries(types).map(([name, jsonType]) => ({ name, jsonType })),
    rows,
    created: 3,
    dryRun: true
  })
  t.notOk((await namesOf()).includes('typed'), 'a dry run creates nothing')

  const { table, ...made } = dataOf(await csv.post(url('typed'), text))
  t.strictSame(made, { ...preview, dryRun: false })
  t.match(table, { name: 'typed', label: 'typed', primaryKey: 'id', isPublished: false, isEditable: true })
  t.strictSame(
    await rowsOf(table.id),
    rows.map((row, index) => ({ id: index + 1, ...row }))
  )
})

t.test('numbers that would lose a digit are texts', async (t) => {
  const columns: Record<string, readonly [type: string, ...cells: string[]]> = {
    time: ['string', '08.30', '9.15'],
    code: ['string', '01e5', '2'],
    padded: ['string', '00.5', '1.5'],
    wide: ['string', '9007199254740993', '0.5'],
    digits: ['string', '0.12345678901234567890', '1'],
    zero: ['string', '-0.0', '1'],
    tiny: ['string', '1e-400', '1'],
    huge: ['string', `1.${'0'.repeat(400)}`, '1'],
    version: ['string', '1.10', '1.9'],
    price: ['number', '1.10', '19.90'],
    whole: ['number', '1.10', '3'],
    mixed: ['number', '1.25', '1.5'],
    exponent: ['number', '1e5', '-2.5E-3'],
    even: ['number', '9007199254740994', '0.5'],
    safe: ['integer', '9007199254740993', '0']
  }
  const names = Object.keys(columns)
  const lines = [1, 2].map((index) => names.map((name) => columns[name]?.[index]).join())
  const { fields, rows, table } = dataOf(await csv.post(url('exact'), [names.join(), ...lines].join('\n')))
  t.strictSame(
    fields.map(({ jsonType }: { jsonType: string }) => jsonType),
    names.map((name) => columns[name]?.[0])
  )
  const stored = await rowsOf(table.id)
  t.strictSame(
    stored,
    rows.map((row: object, index: number) => ({ id: index + 1, ...row })),
    'the preview shows what is stored'
  )
  t.match(stored, [
    { time: '08.30', wide: '9007199254740993', price: 1.1, even: 9007199254740994, safe: '9007199254740993' },
    { version: '1.9', price: 19.9, exponent: -0.0025 }
  ])
})

t.test('a later number that would lose a digit is an error', async (t) => {
  const text = (last: string) => `n,s\n${'1.5,x\n'.repeat(1000)}${last},01\n`
  for (const last of ['08.30', '9007199254740993'])
    t.match(expectNoTable(t, await csv.post(url('late', '&dryRun=true'), text(last)), 400, 'IMPORT_FAILED'), [
      { path: '/n', code: 'digits', line: 1002 }
    ])
  t.equal(dataOf(await csv.post(url('late', '&dryRun=true'), text('8.30'))).created, 1001)
})

t.test('an NDJSON integer beyond a safe one is not rounded', async (t) => {
  const send = (lines: string) => ndjson.post(url('wide_json', '&dryRun=true'), lines)
  t.match(dataOf(await send('{"n":9007199254740993}\n{"n":1}\n')), {
    fields: [{ jsonType: 'integer' }],
    rows: [{ n: '9007199254740993' }, { n: 1 }]
  })
  expectNoTable(t, await send('{"n":9007199254740993}\n{"n":0.5}\n'), 400, 'IMPORT_FAILED')
  t.match(dataOf(await send('{"n":9007199254740994}\n{"n":0.5}\n')), {
    fields: [{ jsonType: 'number' }],
    rows: [{ n: 9007199254740994 }, { n: 0.5 }]
  })
})

t.test('the fields of a preview create the same table', async (t) => {
  const { fields } = dataOf(await csv.post(url('previewed', '&dryRun=true'), 'a,b\n1,x\n'))
  t.match(dataOf(await admin.post('/admin/tables', { name: 'previewed', label: '', fields })), {
    fields: [{ name: 'id' }, { name: 'a', jsonType: 'integer' }, { name: 'b', jsonType: 'string' }]
  })
})

t.test('a field id is the key', async (t) => {
  const integers = dataOf(await csv.post(url('integer_key'), 'name,id\nx,7\ny,3\n')).table
  t.equal(integers.primaryKey, 'id')
  t.strictSame(await rowsOf(integers.id), [
    { name: 'y', id: 3 },
    { name: 'x', id: 7 }
  ])
  const texts = dataOf(await csv.post(url('text_key'), 'id\nb\na\n')).table
  t.equal(texts.primaryKey, 'id')
  t.match(expectNoTable(t, await csv.post(url('twice'), 'id\n1\n2\n1\n'), 400, 'IMPORT_FAILED'), [
    { path: '/id', code: 'unique', line: 4 }
  ])
  t.match(expectNoTable(t, await csv.post(url('twice'), 'id\n1.5\n'), 400, 'VALIDATION_FAILED'), [{ code: 'key' }])
  t.notOk((await namesOf()).includes('twice'))
})

t.test('the chosen fields of the file become the key', async (t) => {
  const text = 'name,id,sku,place\nx,a,7,2\ny,b,3,1\n'
  const single = dataOf(await csv.post(url('by_sku', '&primaryKey=sku'), text)).table
  t.match(single, { primaryKey: 'sku', fields: [{ isPrimary: false }, { isPrimary: false }, { isPrimary: true }, {}] })
  t.equal(dataOf(await admin.get(`/admin/tables/${single.id}/data/3`)).name, 'y')
  const composite = dataOf(await csv.post(url('by_both', '&primaryKey=sku,%20name'), text)).table
  t.equal(composite.primaryKey, 'name,sku')
  const map = encodeURIComponent('{"sku":"code"}')
  t.equal(dataOf(await csv.post(url('by_code', `&primaryKey=code&map=${map}`), text)).table.primaryKey, 'code')
  const preview = dataOf(await csv.post(url('by_name', '&primaryKey=name&dryRun=true'), text))
  t.match(preview.fields, [{ name: 'name', isPrimary: true }, { name: 'id', isPrimary: undefined }, {}, {}])
})

t.test('a key that does not identify the records of the file is refused', async (t) => {
  const send = (query: string, text: string) => csv.post(url('bad_key', query), text)
  const unknown = await send('&primaryKey=skv', 'sku\n1\n')
  t.match(expectNoTable(t, unknown, 400, 'VALIDATION_FAILED'), [{ path: '/primaryKey', code: 'unknown' }])
  t.equal(unknown.json().error.hint, "Did you mean 'sku'?")
  t.match(expectNoTable(t, await send('&primaryKey=sku', 'sku,n\na,1\n,2\n'), 400, 'IMPORT_FAILED'), [
    { path: '/sku', line: 3 }
  ])
  t.match(expectNoTable(t, await send('&primaryKey=sku', 'sku,n\na,1\na,2\n'), 400, 'IMPORT_FAILED'), [
    { path: '/sku', code: 'unique', line: 3 }
  ])
  expectNoTable(t, await send('&primaryKey=n', 'sku,n\na,true\n'), 400, 'VALIDATION_FAILED')
  expectNoTable(t, await send('&primaryKey=', 'sku\na\n'), 400, 'VALIDATION_FAILED')
  t.notOk((await namesOf()).includes('bad_key'))
})

t.test('a table without a label gets its name', async (t) => {
  t.equal(dataOf(await csv.post('/admin/tables/from-file?name=plain', 'a\n1\n')).table.label, 'plain')
})

t.test('NDJSON has the types of JSON, and records with different fields', async (t) => {
  const text = '{"s":"1","i":1,"n":1,"o":{"toString":1},"l":[1],"b":true}\n{"n":0.5,"more":null}\n'
  const { table, rows } = dataOf(await ndjson.post(url('json'), text))
  const expected = [
    { s: '1', i: 1, n: 1, o: { toString: 1 }, l: [1], b: true, more: null },
    { s: null, i: null, n: 0.5, o: null, l: null, b: null, more: null }
  ]
  t.strictSame(rows, expected)
  t.strictSame(
    await rowsOf(table.id),
    expected.map((row, index) => ({ id: index + 1, ...row }))
  )
})

t.test('the options of an import are applied', async (t) => {
  const text = "'=Product name;Ignored;s\nx;1;'=1\n"
  const map = encodeURIComponent('{"=Product name":"name","Ignored":null}')
  const query = `&delimiter=%3B&escape=formulas&map=${map}`
  const { table } = dataOf(await csv.post(url('options', query), text))
  t.strictSame(await rowsOf(table.id), [{ id: 1, name: 'x', s: '=1' }])
})

t.test('names that a new table cannot have are refused', async (t) => {
  t.match(expectNoTable(t, await csv.post(url('names'), 'ok,Product name,1\n'), 400, 'VALIDATION_FAILED'), [
    { path: '/fields/1/name', code: 'format' },
    { path: '/fields/2/name', code: 'format' }
  ])
  t.match(expectNoTable(t, await csv.post(url('names'), 'a,A\n'), 400, 'VALIDATION_FAILED'), [{ code: 'unique' }])
  t.match(expectNoTable(t, await csv.post(url('names'), ''), 400, 'VALIDATION_FAILED'), [{ path: '/fields' }])
  const many = Array.from({ length: 491 }, (_, index) => `f${index}`).join()
  t.match(expectNoTable(t, await csv.post(url('names'), many), 400, 'VALIDATION_FAILED'), [{ path: '/fields' }])
  expectNoTable(t, await csv.post(url('1'), 'a\n'), 400, 'VALIDATION_FAILED')
  expectNoTable(t, await csv.post(url('sqlite_x'), 'a\n'), 400, 'VALIDATION_FAILED')
  expectNoTable(t, await csv.post(url('stored'), 'a\n'), 409, 'TABLE_EXISTS')
})

t.test('a file without records makes an empty table', async (t) => {
  const { table, created } = dataOf(await csv.post(url('empty'), 'a\n'))
  t.equal(created, 0)
  t.strictSame(await rowsOf(table.id), [])
  const lines = dataOf(await csv.post(url('empty_line'), 'a\n\n'))
  t.strictSame([lines.created, lines.rows], [1, [{ a: null }]], 'an empty line is a record of one field')
})

t.test('a file with errors makes no table', async (t) => {
  t.match(expectNoTable(t, await csv.post(url('wrong'), 'a\n"x'), 400, 'IMPORT_FAILED'), [{ code: 'syntax', line: 2 }])
  t.match(expectNoTable(t, await csv.post(url('wrong'), 'a,b\n1\n\n1,2,3\n'), 400, 'IMPORT_FAILED'), [
    { code: 'cells', line: 2 },
    { code: 'cells', line: 4 }
  ])
  const late = `n\n${'1\n'.repeat(1000)}x\n`
  t.match(expectNoTable(t, await csv.post(url('wrong', '&dryRun=true'), late), 400, 'IMPORT_FAILED'), [
    { path: '/n', line: 1002 }
  ])
  t.notOk((await namesOf()).includes('wrong'))
})

t.test('a file over IMPORT_LIMIT without a Content-Length responds 413', async (t) => {
  const send = (size: number) =>
    app.inject({
      method: 'POST',
      url: url('limited'),
      headers: { ...cookie, 'content-type': 'text/csv' },
      payload: Readable.from([Buffer.from(`s\n${'x'.repeat(size)}\n`)])
    })
  expectError(t, await send(1_000_000), 413, 'BODY_TOO_LARGE')
  t.equal(dataOf(await send(999_000)).created, 1)
})

t.test('a large file is read to its end', async (t) => {
  const text = `n,s\n${`1,${'x'.repeat(100)}\n`.repeat(6000)}`
  const { table, rows, created } = dataOf(await csv.post(url('large'), text))
  t.equal(created, 6000)
  t.equal(rows.length, 20)
  t.equal(dataOf(await admin.get(`/admin/tables/${table.id}/data`)).total, 6000)
})

t.test('a table is removed if its records cannot be stored', async (t) => {
  const { create } = app.tables
  t.teardown(() => Object.assign(app.tables, { create }))
  /** Another program adds a trigger as soon as the table exists. */
  const refuseFrom = (position: number) =>
    Object.assign(app.tables, {
      create: async (...args: Parameters<typeof create>) => {
        const table = await create(...args)
        const other = openServed(t, file)
        other.exec(
          `CREATE TRIGGER odd_${table.id} BEFORE INSERT ON ${table.name} WHEN new.n = ${position} BEGIN SELECT RAISE(ABORT, 'odd'); END`
        )
        return table
      }
    })
  const text = `n\n${Array.from({ length: 6000 }, (_, index) => index).join('\n')}\n`

  refuseFrom(5999)
  const stopped = await csv.post(url('removed'), text)
  expectError(t, stopped, 409, 'IMPORT_STOPPED')
  t.match(stopped.json().error.message, /The table was removed\.$/)
  refuseFrom(0)
  expectError(t, await csv.post(url('removed'), text), 409, 'REFUSED_BY_TRIGGER')
  t.notOk((await namesOf()).includes('removed'))
  Object.assign(app.tables, { create })
  t.equal(dataOf(await csv.post(url('removed'), text)).created, 6000)
})
