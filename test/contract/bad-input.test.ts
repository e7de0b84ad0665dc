import t from 'tap'
import type { ErrorCode } from '../../schemas/error.ts'
import {
  asAdmin,
  asToken,
  bearer,
  client,
  createDatabase,
  createFingerprint,
  createTable,
  dataOf,
  expectError,
  importTable,
  isFailure,
  issueToken,
  startApp,
  type TestResponse
} from '../helpers.ts'
import { listenRaw } from '../raw-http.ts'

const file = createDatabase(
  t,
  `CREATE TABLE owners (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
   CREATE TABLE pets (a INTEGER, b TEXT, owner INTEGER REFERENCES owners (id) ON DELETE CASCADE, n INTEGER CHECK (n < 100), PRIMARY KEY (a, b));
   CREATE TRIGGER no_bob BEFORE INSERT ON owners WHEN new.name = 'bob' BEGIN SELECT RAISE(ABORT, 'no bobs'); END;
   INSERT INTO owners VALUES (1, 'ann'), (2, 'cid');
   INSERT INTO pets VALUES (1, 'x', 1, 5), (2, 'y,z', 2, 99);
   CREATE VIEW owner_names AS SELECT name FROM owners;`
)
const app = await startApp(t, { env: { DATABASE: file, BODY_LIMIT: '8192' } })
const fingerprint = createFingerprint(t, file)
const admin = await asAdmin(app)
const everything = { tables: ['*'], actions: ['read', 'write'] } as const
const secret = await issueToken(admin, { tables: [...everything.tables], actions: [...everything.actions] })
const token = client(app, bearer(secret))
const reader = await asToken(app, admin, { tables: ['things'], actions: ['read'] })

const things = await createTable(admin, {
  name: 'things',
  fields: [
    { name: 'name', jsonType: 'string' },
    { name: 'n', jsonType: 'integer' },
    { name: 'price', jsonType: 'number' },
    { name: 'ok', jsonType: 'boolean' },
    { name: 'extra', jsonType: 'object' },
    { name: 'list', jsonType: 'array' },
    { name: 'fixed', jsonType: 'string', isReadonly: true },
    { name: 'secret', jsonType: 'string', isHidden: true }
  ]
})
await importTable(admin, 'owners')
await importTable(admin, 'pets')
await admin.post(`/admin/tables/${things.id}/data`, { name: 'one', n: '9223372036854775807', price: 1.5, secret: 's' })
await admin.post('/admin/admins', { name: 'second', nickname: '', password: 'long enough' })
const frozen = await createTable(admin, { name: 'frozen', fields: [{ name: 'n', jsonType: 'integer' }] })
await admin.put(`/admin/tables/${frozen.id}`, { isEditable: false })
await createTable(admin, { name: 'private', fields: [{ name: 'n', jsonType: 'integer' }] })
const { id: privateId } = dataOf(await token.get('/data/private/schema'))
await admin.put(`/admin/tables/${privateId}`, { isPublished: false })
const { id: inactiveId, token: inactive } = dataOf(
  await admin.post('/admin/tokens', { name: 'inactive', permissions: everything })
)
await admin.put(`/admin/tokens/${inactiveId}`, { isActive: false })

const url = '/data/things'
const one = `${url}/records/1`
const adminTable = `/admin/tables/${things.id}`
const json = { 'content-type': 'application/json' }
const raw = (method: 'POST' | 'PUT', path: string, payload: string | Buffer, headers: Record<string, string> = json) =>
  app.inject({ method, url: path, headers: { ...token.headers, ...headers }, payload })

type Case = readonly [name: string, call: () => Promise<TestResponse>, status: number, code: ErrorCode]

/** Tests that each of these requests is refused, shows no internals, and changes nothing in the database. */
const testRefusals = (group: string, cases: readonly Case[]) =>
  t.test(group, async (t) => {
    for (const [name, call, status, code] of cases) {
      await t.test(name, async (t) => {
        const before = fingerprint()
        const response = await call()
        expectError(t, response, status, code)
        t.notMatch(response.body, /SQLITE_|INSERT|UPDATE |\/work\/|\/tmp\/|\.js:|at async/, 'no internals are shown')
        t.equal(fingerprint(), before, 'nothing has changed')
      })
    }
  })

/** Returns two cases: a create and an update with the same bad body. */
const createAndUpdate = (
  name: string,
  body: object | string,
  status = 400,
  code: ErrorCode = 'VALIDATION_FAILED'
): Case[] => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return [
    [`${name}, in a create`, () => raw('POST', `${url}/records`, text), status, code],
    [`${name}, in an update`, () => raw('PUT', one, text), status, code]
  ]
}

testRefusals('wrong types', [
  ...createAndUpdate('text for an integer', { n: '5' }),
  ...createAndUpdate('a fraction for an integer', { n: 1.5 }),
  ...createAndUpdate('a boolean for an integer', { n: true }),
  ...createAndUpdate('a number for text', { name: 5 }),
  ...createAndUpdate('an object for text', { name: { a: 1 } }),
  ...createAndUpdate('an array for a number', { price: [1] }),
  ...createAndUpdate('text for a number', { price: '1.5' }),
  ...createAndUpdate('0 for a boolean', { ok: 0 }),
  ...createAndUpdate('text for a boolean', { ok: 'true' }),
  ...createAndUpdate('an array for an object', { extra: [] }),
  ...createAndUpdate('text for an object', { extra: '{}' }),
  ...createAndUpdate('an object for an array', { list: {} }),
  ...createAndUpdate('a good value and a bad one', { name: 'fine', n: 'bad' }),
  ...createAndUpdate('an array of records', '[{"name":"a"}]'),
  ...createAndUpdate('text', '"name"'),
  ...createAndUpdate('null', 'null')
])

testRefusals('unknown keys', [
  ...createAndUpdate('a missing field', { name: 'a', colour: 'red' }),
  ...createAndUpdate('a field in another case', { NAME: 'a' }),
  ...createAndUpdate('a hidden field', { secret: 'x' }),
  ...createAndUpdate('__proto__', '{"__proto__":{"n":1}}'),
  ...createAndUpdate('constructor', { constructor: 'x' }),
  ...createAndUpdate('an empty key', { '': 'x' }),
  ...createAndUpdate('SQL', { 'name" = \'x\', "n': 'x' }),
  ['of a table', () => admin.put(adminTable, { label: 'x', colour: 'red' }), 400, 'VALIDATION_FAILED'],
  [
    'of a token',
    () => admin.post('/admin/tokens', { name: 'x', permissions: everything, token: 'rh_x' }),
    400,
    'VALIDATION_FAILED'
  ],
  [
    'of permissions',
    () => admin.post('/admin/tokens', { name: 'x', permissions: { ...everything, rows: [] } }),
    400,
    'VALIDATION_FAILED'
  ],
  [
    'of an administrator',
    () => admin.post('/admin/admins', { name: 'x', nickname: '', password: 'long enough', id: 7 }),
    400,
    'VALIDATION_FAILED'
  ],
  [
    'of a password change',
    () => admin.put('/auth/password', { oldPassword: 'a', newPassword: 'long enough', force: true }),
    400,
    'VALIDATION_FAILED'
  ],
  [
    'of a login',
    () => client(app).post('/auth/login', { name: 'admin', password: 'x', otp: '1' }),
    400,
    'VALIDATION_FAILED'
  ],
  ['of a query', () => token.get(`${url}?where=1`), 400, 'VALIDATION_FAILED'],
  ['of a query on a write', () => token.delete(`${one}?force=true`), 400, 'VALIDATION_FAILED']
])

testRefusals('huge and tiny numbers', [
  ...createAndUpdate('1e400 for a number', '{"price":1e400}'),
  ...createAndUpdate('-1e400 for a number', '{"price":-1e400}'),
  ...createAndUpdate('1e400 for an integer', '{"n":1e400}'),
  ...createAndUpdate('1e400 inside an object', '{"extra":{"a":[1e400]}}'),
  ...createAndUpdate('1e-5 for an integer', '{"n":1e-5}'),
  ...createAndUpdate('2^53 for an integer', '{"n":9007199254740992}'),
  ...createAndUpdate('2^63 as text', { n: '9223372036854775808' }),
  ...createAndUpdate('a thousand digits', `{"n":${'9'.repeat(1000)}}`),
  ...createAndUpdate('a thousand digits as text', { n: '9'.repeat(1000) }),
  ...createAndUpdate('hexadecimal text', { n: '0xffffffffffffffff' }),
  [
    'a count over the range of doubles',
    () => raw('POST', `${url}/incr`, '{"pk":"1","field":"price","count":1e400}'),
    400,
    'VALIDATION_FAILED'
  ],
  [
    'a count that rounds',
    () => raw('POST', `${url}/incr`, '{"pk":"1","field":"n","count":9007199254740993}'),
    400,
    'VALIDATION_FAILED'
  ],
  [
    'a count that overflows 64 bits',
    () => token.post(`${url}/incr`, { pk: '1', field: 'n', count: 1 }),
    409,
    'INCREMENT_OVERFLOW'
  ],
  ['a page number over 64 bits', () => token.get(`${url}?page=99999999999999999999`), 400, 'VALIDATION_FAILED'],
  [
    'an id over 64 bits',
    () => admin.delete('/admin/tables/99999999999999999999?confirm=true'),
    400,
    'VALIDATION_FAILED'
  ],
  [
    'an expiry in seconds',
    () => admin.put(`/admin/tokens/${inactiveId}`, { expiresAt: 1_700_000_000 }),
    400,
    'VALIDATION_FAILED'
  ],
  [
    'an expiry of 1e300',
    () => admin.put(`/admin/tokens/${inactiveId}`, { expiresAt: 1e300 }),
    400,
    'VALIDATION_FAILED'
  ],
  ['a negative expiry', () => admin.put(`/admin/tokens/${inactiveId}`, { expiresAt: -1 }), 400, 'VALIDATION_FAILED']
])

testRefusals('NUL and lone surrogates', [
  ...createAndUpdate('NUL in text', { name: 'a\0b' }),
  ...createAndUpdate('NUL in a key', { 'name\0': 'a' }),
  ...createAndUpdate('NUL inside an object', { extra: { a: ['\0'] } }),
  ...createAndUpdate('a lone high surrogate', '{"name":"\\ud800"}'),
  ...createAndUpdate('a lone low surrogate', '{"name":"\\udc00x"}'),
  ...createAndUpdate('a lone surrogate in an inner key', '{"extra":{"\\ud800":1}}'),
  [
    'bytes that are not UTF-8',
    () => raw('POST', `${url}/records`, Buffer.from('{"name":"\xe9"}', 'latin1')),
    400,
    'MALFORMED_JSON'
  ],
  [
    'an overlong NUL',
    () => raw('POST', `${url}/records`, Buffer.from('{"name":"\xc0\x80"}', 'latin1')),
    400,
    'MALFORMED_JSON'
  ],
  ['NUL in a key of the path', () => token.delete(`${url}/records/1%00`), 400, 'VALIDATION_FAILED'],
  ['NUL in the table of the path', () => token.delete('/data/things%00/records/1'), 400, 'VALIDATION_FAILED'],
  ['NUL in a search', () => token.get(`${url}?q=a%00`), 400, 'VALIDATION_FAILED'],
  ['a surrogate in the path', () => token.delete(`${url}/records/%ed%a0%80`), 400, 'MALFORMED_REQUEST'],
  ['NUL in a table name', () => admin.post('/admin/tables/import', { name: 'owners\0' }), 400, 'VALIDATION_FAILED'],
  [
    'NUL in a login',
    () => client(app).post('/auth/login', { name: 'admin\0', password: 'x' }),
    400,
    'VALIDATION_FAILED'
  ],
  ['NUL in a label', () => admin.put(adminTable, { label: '\0' }), 400, 'VALIDATION_FAILED']
])

const declare = (name: unknown, field: unknown = 'a') =>
  admin.post('/admin/tables', { name, label: '', fields: [{ name: field, jsonType: 'string' }] })

testRefusals('names', [
  ['with quotes', () => declare(`a"; DROP TABLE owners; --`), 400, 'VALIDATION_FAILED'],
  ['of a field with quotes', () => declare('fine', `a" TEXT); DROP TABLE owners; --`), 400, 'VALIDATION_FAILED'],
  ['that are empty', () => declare(''), 400, 'VALIDATION_FAILED'],
  ['that are numbers', () => declare(5), 400, 'VALIDATION_FAILED'],
  ['with the prefix of the service', () => declare('_rowhouse_tables'), 400, 'VALIDATION_FAILED'],
  ['with the prefix of SQLite', () => declare('sqlite_stat1'), 400, 'VALIDATION_FAILED'],
  ['of an existing table', () => declare('OWNERS'), 409, 'TABLE_EXISTS'],
  ['of a view', () => declare('owner_names'), 409, 'TABLE_EXISTS'],
  [
    'of an internal table to import',
    () => admin.post('/admin/tables/import', { name: '_rowhouse_admins' }),
    400,
    'TABLE_NOT_IMPORTABLE'
  ],
  [
    'of a missing table to import',
    () => admin.post('/admin/tables/import', { name: 'nothing"' }),
    404,
    'TABLE_NOT_FOUND'
  ],
  [
    'to order by',
    () => token.get(`${url}?order=${encodeURIComponent('name"; DELETE FROM things; --')}`),
    400,
    'VALIDATION_FAILED'
  ],
  ['of a hidden field to order by', () => token.get(`${url}?order=secret`), 400, 'VALIDATION_FAILED'],
  [
    'of a field to add',
    () => token.post('/data/_schema/tables/things/fields', { field: { name: 'a b', jsonType: 'string' } }),
    400,
    'VALIDATION_FAILED'
  ],
  [
    'of an existing field to add',
    () => token.post('/data/_schema/tables/things/fields', { field: { name: 'NAME', jsonType: 'string' } }),
    409,
    'FIELD_EXISTS'
  ],
  ['of an internal table in a path', () => token.post('/data/_rowhouse_tokens/records', {}), 404, 'TABLE_NOT_FOUND'],
  [
    'of an existing administrator',
    () => admin.post('/admin/admins', { name: 'SECOND', nickname: '', password: 'long enough' }),
    409,
    'ADMIN_EXISTS'
  ]
])

testRefusals('violations of constraints in the database', [
  [
    'an existing value in a unique column',
    () => token.post('/data/owners/records', { name: 'ann' }),
    409,
    'UNIQUE_VIOLATION'
  ],
  ['an existing key', () => token.post('/data/pets/records', { a: 1, b: 'x' }), 409, 'UNIQUE_VIOLATION'],
  [
    'a foreign key to a missing row',
    () => token.put('/data/pets/records/1,x', { owner: 99 }),
    409,
    'FOREIGN_KEY_VIOLATION'
  ],
  ['a check constraint', () => token.put('/data/pets/records/1,x', { n: 100 }), 400, 'CONSTRAINT_VIOLATION'],
  [
    'an increment that violates a check constraint',
    () => token.post('/data/pets/incr', { pk: '2,y%2Cz', field: 'n' }),
    400,
    'CONSTRAINT_VIOLATION'
  ],
  ['a trigger', () => token.post('/data/owners/records', { name: 'bob' }), 409, 'REFUSED_BY_TRIGGER'],
  ['null in a NOT NULL column', () => token.put('/data/owners/records/1', { name: null }), 400, 'VALIDATION_FAILED'],
  ['a missing value for a NOT NULL column', () => token.post('/data/owners/records', {}), 400, 'VALIDATION_FAILED']
])

testRefusals('changes that are not allowed', [
  ['a key', () => token.put(one, { id: 2, name: 'x' }), 400, 'VALIDATION_FAILED'],
  ['a part of a key', () => token.put('/data/pets/records/1,x', { b: 'y', n: 1 }), 400, 'VALIDATION_FAILED'],
  ['a read-only field', () => token.put(one, { fixed: 'x', name: 'x' }), 400, 'VALIDATION_FAILED'],
  ['a read-only field of a new record', () => token.post(`${url}/records`, { fixed: 'x' }), 400, 'VALIDATION_FAILED'],
  ['an empty update', () => token.put(one, {}), 400, 'VALIDATION_FAILED'],
  ['unregistering a table without confirmation', () => admin.delete(adminTable), 400, 'CONFIRMATION_REQUIRED'],
  [
    'a field’s type',
    () => admin.put(adminTable, { fields: [{ name: 'n', jsonType: 'string' }] }),
    400,
    'VALIDATION_FAILED'
  ],
  [
    'hiding a field with a token',
    () =>
      token.post('/data/_schema/tables/things/fields', { field: { name: 'x', jsonType: 'string', isHidden: true } }),
    400,
    'VALIDATION_FAILED'
  ],
  [
    'one’s own password in the list of administrators',
    () => admin.put('/admin/admins/1', { password: 'long enough' }),
    403,
    'OWN_PASSWORD'
  ],
  [
    'a password with a wrong old password',
    () => admin.put('/auth/password', { oldPassword: 'wrong', newPassword: 'long enough' }),
    403,
    'WRONG_PASSWORD'
  ],
  [
    'a password to a short one',
    () => admin.put('/auth/password', { oldPassword: 'correct horse', newPassword: 'short' }),
    400,
    'VALIDATION_FAILED'
  ]
])

const incr = (body: object) => token.post(`${url}/incr`, body)

testRefusals('increments', [
  ['of text', () => incr({ pk: '1', field: 'name' }), 400, 'NOT_INCREMENTABLE'],
  ['of the key', () => incr({ pk: '1', field: 'id' }), 400, 'NOT_INCREMENTABLE'],
  ['of a boolean', () => incr({ pk: '1', field: 'ok' }), 400, 'NOT_INCREMENTABLE'],
  ['of a missing field', () => incr({ pk: '1', field: 'x' }), 400, 'VALIDATION_FAILED'],
  ['of a hidden field', () => incr({ pk: '1', field: 'secret' }), 400, 'VALIDATION_FAILED'],
  ['by a fraction', () => incr({ pk: '1', field: 'n', count: 0.5 }), 400, 'VALIDATION_FAILED'],
  ['by text', () => incr({ pk: '1', field: 'n', count: 'one' }), 400, 'VALIDATION_FAILED'],
  ['in a missing record', () => incr({ pk: '9', field: 'price' }), 404, 'RECORD_NOT_FOUND']
])

testRefusals('keys', [
  ['of 10,000 characters to read', () => token.get(`${url}/records/${'1'.repeat(10_000)}`), 414, 'PATH_TOO_LONG'],
  [
    'of 10,000 characters to change',
    () => token.put(`${url}/records/${'1'.repeat(10_000)}`, { name: 'x' }),
    414,
    'PATH_TOO_LONG'
  ],
  [
    'of 10,000 characters to delete',
    () => admin.delete(`${adminTable}/data/${'x'.repeat(10_000)}`),
    414,
    'PATH_TOO_LONG'
  ],
  ['with a leading zero', () => token.delete(`${url}/records/01`), 404, 'RECORD_NOT_FOUND'],
  ['with SQL', () => token.delete(`${url}/records/${encodeURIComponent('1 OR 1=1')}`), 404, 'RECORD_NOT_FOUND'],
  ['of too few parts', () => token.delete('/data/pets/records/1'), 404, 'RECORD_NOT_FOUND'],
  ['of too many parts', () => token.delete('/data/pets/records/2,y,z'), 404, 'RECORD_NOT_FOUND'],
  ['that are empty', () => token.delete(`${url}/records/`), 404, 'RECORD_NOT_FOUND']
])

testRefusals('repeated query keys', [
  ['in a list', () => token.get(`${url}?page=1&page=2`), 400, 'VALIDATION_FAILED'],
  ['in a search', () => token.get(`${url}?q=a&q=b`), 400, 'VALIDATION_FAILED'],
  ['in a confirmation', () => admin.delete(`${adminTable}?confirm=true&confirm=true`), 400, 'VALIDATION_FAILED'],
  ['in an export', () => admin.get(`${adminTable}/export?order=id&order=n`), 400, 'VALIDATION_FAILED'],
  ['with brackets', () => token.get(`${url}?page[]=1`), 400, 'VALIDATION_FAILED']
])

const typed = (type: string, payload = '{"name":"x"}') =>
  raw('POST', `${url}/records`, payload, { 'content-type': type })
const patch = (method: 'PATCH' | 'DELETE' | 'POST', path: string) =>
  app.inject({ method, url: path, headers: token.headers })

testRefusals('methods, content types and sizes', [
  ['PATCH on a list', () => patch('PATCH', url), 405, 'METHOD_NOT_ALLOWED'],
  ['POST on a record', () => patch('POST', one), 405, 'METHOD_NOT_ALLOWED'],
  ['DELETE on a list', () => patch('DELETE', url), 405, 'METHOD_NOT_ALLOWED'],
  [
    'X-HTTP-Method-Override',
    () => raw('POST', one, '{}', { ...json, 'x-http-method-override': 'DELETE' }),
    405,
    'METHOD_NOT_ALLOWED'
  ],
  ['text/plain', () => typed('text/plain'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['a form', () => typed('application/x-www-form-urlencoded', 'name=x'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['a multipart form', () => typed('multipart/form-data; boundary=b', '--b--'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['XML', () => typed('application/xml', '<a/>'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  [
    'no content type',
    () =>
      app.inject({
        method: 'POST',
        url: `${url}/records`,
        headers: token.headers,
        payload: Buffer.from('{"name":"x"}')
      }),
    415,
    'UNSUPPORTED_MEDIA_TYPE'
  ],
  ...createAndUpdate('a body over the limit', { name: 'x'.repeat(8192) }, 413, 'BODY_TOO_LARGE'),
  ...createAndUpdate('truncated JSON', '{"name":"x"', 400, 'MALFORMED_JSON'),
  ...createAndUpdate('two JSON values', '{"name":"x"}{"name":"y"}', 400, 'MALFORMED_JSON'),
  ...createAndUpdate('JSON with a comment', '{"name":"x"/**/}', 400, 'MALFORMED_JSON'),
  ...createAndUpdate('JSON nested too deep', `{"extra":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`)
])

testRefusals('a credential in the wrong place', [
  [
    'a token in the query',
    () => client(app).post(`${url}/records?token=${secret}`, { name: 'x' }),
    401,
    'INVALID_TOKEN'
  ],
  ['a token in the body', () => client(app).post(`${url}/records`, { name: 'x', token: secret }), 401, 'INVALID_TOKEN'],
  [
    'a token in a cookie',
    () => client(app, { cookie: `rowhouse_session=${secret}` }).post(`${url}/records`, { name: 'x' }),
    401,
    'INVALID_TOKEN'
  ],
  [
    'a token without Bearer',
    () => client(app, { authorization: secret }).post(`${url}/records`, { name: 'x' }),
    401,
    'INVALID_TOKEN'
  ],
  [
    'a token as Basic',
    () => client(app, { authorization: `Basic ${secret}` }).post(`${url}/records`, { name: 'x' }),
    401,
    'INVALID_TOKEN'
  ],
  [
    'a token in capitals',
    () => client(app, bearer(secret.toUpperCase())).post(`${url}/records`, { name: 'x' }),
    401,
    'INVALID_TOKEN'
  ],
  [
    'a token cut short',
    () => client(app, bearer(secret.slice(0, -1))).post(`${url}/records`, { name: 'x' }),
    401,
    'INVALID_TOKEN'
  ],
  [
    'an inactive token',
    () => client(app, bearer(inactive)).post(`${url}/records`, { name: 'x' }),
    401,
    'INVALID_TOKEN'
  ],
  ['a token instead of a session', () => token.delete(`${adminTable}?confirm=true`), 401, 'AUTHENTICATION_REQUIRED'],
  [
    'a session as a token',
    () => client(app, bearer(String(admin.headers.cookie?.split('=')[1]))).post(`${url}/records`, { name: 'x' }),
    401,
    'INVALID_TOKEN'
  ],
  [
    'a session in Authorization',
    () => client(app, bearer(String(admin.headers.cookie?.split('=')[1]))).delete(`${adminTable}?confirm=true`),
    401,
    'AUTHENTICATION_REQUIRED'
  ],
  ['a session instead of a token', () => admin.post(`${url}/records`, { name: 'x' }), 401, 'INVALID_TOKEN'],
  ['no credential', () => client(app).delete(one), 401, 'INVALID_TOKEN'],
  [
    'a wrong password',
    () => client(app).post('/auth/login', { name: 'admin', password: 'wrong' }),
    401,
    'INVALID_CREDENTIALS'
  ]
])

testRefusals('actions and tables that a token does not grant', [
  ['create with read', () => reader.post(`${url}/records`, { name: 'x' }), 403, 'ACTION_NOT_ALLOWED'],
  ['delete with read', () => reader.delete(one), 403, 'ACTION_NOT_ALLOWED'],
  ['increment with read', () => reader.post(`${url}/incr`, { pk: '1', field: 'price' }), 403, 'ACTION_NOT_ALLOWED'],
  [
    'create a table with read',
    () => reader.post('/data/_schema/tables', { name: 'x', label: '', fields: [{ name: 'a', jsonType: 'string' }] }),
    403,
    'ACTION_NOT_ALLOWED'
  ],
  ['create in another table', () => reader.post('/data/owners/records', { name: 'x' }), 403, 'ACTION_NOT_ALLOWED'],
  ['create in a read-only table', () => token.post('/data/frozen/records', {}), 403, 'TABLE_READ_ONLY'],
  ['create in an unpublished table', () => token.post('/data/private/records', {}), 404, 'TABLE_NOT_FOUND']
])

testRefusals('permissions', [
  ['that are text', () => admin.post('/admin/tokens', { name: 'x', permissions: '*' }), 400, 'VALIDATION_FAILED'],
  [
    'with a scalar',
    () => admin.post('/admin/tokens', { name: 'x', permissions: { tables: '*', actions: ['read'] } }),
    400,
    'VALIDATION_FAILED'
  ],
  [
    'with an unknown action',
    () => admin.post('/admin/tokens', { name: 'x', permissions: { tables: ['*'], actions: ['admin'] } }),
    400,
    'VALIDATION_FAILED'
  ],
  [
    'without tables',
    () => admin.post('/admin/tokens', { name: 'x', permissions: { actions: ['read'] } }),
    400,
    'VALIDATION_FAILED'
  ],
  ['that are missing', () => admin.post('/admin/tokens', { name: 'x' }), 400, 'VALIDATION_FAILED'],
  [
    'of too many tables',
    () => admin.post('/admin/tokens', { name: 'x', permissions: { tables: Array(1001).fill('a'), actions: [] } }),
    400,
    'VALIDATION_FAILED'
  ]
])

t.test('an error message shortens a long name', async (t) => {
  const long = '😀'.repeat(1300)
  const encoded = encodeURIComponent(long)
  const headers = { ...token.headers, 'content-encoding': 'x'.repeat(7000) }
  const calls: Record<string, () => Promise<TestResponse>> = {
    'a field to sort by': () => token.get(`${url}?order=${encoded}`),
    'a query parameter': () => token.get(`${url}?${encoded}=1`),
    'a query parameter of a route without any': () => token.get(`${url}/records/1?${encoded}=1`),
    'a table': () => token.get(`/data/${encoded}`),
    'a table out of scope': () => reader.get(`/data/${encoded}`),
    'a key': () => token.get(`${url}/records/${encoded}`),
    'a route': () => token.get(`/${encoded}`),
    'a field to write': () => token.post(`${url}/records`, { [long]: 1 }),
    'a field to count': () => token.post(`${url}/incr`, { pk: '1', field: long }),
    'a field to change': () => admin.put(adminTable, { fields: [{ name: long, label: '' }] }),
    'a key of a body': () => admin.post('/auth/login', { name: 'admin', password: 'x', [long]: 1 }),
    'a key of a body with NUL behind it': () => admin.post('/auth/login', { [long]: '\0' }),
    'a key of a field that holds too large a number': () =>
      token.post(`${url}/records`, { extra: { [long]: 2 ** 60 } }),
    'an encoding': () => client(app, headers).post(`${url}/records`, {})
  }
  for (const [name, call] of Object.entries(calls)) {
    const response = await call()
    t.ok([400, 403, 404, 415].includes(response.statusCode), name)
    t.ok(isFailure(response.json()), name)
    t.match(response.json().error.message, '…', name)
    t.ok(response.rawPayload.length < 2500, `${name}: ${response.rawPayload.length}`)
  }
  const exact = 'x'.repeat(200)
  t.match((await token.get(`/data/${exact}`)).json().error.message, `'${exact}'`)
})

t.test('invalid HTTP is refused without effect', async (t) => {
  const send = await listenRaw(t, app)
  const host = 'Host: localhost\r\nConnection: close\r\n'
  const auth = `Authorization: Bearer ${secret}\r\n`
  const post = (rest: string) =>
    `POST ${url}/records HTTP/1.1\r\n${host}${auth}Content-Type: application/json\r\n${rest}`
  const cases: readonly (readonly [name: string, bytes: string, status: number, code: ErrorCode])[] = [
    ['truncated JSON', post('Content-Length: 9\r\n\r\n{"name":"'), 400, 'MALFORMED_JSON'],
    [
      'a body shorter than its Content-Length',
      post('Content-Length: 100\r\n\r\n{"name":"x"}'),
      400,
      'MALFORMED_REQUEST'
    ],
    [
      'a Content-Length that is not a number',
      post('Content-Length: ten\r\n\r\n{"name":"x"}'),
      400,
      'MALFORMED_REQUEST'
    ],
    ['two lengths', post('Content-Length: 12\r\nContent-Length: 5\r\n\r\n{"name":"x"}'), 400, 'MALFORMED_REQUEST'],
    [
      'a length and chunks',
      post('Content-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n{"name":"x"}\r\n0\r\n\r\n'),
      400,
      'MALFORMED_REQUEST'
    ],
    [
      'a chunk without an end',
      post('Transfer-Encoding: chunked\r\n\r\nc\r\n{"name":"x"}\r\n'),
      400,
      'MALFORMED_REQUEST'
    ],
    [
      'a chunk with an invalid size',
      post('Transfer-Encoding: chunked\r\n\r\nzz\r\n{"name":"x"}\r\n0\r\n\r\n'),
      400,
      'MALFORMED_REQUEST'
    ],
    [
      'chunks over the limit',
      post(`Transfer-Encoding: chunked\r\n\r\n2100\r\n${'x'.repeat(0x2100)}\r\n0\r\n\r\n`),
      413,
      'BODY_TOO_LARGE'
    ],
    ['a length over the limit', post('Content-Length: 99999999999\r\n\r\n'), 413, 'BODY_TOO_LARGE'],
    ['no request line', 'HELLO\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['an unknown method', `FETCH ${url} HTTP/1.1\r\n${host}\r\n`, 400, 'MALFORMED_REQUEST'],
    ['an unknown version', `GET ${url} HTTP/9.9\r\n${host}\r\n`, 400, 'MALFORMED_REQUEST'],
    ['a space in the path', `GET ${url} x HTTP/1.1\r\n${host}\r\n`, 400, 'MALFORMED_REQUEST'],
    ['bytes beyond ASCII in the path', `GET /data/ü HTTP/1.1\r\n${host}\r\n`, 400, 'MALFORMED_REQUEST'],
    ['NUL in a header', `GET ${url} HTTP/1.1\r\n${host}X: a\0b\r\n\r\n`, 400, 'MALFORMED_REQUEST'],
    [
      'headers over the limit',
      `GET ${url} HTTP/1.1\r\n${host}X: ${'x'.repeat(100_000)}\r\n\r\n`,
      431,
      'HEADERS_TOO_LARGE'
    ],
    ['a path over the limit', `GET /${'x'.repeat(100_000)} HTTP/1.1\r\n${host}\r\n`, 431, 'HEADERS_TOO_LARGE'],
    ['an incomplete request line', 'POST /data', 400, 'MALFORMED_REQUEST']
  ]
  const unfinished = new Set([
    'a body shorter than its Content-Length',
    'a chunk without an end',
    'an incomplete request line'
  ])
  for (const [name, bytes, status, code] of cases) {
    await t.test(name, async (t) => {
      const before = fingerprint()
      const response = await send(bytes, unfinished.has(name))
      t.equal(response.statusCode, status, response.body)
      t.match(response.head, /content-type: application\/json/i)
      const body = JSON.parse(response.body)
      t.ok(isFailure(body), response.body)
      t.equal(body.error.code, code)
      t.equal(fingerprint(), before, 'nothing has changed')
    })
  }
  await t.test('while a valid request succeeds', async (t) => {
    const before = fingerprint()
    const response = await send(post('Content-Length: 12\r\n\r\n{"name":"x"}'))
    t.equal(response.statusCode, 200, response.body)
    t.match(JSON.parse(response.body), { success: true, data: { id: 2, name: 'x' } })
    t.not(fingerprint(), before, 'the fingerprint detects one new record')
  })
})
