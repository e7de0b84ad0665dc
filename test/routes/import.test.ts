import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import {
  asAdmin,
  bearer,
  client,
  createTable,
  dataOf,
  expectData,
  expectError,
  importTable,
  issueToken,
  startApp
} from '../helpers.ts'
import { openServed } from '../served.ts'

const LIMIT = 200_000
const app = await startApp(t, { env: { IMPORT_LIMIT: String(LIMIT) } })
const admin = await asAdmin(app)
const cats = await createTable(admin, {
  name: 'cats',
  autoTimestamps: true,
  fields: [
    { name: 'name', jsonType: 'string' },
    { name: 'lives', jsonType: 'integer' },
    { name: 'secret', jsonType: 'string' },
    { name: 'fixed', jsonType: 'string', isReadonly: true }
  ]
})
dataOf(await admin.put(`/admin/tables/${cats.id}`, { fields: [{ name: 'secret', isHidden: true }] }))

const asToken = async (actions: readonly ('read' | 'create' | 'update' | 'write')[], integers?: 'string') => {
  const permissions = { tables: ['cats'], actions: [...actions] }
  if (!integers) return bearer(await issueToken(admin, permissions))
  const { token } = dataOf(await admin.post('/admin/tokens', { name: 'strings', permissions, integers }))
  return bearer(token)
}
const write = await asToken(['read', 'write'])
const csv = client(app, { ...write, 'content-type': 'text/csv' })
const url = '/data/cats/import'
const totalOf = async () => dataOf(await admin.get(`/admin/tables/${cats.id}/data`)).total
const imported = (rows: number, updated = 0) => ({
  rows,
  created: rows - updated,
  updated,
  atomic: true,
  dryRun: false
})

t.test('a token imports visible fields that it may write', async (t) => {
  expectData(t, await csv.post(url, 'name,lives\nTom,9\nAda,\n'), imported(2))
  t.match(dataOf(await csv.get('/data/cats/records/1')), { id: 1, name: 'Tom', lives: 9, fixed: null })
  for (const name of ['secret', 'fixed', 'created_at']) {
    const response = await csv.post(url, `name,${name}\nx,1\n`)
    expectError(t, response, 400, 'IMPORT_FAILED', `/${name}`)
    t.match(response.json().error.details, [{ line: 1, column: name }])
  }
  t.equal(await totalOf(), 2)
})

t.test('the header follows empty lines, and must be there', async (t) => {
  expectData(t, await csv.post(`${url}?dryRun=true`, '\n\r\nname\nx\n'), { ...imported(1), dryRun: true })
  const wrong = await csv.post(`${url}?dryRun=true`, '\nnom\nx\n')
  t.match(wrong.json().error.details, [{ line: 2, column: 'nom' }])
  const without = client(app, { ...write, 'content-type': 'text/csv; charset=utf-8; header=absent' })
  expectError(t, await without.post(url, 'x\ny\n'), 400, 'VALIDATION_FAILED', '/content-type')
  const present = client(app, { ...write, 'content-type': 'text/csv; header=present' })
  expectData(t, await present.post(`${url}?dryRun=true`, 'name\nx\n'), { ...imported(1), dryRun: true })
})

t.test('a key twice in a line of NDJSON is an error', async (t) => {
  const ndjson = client(app, { ...write, 'content-type': 'application/x-ndjson' })
  const twice = await ndjson.post(url, '{"name":"x","lives":1}\n{"name":"x","name":"y"}\n')
  expectError(t, twice, 400, 'IMPORT_FAILED')
  t.match(twice.json().error.details, [{ line: 2, code: 'duplicate', message: /'name' twice/ }])
})

t.test('an error does not name a hidden field', async (t) => {
  const hidden = await createTable(admin, {
    name: 'hiding',
    fields: [
      { name: 'name', jsonType: 'string' },
      { name: 'code', jsonType: 'integer', defaultValue: 5, isUnique: true, isHidden: true }
    ]
  })
  const token = bearer(await issueToken(admin, { tables: ['hiding'], actions: ['create'] }))
  const hiding = client(app, { ...token, 'content-type': 'text/csv' })
  expectData(t, await hiding.post('/data/hiding/import', 'name\nx\n'), imported(1))
  const taken = await hiding.post('/data/hiding/import', 'name\ny\n')
  expectError(t, taken, 400, 'IMPORT_FAILED', '')
  t.match(taken.json().error.details, [{ line: 2, message: 'A hidden field has the value of a stored record.' }])
  t.equal(dataOf(await admin.get(`/admin/tables/${hidden.id}/data`)).total, 1)
})

t.test('an import needs the action create, and an upsert also update', async (t) => {
  const reading = client(app, { ...(await asToken(['read'])), 'content-type': 'text/csv' })
  const creating = client(app, { ...(await asToken(['create'])), 'content-type': 'text/csv' })
  const both = client(app, { ...(await asToken(['create', 'update'])), 'content-type': 'text/csv' })
  expectError(t, await reading.post(url, 'name\nx\n'), 403, 'ACTION_NOT_ALLOWED')
  expectError(t, await creating.post(`${url}?mode=upsert`, 'id,name\n1,x\n'), 403, 'ACTION_NOT_ALLOWED')
  expectData(t, await creating.post(url, 'name\nx\n'), imported(1))
  expectData(t, await both.post(`${url}?mode=upsert`, 'id,name\n1,Tim\n'), imported(1, 1))
  expectError(t, await both.post(`${url}?mode=upsert&on=secret`, 'id\n'), 400, 'VALIDATION_FAILED', '/on')
})

t.test('a dry run has the numbers of the import, also of a file with keys only', async (t) => {
  expectData(t, await csv.post(`${url}?mode=upsert`, 'id,name\n900,Kit\n'), imported(1))
  for (const [file, result] of [
    ['id\n900\n901\n', { rows: 2, created: 1, updated: 0 }],
    ['id,name\n900,Kim\n902,Kai\n', { rows: 2, created: 1, updated: 1 }]
  ] as const) {
    expectData(t, await csv.post(`${url}?mode=upsert&dryRun=true`, file), { ...result, atomic: true, dryRun: true })
    expectData(t, await csv.post(`${url}?mode=upsert`, file), { ...result, atomic: true, dryRun: false })
  }
})

t.test('a line without the key, unlike the first one, is the only error', async (t) => {
  const ndjson = client(app, { ...write, 'content-type': 'application/x-ndjson' })
  const [{ id }] = dataOf(await csv.get('/data/cats?size=1&order=id')).rows
  t.equal(id, 1)
  const response = await ndjson.post(url, '{"name":"Pit"}\n{"id":999,"name":"Pat"}\n')
  expectError(t, response, 400, 'IMPORT_FAILED')
  t.match(response.json().error, { total: 1, details: [{ line: 2, code: 'fields' }] })
})

t.test('a unique index with a generated key refuses no record', async (t) => {
  const fields = [{ name: 'kind', jsonType: 'string' as const }]
  const { id } = await createTable(admin, { name: 'keyed', fields })
  dataOf(await admin.post(`/admin/tables/${id}/indexes`, { fields: ['kind', 'id'], isUnique: true }))
  const keyed = client(app, { cookie: String(admin.headers.cookie), 'content-type': 'text/csv' })
  const importUrl = `/admin/tables/${id}/import`
  expectData(t, await keyed.post(importUrl, 'kind\nx\n'), imported(1))
  expectData(t, await keyed.post(importUrl, 'kind\nx\n'), imported(1))
  expectError(t, await keyed.post(importUrl, 'id,kind\n2,x\n'), 400, 'IMPORT_FAILED', '/id')
})

t.test('an import in several transactions takes no Idempotency-Key', async (t) => {
  const keyed = client(app, { ...write, 'content-type': 'text/csv', 'idempotency-key': 'one' })
  const before = await totalOf()
  for (const query of ['', '?atomic=false', '?atomic=true&dryRun=true', '?mode=upsert'])
    expectError(t, await keyed.post(url + query, 'name\nTom\n'), 400, 'VALIDATION_FAILED', '/idempotency-key')
  t.equal(await totalOf(), before)
})

t.test('a read-only table is not changed', async (t) => {
  await admin.put(`/admin/tables/${cats.id}`, { isEditable: false })
  expectError(t, await csv.post(url, 'name\nx\n'), 403, 'TABLE_READ_ONLY')
  await admin.put(`/admin/tables/${cats.id}`, { isEditable: true })
  expectData(t, await csv.post(url, 'name\nx\n'), imported(1))
})

t.test('a required hidden field refuses an import by tokens', async (t) => {
  const dogs = await createTable(admin, {
    name: 'dogs',
    fields: [
      { name: 'name', jsonType: 'string' },
      { name: 'chip', jsonType: 'string', nullable: false }
    ]
  })
  dataOf(await admin.put(`/admin/tables/${dogs.id}`, { fields: [{ name: 'chip', isHidden: true }] }))
  const token = bearer(await issueToken(admin, { tables: ['dogs'], actions: ['create'] }))
  const dogCsv = client(app, { ...token, 'content-type': 'text/csv' })
  expectError(t, await dogCsv.post('/data/dogs/import', 'name\nx\n'), 400, 'CONSTRAINT_VIOLATION')
})

t.test('the hint for a key of an upsert names visible fields only', async (t) => {
  const birds = await createTable(admin, {
    name: 'birds',
    fields: [
      { name: 'name', jsonType: 'string' },
      { name: 'ring', jsonType: 'string', isUnique: true },
      { name: 'chip', jsonType: 'string', isUnique: true }
    ]
  })
  dataOf(await admin.put(`/admin/tables/${birds.id}`, { fields: [{ name: 'chip', isHidden: true }] }))
  const token = bearer(await issueToken(admin, { tables: ['birds'], actions: ['create', 'update'] }))
  const birdCsv = client(app, { ...token, 'content-type': 'text/csv' })
  const response = await birdCsv.post('/data/birds/import?mode=upsert&on=name', 'name\nx\n')
  expectError(t, response, 400, 'VALIDATION_FAILED', '/on')
  t.equal(response.json().error.hint, 'Send one of these lists of fields: id; ring.')
})

t.test('errors name no hidden field and no rule with one', async (t) => {
  const db = openServed(t, join(app.config.DATA_DIR, 'rowhouse.db'))
  db.exec(`CREATE TABLE rules (id INTEGER PRIMARY KEY, a INTEGER, secret INTEGER DEFAULT 5, CHECK (secret < a));
    CREATE UNIQUE INDEX secret_index ON rules (a, secret + 0)`)
  const { id } = await importTable(admin, 'rules')
  const rules = client(app, {
    ...bearer(await issueToken(admin, { tables: ['rules'], actions: ['create'] })),
    'content-type': 'text/csv'
  })
  const messagesOf = async (file: string) => {
    const response = await rules.post('/data/rules/import', file)
    expectError(t, response, 400, 'IMPORT_FAILED')
    return response.json().error.details.map(({ line, message }: { line: number; message: string }) => [line, message])
  }
  const checked = 'a\n1\n'
  const unique = 'a\n9\n9\n'
  t.match(await messagesOf(checked), [[2, "'a' must satisfy the check 'secret < a'."]])
  t.match(await messagesOf(unique), [[3, /secret_index/]])
  dataOf(await admin.put(`/admin/tables/${id}`, { fields: [{ name: 'secret', isHidden: true }] }))
  t.strictSame(await messagesOf(checked), [[2, 'The record violates a check of the table.']])
  t.strictSame(await messagesOf(unique), [
    [3, 'The unique values of the record are those of an earlier record of the file.']
  ])
  t.match(await messagesOf('a\nx\n'), [[2, /'a' must be/]])
})

t.test('the error of a check names the check, and its first field as the file does', async (t) => {
  openServed(t, join(app.config.DATA_DIR, 'rowhouse.db')).exec(
    'CREATE TABLE checked (id INTEGER PRIMARY KEY, n INTEGER CONSTRAINT positive CHECK (n > 0), CHECK (rowid < 9))'
  )
  await importTable(admin, 'checked')
  const send = client(app, {
    ...bearer(await issueToken(admin, { tables: ['checked'], actions: ['create'] })),
    'content-type': 'text/csv'
  })
  const errorsOf = async (file: string) => {
    const map = encodeURIComponent('{"count":"n"}')
    return (await send.post(`/data/checked/import?map=${map}`, file)).json().error.details
  }
  t.match(await errorsOf('count\n-1\n'), [
    { line: 2, column: 'count', code: 'check', message: "'count' must satisfy the check 'positive'." }
  ])
  t.match(await errorsOf('id,count\n9,1\n'), [
    { line: 2, column: null, code: 'check', message: "The record violates the check 'rowid < 9'." }
  ])
  t.equal(dataOf(await send.post('/data/checked/import', 'n\n1\n')).created, 1)
})

t.test('an upsert by another key changes no primary key', async (t) => {
  const people = await createTable(admin, {
    name: 'people',
    fields: [
      { name: 'email', jsonType: 'string', isUnique: true },
      { name: 'name', jsonType: 'string' }
    ]
  })
  const token = bearer(await issueToken(admin, { tables: ['people'], actions: ['read', 'create', 'update'] }))
  const persons = client(app, { ...token, 'content-type': 'text/csv' })
  const upsert = (file: string) => persons.post('/data/people/import?mode=upsert&on=email', file)
  expectData(t, await upsert('id,email\n1,a@x\n'), imported(1))
  expectError(t, await upsert('id,email,name\n9,a@x,Ada\n'), 400, 'IMPORT_FAILED', '/id')
  expectData(t, await upsert('id,email,name\n1,a@x,Ada\n2,b@x,Bob\n'), imported(2, 1))
  expectData(t, await upsert('email,name\na@x,Eva\n'), imported(1, 1))
  const { rows } = dataOf(await admin.get(`/admin/tables/${people.id}/data`))
  t.match(rows, [
    { id: 1, name: 'Eva' },
    { id: 2, name: 'Bob' }
  ])
})

t.test('an unknown field is named, with what may be wrong', async (t) => {
  const ndjson = client(app, { ...write, 'content-type': 'application/x-ndjson' })
  const messageOf = (response: Awaited<ReturnType<typeof csv.post>>) => response.json().error.details[0].message
  t.match(messageOf(await csv.post(url, 'name;lives\nTom;9\n')), /`delimiter`/)
  t.match(messageOf(await csv.post(url, 'nick\nTom\n')), /`map`/)
  t.match(messageOf(await ndjson.post(url, '{"nick":"Tom"}')), /`map`/)
})

t.test('records need a field', async (t) => {
  const tables = { tables: ['bare'], actions: ['create' as const] }
  await createTable(admin, { name: 'bare', fields: [{ name: 'name', jsonType: 'string' }] })
  const headers = { ...bearer(await issueToken(admin, tables)), 'content-type': 'application/x-ndjson' }
  const bare = client(app, headers)
  expectError(t, await bare.post('/data/bare/import', '{}\n{}\n'), 400, 'VALIDATION_FAILED')
  expectData(t, await bare.post('/data/bare/import', '{"name":"x"}\n{}\n'), imported(2))
})

t.test('NDJSON has the integers of the token', async (t) => {
  const strings = { ...(await asToken(['create'], 'string')), 'content-type': 'application/x-ndjson' }
  expectData(t, await client(app, strings).post(url, '{"lives":"5"}'), imported(1))
  const numbers = { ...write, 'content-type': 'application/x-ndjson' }
  expectError(t, await client(app, numbers).post(url, '{"lives":"5"}'), 400, 'IMPORT_FAILED', '/lives')
})

t.test('the number of cells of a record is limited', async (t) => {
  const cells = (count: number) => `name\n${','.repeat(count - 1)}\n`
  const messageOf = async (file: string) => (await csv.post(url, file)).json().error.details[0].message
  t.match(await messageOf(cells(100_000)), /has 100000 cells, but the header has 1/)
  t.match(await messageOf(cells(100_001)), /has more than 100000 cells/)
})

t.test('a file over IMPORT_LIMIT responds 413', async (t) => {
  const before = await totalOf()
  expectError(t, await csv.post(url, `name\n${'x'.repeat(LIMIT)}\n`), 413, 'BODY_TOO_LARGE')
  expectData(t, await csv.post(url, `name\n${'x'.repeat(LIMIT / 2)}\n`), imported(1))
  t.equal(await totalOf(), before + 1)
})

t.test('over HTTP', async (t) => {
  await app.listen({ port: 0 })
  const { port } = app.server.address() as AddressInfo
  const headers = { ...write, 'content-type': 'text/csv' }
  const stagingFiles = () => readdirSync(`${app.config.DATA_DIR}/staging`)

  const waitFor = async (isDone: () => boolean) => {
    while (!isDone()) await wait(10)
  }
  const begin = async (first: string, options: object = headers) => {
    const sent = request({ port, path: url, method: 'POST', headers: options as Record<string, string> })
    sent.on('error', () => {})
    sent.write(first)
    await waitFor(() => stagingFiles().length > 0)
    return sent
  }
  const responseOf = async (sent: ReturnType<typeof request>) => {
    const [response] = await once(sent, 'response')
    let body = ''
    for await (const chunk of response) body += chunk
    return { status: response.statusCode, body: JSON.parse(body) }
  }

  await t.test('a chunked file above the limit gets its response', async (t) => {
    const sent = request({ port, path: url, method: 'POST', headers })
    const response = responseOf(sent)
    for (let index = 0; index < 6; index += 1) sent.write('x'.repeat(LIMIT / 4))
    sent.end()
    t.match(await response, { status: 413, body: { error: { code: 'BODY_TOO_LARGE' } } })
  })

  await t.test('a client that disconnects imports nothing', async (t) => {
    const before = await totalOf()
    const sent = await begin(`name\n${'x\n'.repeat(80_000)}`)
    sent.destroy()
    await waitFor(() => stagingFiles().length === 0)
    t.equal(await totalOf(), before)
  })

  await t.test('a caller has one import at a time, and four callers import at the same time', async (t) => {
    const large = `name\n${'x\n'.repeat(80_000)}`
    const first = await begin(large)
    expectError(t, await csv.post(url, 'name\nx\n'), 503, 'OVERLOADED')
    const other = client(app, { ...(await asToken(['create'])), 'content-type': 'text/csv' })
    expectData(t, await other.post(url, 'name\nx\n'), imported(1))
    const others = []
    for (let count = 2; count <= 4; count += 1) {
      const headers = { ...(await asToken(['create'])), 'content-type': 'text/csv' }
      const sent = request({ port, path: url, method: 'POST', headers })
      sent.on('error', () => {})
      sent.write(large)
      await waitFor(() => stagingFiles().length === count)
      others.push(sent)
    }
    const refused = await other.post(url, 'name\nx\n')
    expectError(t, refused, 503, 'OVERLOADED')
    t.equal(refused.headers['retry-after'], '5')
    for (const sent of [first, ...others]) sent.destroy()
    await waitFor(() => stagingFiles().length === 0)
    expectData(t, await csv.post(url, 'name\nx\n'), imported(1))
  })

  await t.test('a token that is revoked during the import imports nothing', async (t) => {
    const { id, token } = dataOf(
      await admin.post('/admin/tokens', { name: 'short', permissions: { tables: ['*'], actions: ['create'] } })
    )
    const before = await totalOf()
    const sent = await begin(`name\n${'x\n'.repeat(80_000)}`, { ...bearer(token), 'content-type': 'text/csv' })
    await admin.delete(`/admin/tokens/${id}`)
    const response = responseOf(sent)
    sent.end()
    t.match(await response, { status: 401 })
    t.equal(await totalOf(), before)
  })

  await t.test('the stop of the service ends an import', async (t) => {
    const sent = await begin(`name\n${'x\n'.repeat(80_000)}`)
    const response = responseOf(sent)
    const closed = app.close()
    t.match(await response, { status: 503, body: { error: { code: 'OVERLOADED' } } })
    sent.destroy()
    await closed
    t.strictSame(stagingFiles(), [])
  })
})
