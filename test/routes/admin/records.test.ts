import t from 'tap'
import type { NewField } from '../../../schemas/new-table.ts'
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
  startApp
} from '../../helpers.ts'
import { onlyOnFile, ROWID_KEY } from '../../served.ts'

const externalFile = createDatabase(
  t,
  `CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
   CREATE TABLE books (
     isbn TEXT PRIMARY KEY, author INTEGER NOT NULL REFERENCES authors (id), pages INTEGER CHECK (pages > 0)
   );
   INSERT INTO authors VALUES (1, 'Ann'), (2, 'Bob');
   INSERT INTO books VALUES ('1-2', 1, 100), ('a/b', 2, 5), ('ü,%2F', 1, 1), ('7', 1, 7);
   CREATE TABLE seats (row INTEGER, letter TEXT, taken BOOLEAN, PRIMARY KEY (row, letter)) WITHOUT ROWID;
   INSERT INTO seats VALUES (1, 'a', 1), (1, 'b,c', 0), (2, '', NULL), (3, '%', 2);
   CREATE TABLE heap (line TEXT);
   INSERT INTO heap VALUES ('first'), ('second');
   CREATE TABLE mixed (id INTEGER PRIMARY KEY, n INTEGER, r REAL, d NUMERIC, t TEXT, b BLOB, day DATE, any_type);
   INSERT INTO mixed VALUES
     (1, 9223372036854775807, 1e999, 9007199254740993, 'x', x'00ff', '2026-01-01', 5),
     (2, 1.5, -1e999, 1.25, x'41', 'text', 20260101, 'five'),
     (3, 'seven', 0.1, 'n/a', 5, NULL, 1.5, x'05'),
     (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
   CREATE TABLE proto (id INTEGER PRIMARY KEY, "__proto__" TEXT, "constructor" TEXT);
   INSERT INTO proto VALUES (1, 'odd', 'also');
   CREATE TABLE sums (a INTEGER, b INTEGER, total INTEGER GENERATED ALWAYS AS (a + b) STORED, id INTEGER PRIMARY KEY);
   INSERT INTO sums (a, b) VALUES (1, 2);
   CREATE TABLE shouted (id INTEGER PRIMARY KEY, word TEXT);
   CREATE TRIGGER shout AFTER INSERT ON shouted BEGIN UPDATE shouted SET word = upper(word) WHERE id = new.id; END;
   CREATE TRIGGER hush BEFORE INSERT ON shouted WHEN new.word = 'no' BEGIN SELECT RAISE(ABORT, 'the word is no'); END;
   CREATE TABLE muted (id INTEGER PRIMARY KEY, word TEXT, tone TEXT);
   CREATE TRIGGER mute BEFORE INSERT ON muted BEGIN SELECT RAISE(ABORT, 'Choose another word'); END;
   CREATE TRIGGER drop_it BEFORE INSERT ON shouted WHEN new.word = 'nothing' BEGIN SELECT RAISE(IGNORE); END;
   CREATE TRIGGER keep BEFORE DELETE ON shouted BEGIN SELECT RAISE(IGNORE); END;
   CREATE TABLE floored (id INTEGER PRIMARY KEY, n INTEGER);
   INSERT INTO floored VALUES (1, 1), (2, 9223372036854775807);
   CREATE TRIGGER floor_it BEFORE UPDATE ON floored WHEN new.n < 0 BEGIN SELECT RAISE(IGNORE); END;
   CREATE TABLE distinct_ones (id INTEGER PRIMARY KEY, n INTEGER UNIQUE ON CONFLICT IGNORE);
   INSERT INTO distinct_ones VALUES (1, 1), (2, 2);
   CREATE TABLE wide_keys (id INTEGER PRIMARY KEY, n INTEGER);
   INSERT INTO wide_keys VALUES (9007199254740993, 1), (-9223372036854775808, 2), (0, 3);
   CREATE TABLE real_keys (r REAL PRIMARY KEY, t TEXT);
   INSERT INTO real_keys VALUES (1.5, 'a'), (2, 'b');
   CREATE TABLE untyped (id INTEGER PRIMARY KEY, e, w INTEGER);
   INSERT INTO untyped (e) VALUES (9007199254740993), ('9007199254740993'), (x'00ff'), (5), (1.5), (NULL);`
)

let time = Date.parse('2026-03-01T12:00:00Z')
const app = await startApp(t, { env: { DATABASE: externalFile, MAX_PAGE_SIZE: '50' }, clock: () => time })
const admin = await asAdmin(app)

/** Creates a table and returns the URL of its records. */
const records = async (name: string, fields: NewField[], options: { autoTimestamps?: boolean } = {}) => {
  const { id } = await createTable(admin, { name, fields, ...options })
  return `/admin/tables/${id}/data`
}
/** Imports a table and returns the URL of its records. */
const imported = async (name: string) => `/admin/tables/${(await importTable(admin, name)).id}/data`
const all = async (url: string, query = '') => dataOf(await admin.get(`${url}${query}`)).rows

t.test('with return=record, an update and a delete respond with the record, hidden fields included', async (t) => {
  const url = await records('returned', [
    { name: 's', jsonType: 'string' },
    { name: 'h', jsonType: 'integer', isHidden: true }
  ])
  await admin.post(url, { s: 'a', h: 1 })
  const record = { id: 1, s: 'b', h: 1 }
  expectData(t, await admin.put(`${url}/1?return=record`, { s: 'b' }), { success: true, record })
  expectError(t, await admin.put(`${url}/1?return=all`, { s: 'c' }), 400, 'VALIDATION_FAILED', '/return')
  expectError(t, await admin.delete(`${url}/1?return=`), 400, 'VALIDATION_FAILED', '/return')
  expectData(t, await admin.delete(`${url}/1?return=record`), { success: true, record })
  expectError(t, await admin.delete(`${url}/1?return=record`), 404, 'RECORD_NOT_FOUND')
})

t.test('a create returns the complete record, with its generated key', async (t) => {
  const url = await records('typed', [
    { name: 'i', jsonType: 'integer' },
    { name: 'n', jsonType: 'number' },
    { name: 's', jsonType: 'string' },
    { name: 'b', jsonType: 'boolean' },
    { name: 'o', jsonType: 'object' },
    { name: 'a', jsonType: 'array' }
  ])
  const body = { i: -7, n: 0.1, s: 'naïve "text" 😀\n', b: false, o: { k: [null, 1.5] }, a: [1, 'x', {}] }
  expectData(t, await admin.post(url, body), { id: 1, ...body })
  expectData(t, await admin.get(`${url}/1`), { id: 1, ...body })
  expectData(t, await admin.post(url, {}), { id: 2, i: null, n: null, s: null, b: null, o: null, a: null })
  expectData(t, await admin.post(url, { id: 10, b: true, s: '', o: {}, a: [] }), {
    id: 10,
    i: null,
    n: null,
    s: '',
    b: true,
    o: {},
    a: []
  })
  expectData(t, await admin.post(url, { id: null, i: 0 }), {
    id: 11,
    i: 0,
    n: null,
    s: null,
    b: null,
    o: null,
    a: null
  })
})

t.test('a missing field gets its default', async (t) => {
  const url = await records('defaulted', [
    { name: 's', jsonType: 'string', defaultValue: "it's" },
    { name: 'n', jsonType: 'number', defaultValue: 1e21, nullable: false },
    { name: 'b', jsonType: 'boolean', defaultValue: false },
    { name: 'o', jsonType: 'object', defaultValue: { a: 1 } }
  ])
  expectData(t, await admin.post(url, {}), { id: 1, s: "it's", n: 1e21, b: false, o: { a: 1 } })
  expectData(t, await admin.post(url, { s: null, b: null }), { id: 2, s: null, n: 1e21, b: null, o: { a: 1 } })
  expectError(t, await admin.post(url, { n: null }), 400, 'VALIDATION_FAILED', '/n')
})

t.test('integers beyond 2^53 are sent and returned exactly, as text', async (t) => {
  const url = await records('wide', [{ name: 'n', jsonType: 'integer' }])
  const exact = [9007199254740991, -9007199254740991, '9007199254740992', '9223372036854775807', '-9223372036854775808']
  for (const n of exact) {
    const { id, ...rest } = dataOf(await admin.post(url, { n }))
    t.strictSame(rest, { n })
    t.strictSame(dataOf(await admin.get(`${url}/${id}`)), { id, n })
  }
  for (const n of [
    '9223372036854775808',
    '12',
    9007199254740992,
    1e300,
    '1e20',
    ' 9007199254740993',
    '9007199254740993.0',
    ''
  ])
    expectError(t, await admin.post(url, { n }), 400, 'VALIDATION_FAILED', '/n')
})

t.test('doubles keep every bit', async (t) => {
  const url = await records('doubles', [{ name: 'n', jsonType: 'number' }])
  for (const n of [
    0.1,
    1 / 3,
    5e-324,
    Number.MAX_VALUE,
    2 ** 53 + 2,
    1e21,
    -1.7976931348623157e308,
    123456789.12345679
  ]) {
    const { id } = dataOf(await admin.post(url, { n }))
    t.equal(dataOf(await admin.get(`${url}/${id}`)).n, n)
  }
  const headers = { ...admin.headers, 'content-type': 'application/json' }
  const send = (payload: string) => app.inject({ method: 'POST', url, headers, payload })
  expectError(t, await send('{"n":1e400}'), 400, 'VALIDATION_FAILED', '/n')
  expectError(t, await send('{"n":-1e400}'), 400, 'VALIDATION_FAILED', '/n')
  t.equal(dataOf(await send('{"n":1.0}')).n, 1)
})

t.test('a value of the wrong type is refused, never converted', async (t) => {
  const fields = ['integer', 'number', 'string', 'boolean', 'object', 'array'] as const
  const url = await records(
    'strict_types',
    fields.map((jsonType) => ({ name: `a_${jsonType}`, jsonType }))
  )
  const wrong = {
    integer: ['1', 1.5, true, [], {}],
    number: ['1', false, [1], {}],
    string: [1, true, [], {}],
    boolean: [0, 1, 'true', []],
    object: [[], 'x', 1, '{}'],
    array: [{}, '[]', 0]
  }
  for (const jsonType of fields) {
    for (const value of wrong[jsonType])
      expectError(t, await admin.post(url, { [`a_${jsonType}`]: value }), 400, 'VALIDATION_FAILED', `/a_${jsonType}`)
  }
  t.strictSame(await all(url), [])
  const response = await admin.post(url, { a_integer: 'x', a_string: 1, other: 1 })
  t.strictSame(
    response.json().error.details.map(({ path, code }: { path: string; code: string }) => [path, code]),
    [
      ['/a_integer', 'type'],
      ['/a_string', 'type'],
      ['/other', 'unknown']
    ],
    'one response lists all errors'
  )
})

t.test('text that cannot be stored is refused', async (t) => {
  const url = await records('texts_only', [
    { name: 's', jsonType: 'string' },
    { name: 'o', jsonType: 'object' }
  ])
  const headers = { ...admin.headers, 'content-type': 'application/json' }
  const send = (payload: string | Buffer) => app.inject({ method: 'POST', url, headers, payload })
  expectError(t, await send('{"s":"a\\u0000b"}'), 400, 'VALIDATION_FAILED', '/s')
  expectError(t, await send('{"s":"\\ud800"}'), 400, 'VALIDATION_FAILED', '/s')
  expectError(t, await send('{"o":{"deep":["\\udc00"]}}'), 400, 'VALIDATION_FAILED', '/o/deep/0')
  expectError(t, await send('{"o":{"\\u0000":1}}'), 400, 'VALIDATION_FAILED')
  expectError(t, await send(Buffer.from('{"s":"\xff"}', 'latin1')), 400, 'MALFORMED_JSON')
  t.strictSame(await all(url), [])
  t.equal(dataOf(await send('{"s":"\\ud83d\\ude00"}')).s, '😀')
})

t.test('unknown keys, keys in another case and inherited keys are refused', async (t) => {
  const url = await records('keys', [{ name: 'a', jsonType: 'string' }])
  const headers = { ...admin.headers, 'content-type': 'application/json' }
  for (const name of ['A', 'b', '', 'constructor', 'toString', '__proto__', 'rowid']) {
    const payload = `{${JSON.stringify(name)}: "x"}`
    expectError(t, await app.inject({ method: 'POST', url, headers, payload }), 400, 'VALIDATION_FAILED', `/${name}`)
  }
  for (const payload of ['[]', '"a"', '5', 'null', '[{"a":"x"}]', ''])
    t.equal((await app.inject({ method: 'POST', url, headers, payload })).statusCode, 400, payload)
  t.strictSame(await all(url), [])
})

t.test('an update changes only the fields in its body', async (t) => {
  const url = await records('updated', [
    { name: 'a', jsonType: 'string' },
    { name: 'b', jsonType: 'integer', nullable: false, defaultValue: 5 }
  ])
  await admin.post(url, { a: 'x' })
  expectDone(t, await admin.put(`${url}/1`, { b: 6 }))
  expectData(t, await admin.get(`${url}/1`), { id: 1, a: 'x', b: 6 })
  expectDone(t, await admin.put(`${url}/1`, { a: null }))
  expectData(t, await admin.get(`${url}/1`), { id: 1, a: null, b: 6 })
  expectDone(t, await admin.put(`${url}/1`, { id: 1, a: 'same key' }))

  t.test('an invalid update is refused', async (t) => {
    expectError(t, await admin.put(`${url}/1`, {}), 400, 'VALIDATION_FAILED', '')
    expectError(t, await admin.put(`${url}/1`, { id: 1 }), 400, 'VALIDATION_FAILED', '')
    expectError(t, await admin.put(`${url}/1`, { id: 2, a: 'y' }), 400, 'VALIDATION_FAILED', '/id')
    expectError(t, await admin.put(`${url}/1`, { id: null, a: 'y' }), 400, 'VALIDATION_FAILED', '/id')
    expectError(t, await admin.put(`${url}/1`, { b: null }), 400, 'VALIDATION_FAILED', '/b')
    expectError(t, await admin.put(`${url}/1`, { c: 1 }), 400, 'VALIDATION_FAILED', '/c')
    expectError(t, await admin.put(`${url}/2`, { a: 'y' }), 404, 'RECORD_NOT_FOUND')
    expectData(t, await admin.get(`${url}/1`), { id: 1, a: 'same key', b: 6 })
  })
})

t.test('a read-only field is refused in writes, and ignored in an update with its current value', async (t) => {
  const url = await records('guarded', [
    { name: 'a', jsonType: 'string' },
    { name: 'fixed', jsonType: 'string', isReadonly: true, defaultValue: 'stone' }
  ])
  expectData(t, await admin.post(url, { a: 'x' }), { id: 1, a: 'x', fixed: 'stone' })
  expectError(t, await admin.post(url, { a: 'x', fixed: 'stone' }), 400, 'VALIDATION_FAILED', '/fixed')
  expectDone(t, await admin.put(`${url}/1`, { a: 'y', fixed: 'stone' }))
  expectError(t, await admin.put(`${url}/1`, { a: 'z', fixed: 'water' }), 400, 'VALIDATION_FAILED', '/fixed')
  expectError(t, await admin.put(`${url}/9`, { a: 'z', fixed: 'water' }), 404, 'RECORD_NOT_FOUND')
  expectError(t, await admin.put(`${url}/1`, { fixed: 'stone' }), 400, 'VALIDATION_FAILED', '/fixed')
  expectData(t, await admin.get(`${url}/1`), { id: 1, a: 'y', fixed: 'stone' })
})

t.test('an update may contain the current value of a read-only field without a type', async (t) => {
  const url = await imported('untyped')
  dataOf(await admin.put(url.replace(/\/data$/, ''), { fields: [{ name: 'e', isReadonly: true }] }))
  for (const { id, e } of await all(url)) {
    expectDone(t, await admin.put(`${url}/${id}`, { e, w: 2 }))
    expectError(t, await admin.put(`${url}/${id}`, { e: '9007199254740995', w: 3 }), 400, 'VALIDATION_FAILED', '/e')
  }
  t.strictSame(
    (await all(url)).map(({ w }: { w: number }) => w),
    [2, 2, 2, 2, 2, 2]
  )
})

t.test('the service maintains timestamps', async (t) => {
  const url = await records('stamped', [{ name: 'a', jsonType: 'string' }], { autoTimestamps: true })
  const createdAt = time
  expectData(t, await admin.post(url, { a: 'x' }), { id: 1, a: 'x', created_at: createdAt, updated_at: createdAt })
  expectDone(t, await admin.put(`${url}/1`, { a: 'y' }))
  expectData(t, await admin.get(`${url}/1`), { id: 1, a: 'y', created_at: createdAt, updated_at: createdAt + 1 })
  time += 5000
  expectDone(t, await admin.put(`${url}/1`, { a: 'z', created_at: createdAt }))
  expectData(t, await admin.get(`${url}/1`), { id: 1, a: 'z', created_at: createdAt, updated_at: time })
  expectError(t, await admin.put(`${url}/1`, { a: 'w', updated_at: 5 }), 400, 'VALIDATION_FAILED', '/updated_at')
  expectError(t, await admin.post(url, { a: 'w', created_at: 5 }), 400, 'VALIDATION_FAILED', '/created_at')
})

t.test('a second delete of a record responds 404', async (t) => {
  const url = await records('deleted', [{ name: 'a', jsonType: 'string' }])
  await admin.post(url, { a: 'x' })
  expectDone(t, await admin.delete(`${url}/1`))
  expectError(t, await admin.delete(`${url}/1`), 404, 'RECORD_NOT_FOUND')
  expectError(t, await admin.get(`${url}/1`), 404, 'RECORD_NOT_FOUND')
  expectData(t, await admin.post(url, { a: 'y' }), { id: 2, a: 'y' })
  t.equal(dataOf(await admin.get(url)).total, 1)
})

t.test('an integer key has one format', async (t) => {
  const url = await records('integer_keys', [{ name: 'a', jsonType: 'string' }])
  await admin.post(url, { a: 'x' })
  for (const pk of ['01', '1.0', '%2B1', '1e0', '0x1', '%201', '1%20', '-0', 'one', '', '9223372036854775808']) {
    expectError(t, await admin.get(`${url}/${pk}`), 404, 'RECORD_NOT_FOUND')
    expectError(t, await admin.put(`${url}/${pk}`, { a: 'y' }), 404, 'RECORD_NOT_FOUND')
    expectError(t, await admin.delete(`${url}/${pk}`), 404, 'RECORD_NOT_FOUND')
  }
  expectData(t, await admin.get(`${url}/1`), { id: 1, a: 'x' })
})

t.test('a text key is compared as text, never as a number', async (t) => {
  const url = await records('text_keys', [{ name: 'code', jsonType: 'string', isPrimary: true }])
  for (const code of ['7', '07', '7.0', 'a/b?c#d', 'ü 😀', '', '%2F', "'; DROP TABLE text_keys; --", 'null', '+1']) {
    expectData(t, await admin.post(url, { code }), { code })
    expectData(t, await admin.get(`${url}/${encodeURIComponent(code)}`), { code })
  }
  expectError(t, await admin.post(url, { code: '7' }), 409, 'UNIQUE_VIOLATION', '/code')
  expectError(t, await admin.post(url, {}), 400, 'VALIDATION_FAILED', '/code')
  expectError(t, await admin.post(url, { code: null }), 400, 'VALIDATION_FAILED', '/code')
  expectError(t, await admin.get(`${url}/%00`), 400, 'VALIDATION_FAILED', '/pk')
  expectError(t, await admin.get(`${url}/%ff`), 400, 'MALFORMED_REQUEST')
})

t.test('a key is at most 8,192 characters long', async (t) => {
  const url = await records('long_keys', [{ name: 'code', jsonType: 'string', isPrimary: true }])
  const longest = 'x'.repeat(8192)
  expectData(t, await admin.post(url, { code: longest }), { code: longest })
  expectData(t, await admin.get(`${url}/${longest}`), { code: longest })
  expectError(t, await admin.get(`${url}/${longest}x`), 414, 'PATH_TOO_LONG')
  expectError(t, await admin.get(`${url}/${'x'.repeat(30_000)}`), 414, 'PATH_TOO_LONG')
  expectError(t, await admin.post(url, { code: `${longest}x` }), 400, 'VALIDATION_FAILED', '/code')
  const widest = 'ü'.repeat(8192)
  expectData(t, await admin.post(url, { code: widest }), { code: widest })
  expectData(t, await admin.get(`${url}/${encodeURIComponent(widest)}`), { code: widest })
})

t.test('an imported table with constraints', async (t) => {
  const authors = await imported('authors')
  const books = await imported('books')
  t.test('names the field of a unique violation', async (t) => {
    expectError(t, await admin.post(authors, { name: 'Ann' }), 409, 'UNIQUE_VIOLATION', '/name')
    expectError(t, await admin.put(`${authors}/2`, { name: 'Ann' }), 409, 'UNIQUE_VIOLATION', '/name')
    expectError(t, await admin.post(authors, { id: 1, name: 'Cid' }), 409, 'UNIQUE_VIOLATION', '/id')
    expectData(t, await admin.post(authors, { name: 'Cid' }), { id: 3, name: 'Cid' })
  })
  t.test('refuses foreign key violations', async (t) => {
    expectError(t, await admin.post(books, { isbn: 'x', author: 99 }), 409, 'FOREIGN_KEY_VIOLATION', '/author')
    const refused = await admin.delete(`${authors}/1`)
    expectError(t, refused, 409, 'FOREIGN_KEY_VIOLATION')
    t.match(refused.json().error.message, /^The record '1' cannot be deleted/)
    expectDone(t, await admin.delete(`${authors}/3`))
  })
  t.test('refuses violations of CHECK and NOT NULL', async (t) => {
    expectError(t, await admin.put(`${books}/1-2`, { pages: 0 }), 400, 'CONSTRAINT_VIOLATION', '/pages')
    expectError(t, await admin.post(authors, {}), 400, 'VALIDATION_FAILED', '/name')
  })
  t.test('finds keys with special characters', async (t) => {
    expectData(t, await admin.get(`${books}/a%2Fb`), { isbn: 'a/b', author: 2, pages: 5 })
    expectData(t, await admin.get(`${books}/${encodeURIComponent('ü,%2F')}`), { isbn: 'ü,%2F', author: 1, pages: 1 })
    expectError(t, await admin.get(`${books}/7.0`), 404, 'RECORD_NOT_FOUND')
  })
})

const seats = await imported('seats')

t.test('a composite key is written with commas, each part percent-encoded', async (t) => {
  const url = seats
  const path = (...parts: readonly string[]) => `${url}/${encodeURIComponent(parts.map(encodeURIComponent).join(','))}`
  expectData(t, await admin.get(`${url}/1,a`), { row: 1, letter: 'a', taken: true })
  expectData(t, await admin.get(path('1', 'b,c')), { row: 1, letter: 'b,c', taken: false })
  expectData(t, await admin.get(`${url}/2,`), { row: 2, letter: '', taken: null })
  expectData(t, await admin.get(path('3', '%')), { row: 3, letter: '%', taken: 2 })
  for (const pk of ['1', 'a,1', '1,a,', '01,a', '1,b,c', '1,%25zz', ',', ''])
    expectError(t, await admin.get(`${url}/${pk}`), 404, 'RECORD_NOT_FOUND')
  expectData(t, await admin.post(url, { row: 4, letter: 'd', taken: false }), { row: 4, letter: 'd', taken: false })
  expectError(t, await admin.post(url, { row: 4, letter: 'd' }), 409, 'UNIQUE_VIOLATION', '/row')
  expectError(t, await admin.post(url, { row: 5 }), 400, 'VALIDATION_FAILED', '/letter')
  expectDone(t, await admin.put(`${url}/4,d`, { taken: true, row: 4 }))
  expectError(t, await admin.put(`${url}/4,d`, { taken: true, row: 5 }), 400, 'VALIDATION_FAILED', '/row')
  expectDone(t, await admin.delete(`${url}/4,d`))
  t.strictSame(
    (await all(url)).map(({ row, letter }: { row: number; letter: string }) => [row, letter]),
    [
      [1, 'a'],
      [1, 'b,c'],
      [2, ''],
      [3, '%']
    ]
  )
})

t.test('a comma that is not encoded separates the parts of a composite key, each encoded once', async (t) => {
  const url = seats
  const path = (...parts: readonly string[]) => `${url}/${parts.map(encodeURIComponent).join(',')}`
  const letters = ['a,b', '%2C', '50%', 'ü/?', '', ',']
  for (const letter of letters) {
    const seat = { row: 7, letter, taken: true }
    expectData(t, await admin.post(url, seat), seat)
    expectData(t, await admin.get(path('7', letter)), seat)
    expectDone(t, await admin.put(path('7', letter), { taken: false }))
    const options = `${path('7', letter)}?return=record`
    t.strictSame(dataOf(await admin.delete(options)).record, { ...seat, taken: false }, letter)
  }
  expectError(t, await admin.get(`${url}/7,a,b`), 404, 'RECORD_NOT_FOUND')
})

t.test('a table without a key uses its rowid', onlyOnFile(ROWID_KEY), async (t) => {
  const url = await imported('heap')
  expectData(t, await admin.get(`${url}/2`), { rowid: 2, line: 'second' })
  expectData(t, await admin.post(url, { line: 'third' }), { rowid: 3, line: 'third' })
  expectDone(t, await admin.put(`${url}/3`, { line: 'changed' }))
  expectDone(t, await admin.delete(`${url}/1`))
  t.strictSame(await all(url, '?order=-rowid'), [
    { rowid: 3, line: 'changed' },
    { rowid: 2, line: 'second' }
  ])
})

t.test('values of any type in columns that are not STRICT are returned as stored', async (t) => {
  const url = await imported('mixed')
  t.strictSame(await all(url), [
    {
      id: 1,
      n: '9223372036854775807',
      r: null,
      d: '9007199254740993',
      t: 'x',
      b: 'AP8=',
      day: '2026-01-01',
      any_type: 5
    },
    { id: 2, n: 1.5, r: null, d: 1.25, t: 'QQ==', b: 'text', day: 20260101, any_type: 'five' },
    { id: 3, n: 'seven', r: 0.1, d: 'n/a', t: '5', b: null, day: 1.5, any_type: 'BQ==' },
    { id: 4, n: null, r: null, d: null, t: null, b: null, day: null, any_type: null }
  ])
  const body = { n: 1, r: 2, d: 0.25, t: '007', b: 'AAEC', day: '2026-12-31', any_type: 'z' }
  expectData(t, await admin.post(url, body), { id: 5, ...body })
  expectDone(t, await admin.put(`${url}/5`, { day: 5, any_type: 1.5, b: '' }))
  expectData(t, await admin.get(`${url}/5`), { id: 5, ...body, day: 5, any_type: 1.5, b: '' })
  for (const b of ['AAE', 'AA=', '*', 'AAEC\n', 5])
    expectError(t, await admin.put(`${url}/5`, { b }), 400, 'VALIDATION_FAILED', '/b')
  expectError(t, await admin.put(`${url}/5`, { day: true }), 400, 'VALIDATION_FAILED', '/day')
})

t.test('a column named __proto__ can be read, but not written', async (t) => {
  const url = await imported('proto')
  const response = await admin.get(`${url}/1`)
  t.equal(response.body, '{"success":true,"data":{"id":1,"__proto__":"odd","constructor":"also"}}')
  const headers = { ...admin.headers, 'content-type': 'application/json' }
  const payload = '{"__proto__":"x"}'
  expectError(
    t,
    await app.inject({ method: 'PUT', url: `${url}/1`, headers, payload }),
    400,
    'VALIDATION_FAILED',
    '/__proto__'
  )
  expectDone(t, await admin.put(`${url}/1`, { constructor: 'new' }))
})

t.test('a generated column is read-only', async (t) => {
  const url = await imported('sums')
  expectData(t, await admin.post(url, { a: 3, b: 4 }), { a: 3, b: 4, total: 7, id: 2 })
  expectError(t, await admin.post(url, { a: 3, b: 4, total: 8 }), 400, 'VALIDATION_FAILED', '/total')
  expectDone(t, await admin.put(`${url}/2`, { a: 5, total: 7 }))
  expectData(t, await admin.get(`${url}/2`), { a: 5, b: 4, total: 9, id: 2 })
})

t.test('an increment that the database ignores and one that overflows have different codes', async (t) => {
  const token = await asToken(app, admin)
  await imported('floored')
  const floored = (body: object) => token.post('/data/floored/incr', { field: 'n', ...body })
  expectError(t, await floored({ pk: 1, count: -2 }), 409, 'REFUSED_BY_TRIGGER')
  expectError(t, await floored({ pk: 2, count: 1 }), 409, 'INCREMENT_OVERFLOW')
  expectError(t, await floored({ pk: 3, count: 1 }), 404, 'RECORD_NOT_FOUND')
  expectDone(t, await floored({ pk: 1, count: -1 }))

  await imported('distinct_ones')
  const distinct = (body: object) => token.post('/data/distinct_ones/incr', { field: 'n', ...body })
  expectError(t, await distinct({ pk: 1 }), 409, 'UNIQUE_VIOLATION')
  expectDone(t, await distinct({ pk: 2 }))
})

t.test('the message of a trigger is repeated to tokens that see all fields of the table', async (t) => {
  const { id } = await importTable(admin, 'muted')
  const token = await asToken(app, admin)
  const refused = async () => {
    const response = await token.post('/data/muted/records', { word: 'no' })
    expectError(t, response, 409, 'REFUSED_BY_TRIGGER')
    return response.json().error.message
  }
  t.equal(await refused(), "A trigger of the database refused the change: 'Choose another word'.")
  dataOf(await admin.put(`/admin/tables/${id}`, { fields: [{ name: 'tone', isHidden: true }] }))
  t.equal(await refused(), 'A trigger of the database refused the change.')
})

t.test('triggers can change and refuse writes', async (t) => {
  const url = await imported('shouted')
  expectData(t, await admin.post(url, { word: 'quiet' }), { id: 1, word: 'QUIET' })
  const refused = await admin.post(url, { word: 'no' })
  expectError(t, refused, 409, 'REFUSED_BY_TRIGGER')
  t.match(refused.json().error.message, /'the word is no'/)
  expectError(t, await admin.post(url, { word: 'nothing' }), 409, 'REFUSED_BY_TRIGGER')
  expectError(t, await admin.delete(`${url}/1`), 409, 'REFUSED_BY_TRIGGER')
  expectError(t, await admin.delete(`${url}/2`), 404, 'RECORD_NOT_FOUND')
  t.equal(dataOf(await admin.get(url)).total, 1)
})

t.test('keys beyond 2^53 are found by their text', async (t) => {
  const url = await imported('wide_keys')
  expectData(t, await admin.get(`${url}/9007199254740993`), { id: '9007199254740993', n: 1 })
  expectError(t, await admin.get(`${url}/9007199254740992`), 404, 'RECORD_NOT_FOUND')
  expectData(t, await admin.get(`${url}/-9223372036854775808`), { id: '-9223372036854775808', n: 2 })
  expectDone(t, await admin.put(`${url}/9007199254740993`, { id: '9007199254740993', n: 5 }))
  t.strictSame(
    (await all(url)).map(({ id }: { id: unknown }) => id),
    ['-9223372036854775808', 0, '9007199254740993']
  )
})

t.test('real keys are found by the text of the number in JSON', async (t) => {
  const url = await imported('real_keys')
  expectData(t, await admin.get(`${url}/1.5`), { r: 1.5, t: 'a' })
  expectData(t, await admin.get(`${url}/2`), { r: 2, t: 'b' })
  expectError(t, await admin.get(`${url}/2.0`), 404, 'RECORD_NOT_FOUND')
  expectError(t, await admin.get(`${url}/1.50`), 404, 'RECORD_NOT_FOUND')
})

t.test('a list', async (t) => {
  const url = await records('listed', [
    { name: 'name', jsonType: 'string' },
    { name: 'n', jsonType: 'integer' },
    { name: 'price', jsonType: 'number' }
  ])
  const names = ['Ann', 'bob', 'Cid', '100%', 'a_b', 'back\\slash', 'Ärger', null]
  for (let index = 0; index < 60; index += 1)
    await admin.post(url, { name: names[index % names.length], n: index % 7, price: index / 4 })
  const ids = async (query: string) => (await all(url, query)).map(({ id }: { id: number }) => id)
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

  t.test('has 20 rows in the order of the key by default', async (t) => {
    const response = await admin.get(url)
    const { rows, ...rest } = dataOf(response)
    t.strictSame(rest, { total: 60, page: 1, size: 20 })
    t.strictSame(rows[0], { id: 1, name: 'Ann', n: 0, price: 0 })
    t.strictSame(await ids(''), range(1, 20))
    t.strictSame(await ids('?order=&q='), range(1, 20), 'empty parameters count as absent')
  })
  t.test('returns the requested page', async (t) => {
    t.strictSame(await ids('?page=2&size=7'), range(8, 14))
    t.strictSame(await ids('?page=9&size=7'), range(57, 60))
    expectData(t, await admin.get(`${url}?page=10&size=7`), { rows: [], total: 60, page: 10, size: 7 })
    expectData(t, await admin.get(`${url}?page=999999999`), { rows: [], total: 60, page: 999999999, size: 20 })
  })
  t.test('limits the size and returns it', async (t) => {
    const { rows, size } = dataOf(await admin.get(`${url}?size=999999999`))
    t.equal(size, 50)
    t.equal(rows.length, 50)
    t.strictSame(await ids('?size=1000&page=2'), range(51, 60))
  })
  t.test('refuses invalid pages and sizes', async (t) => {
    for (const name of ['page', 'size']) {
      for (const text of ['0', '-1', '1.5', '01', '1e2', 'abc', '1234567890', '', '%2B1', '0x1', 'Infinity', ' 1'])
        expectError(t, await admin.get(`${url}?${name}=${text}`), 400, 'VALIDATION_FAILED', `/${name}`)
      expectError(t, await admin.get(`${url}?${name}=1&${name}=1`), 400, 'VALIDATION_FAILED', `/${name}`)
    }
    expectError(t, await admin.get(`${url}?limit=5`), 400, 'VALIDATION_FAILED', '/limit')
    expectError(t, await admin.get(`${url}?Page=1`), 400, 'VALIDATION_FAILED', '/Page')
    expectError(t, await admin.get(`${url}?order=n&order=id`), 400, 'VALIDATION_FAILED', '/order')
    expectError(t, await admin.get(`${url}?q=a&q=b`), 400, 'VALIDATION_FAILED', '/q')
  })
  t.test('has the requested order, with the key as the last criterion', async (t) => {
    const sevens = range(1, 60).sort((a, b) => ((a - 1) % 7) - ((b - 1) % 7) || a - b)
    const descendingSevens = range(1, 60).sort((a, b) => ((b - 1) % 7) - ((a - 1) % 7) || a - b)
    for (const order of ['n', '%2Bn', '+n', 'n+asc', 'n:ASC', 'n.asc', '%20n%20', 'n,asc', 'n,id'])
      t.strictSame(await ids(`?size=50&order=${order}`), sevens.slice(0, 50), order)
    for (const order of ['-n', 'n+desc', 'n%20DESC', 'n:desc', 'n.Desc', 'n,desc', '-n,id', '%20-n%20,+id'])
      t.strictSame(await ids(`?size=50&order=${order}`), descendingSevens.slice(0, 50), order)
    t.strictSame(await ids('?order=desc'), range(41, 60).reverse())
    t.strictSame(await ids('?order=-id&page=3'), range(1, 20).reverse())
    t.strictSame(await ids('?order=asc&size=3'), [1, 2, 3])
    t.strictSame(await ids('?order=-n,-id&size=2'), [56, 49])
    t.equal((await ids('?order=id,n,name,price,id,n,name,price')).length, 20)
  })
  t.test('refuses an invalid order', async (t) => {
    for (const order of [
      'm',
      'N',
      'n,,id',
      'n;',
      'n%00',
      'n%20down',
      '1',
      'n%20desc%20nulls',
      '--n',
      'random()',
      'constructor'
    ])
      expectError(t, await admin.get(`${url}?order=${order}`), 400, 'VALIDATION_FAILED', '/order')
    expectError(t, await admin.get(`${url}?order=${Array(9).fill('n').join()}`), 400, 'VALIDATION_FAILED', '/order')
  })
  t.test('finds text without regard to case, and with literal wildcards', async (t) => {
    const total = async (q: string) => dataOf(await admin.get(`${url}?q=${encodeURIComponent(q)}`)).total
    t.equal(await total('ANN'), 8)
    t.equal(await total('b'), 22)
    t.equal(await total('%'), 8)
    t.equal(await total('_'), 7)
    t.equal(await total('\\'), 7)
    t.equal(await total('Ärger'), 7)
    t.equal(await total('ärger'), 7)
    t.equal(await total("' OR 1=1 --"), 0)
    t.strictSame(await ids('?q=bob&size=2&page=2&order=-id'), [42, 34])
  })
  t.test('finds numbers by equality', async (t) => {
    const total = async (q: string) => dataOf(await admin.get(`${url}?q=${encodeURIComponent(q)}`)).total
    t.equal(await total('0.25'), 1)
    t.equal(await total('60'), 1)
    t.equal(await total('6'), 10, 'id 6, price 6, and n 6 in eight others')
    t.equal(await total('100'), 8, 'part of a text')
    t.equal(await total('1e400'), 0)
  })
  t.test('accepts a search of at most 255 characters', async (t) => {
    expectData(t, await admin.get(`${url}?q=${'x'.repeat(255)}`), { rows: [], total: 0, page: 1, size: 20 })
    expectError(t, await admin.get(`${url}?q=${'x'.repeat(256)}`), 400, 'VALIDATION_FAILED', '/q')
    expectError(t, await admin.get(`${url}?q=a%00b`), 400, 'VALIDATION_FAILED', '/q')
  })
  t.test('has a total that creates and deletes update', async (t) => {
    await admin.post(url, {})
    t.equal(dataOf(await admin.get(url)).total, 61)
    await admin.delete(`${url}/30`)
    t.equal(dataOf(await admin.get(url)).total, 60)
    t.strictSame(await ids('?page=2&size=20'), [...range(21, 29), ...range(31, 41)], 'a gap moves the later rows up')
  })
})

t.test('a deep page is correct with and without gaps in the key', async (t) => {
  const url = await records('deep', [{ name: 'n', jsonType: 'integer' }])
  await Promise.all(Array.from({ length: 1200 }, () => admin.post(url, { n: 1 })))
  const ids = async (query: string) => (await all(url, query)).map(({ id }: { id: number }) => id)
  t.strictSame(await ids('?page=240&size=5'), [1196, 1197, 1198, 1199, 1200])
  t.strictSame(await ids('?page=240&size=5&order=-id'), [5, 4, 3, 2, 1])
  expectDone(t, await admin.delete(`${url}/600`))
  t.strictSame(await ids('?page=240&size=5'), [1197, 1198, 1199, 1200])
  t.strictSame(await ids('?page=240&size=5&order=-id'), [4, 3, 2, 1])
})

t.test('a request for records of an unknown table responds 404', async (t) => {
  for (const path of ['data', 'data/1', 'export'])
    expectError(t, await admin.get(`/admin/tables/999/${path}`), 404, 'TABLE_NOT_FOUND')
  expectError(t, await admin.post('/admin/tables/999/data', {}), 404, 'TABLE_NOT_FOUND')
  expectError(t, await admin.put('/admin/tables/999/data/1', { a: 1 }), 404, 'TABLE_NOT_FOUND')
  expectError(t, await admin.delete('/admin/tables/999/data/1'), 404, 'TABLE_NOT_FOUND')
})

t.test('administrators may change unpublished and read-only tables, and see hidden fields', async (t) => {
  const { id } = await createTable(admin, {
    name: 'unbound',
    fields: [{ name: 'a', jsonType: 'string', isHidden: true }]
  })
  await admin.put(`/admin/tables/${id}`, { isPublished: false, isEditable: false })
  const url = `/admin/tables/${id}/data`
  expectData(t, await admin.post(url, { a: 'x' }), { id: 1, a: 'x' })
  expectDone(t, await admin.put(`${url}/1`, { a: 'y' }))
  expectData(t, await admin.get(`${url}?q=y&order=a`), { rows: [{ id: 1, a: 'y' }], total: 1, page: 1, size: 20 })
  expectDone(t, await admin.delete(`${url}/1`))
})
