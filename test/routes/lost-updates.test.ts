import t, { type Test } from 'tap'
import {
  asAdmin,
  asToken,
  bearer,
  type Client,
  client,
  createDatabase,
  dataOf,
  expectDone,
  expectError,
  importTable,
  startApp,
  type TestResponse
} from '../helpers.ts'

const WIDE = '9223372036854775807'

const externalFile = createDatabase(
  t,
  `CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT UNIQUE, lives INTEGER, note TEXT);
   INSERT INTO cats VALUES (1, 'Tom', 9, 'shy'), (2, 'Felix', 9, 'shy'), (3, 'Garfield', 9, 'shy');
   CREATE TABLE lines (order_id INTEGER, sku TEXT, quantity INTEGER NOT NULL, PRIMARY KEY (order_id, sku)) WITHOUT ROWID;
   INSERT INTO lines VALUES (1, 'pen', 1), (2, 'pad,a4', 10);
   CREATE TABLE logged (id INTEGER PRIMARY KEY, name TEXT, version INTEGER DEFAULT 0);
   CREATE TRIGGER counted AFTER UPDATE OF name ON logged BEGIN
     UPDATE logged SET version = version + 1 WHERE id = new.id;
   END;
   CREATE TRIGGER ignored BEFORE UPDATE ON logged WHEN new.name = 'ignore' BEGIN SELECT RAISE(IGNORE); END;
   INSERT INTO logged (id, name) VALUES (1, 'first');
   CREATE TABLE values_of_all_kinds (id INTEGER PRIMARY KEY, n INTEGER, r REAL, bytes BLOB, day DATE, anything);
   INSERT INTO values_of_all_kinds VALUES (1, ${WIDE}, 0.1, x'00ff', '2026-01-01', 1.5);
   CREATE TABLE wide (id INTEGER PRIMARY KEY, text TEXT, n INTEGER);
   INSERT INTO wide VALUES (1, printf('%.*c', 1100000, 'é'), 0);
   CREATE TABLE mixed (k PRIMARY KEY, n INTEGER);
   INSERT INTO mixed VALUES (1, 0), ('1', 0);`
)

const app = await startApp(t, { env: { DATABASE: externalFile } })
const admin = await asAdmin(app)
const ids: Record<string, number> = {}
for (const name of ['cats', 'lines', 'logged', 'values_of_all_kinds', 'wide', 'mixed'])
  ids[name] = (await importTable(admin, name)).id
dataOf(await admin.put(`/admin/tables/${ids.cats}`, { fields: [{ name: 'note', isHidden: true }] }))
const token = await asToken(app, admin)

const withHeader =
  (name: 'if-match' | 'if-none-match') =>
  ({ headers }: Client, value: string) =>
    client(app, { ...headers, [name]: value })
const ifMatch = withHeader('if-match')
const ifNoneMatch = withHeader('if-none-match')

const tagOf = ({ headers }: TestResponse) => String(headers.etag)
const readTag = async (caller: Client, url: string) => tagOf(await caller.get(url))

const expectMismatch = (t: Test, response: TestResponse, etag: string) => {
  expectError(t, response, 412, 'PRECONDITION_FAILED')
  t.match(response.json().error.hint, /Read the record again/)
  t.equal(response.headers.etag, etag)
}

/** A record as a token and as an administrator reach it. Their tags differ, because the administrator sees `note`. */
const areas = [
  { kind: 'token', caller: token, urlOf: (pk: string) => `/data/cats/records/${pk}` },
  { kind: 'administrator', caller: admin, urlOf: (pk: string) => `/admin/tables/${ids.cats}/data/${pk}` }
]

for (const { kind, caller, urlOf } of areas) {
  const url = urlOf('1')

  t.test(`a read by the ${kind} has a strong tag, which changes with the record`, async (t) => {
    const tag = await readTag(caller, url)
    t.match(tag, /^"[\w-]{22}"$/)
    t.equal(await readTag(caller, url), tag)
    t.equal(tagOf(await app.inject({ method: 'HEAD', url, headers: caller.headers })), tag)
    const { lives } = dataOf(await caller.get(url))
    expectDone(t, await caller.put(url, { lives: lives + 1 }))
    t.not(await readTag(caller, url), tag)
    expectDone(t, await caller.put(url, { lives }))
    t.equal(await readTag(caller, url), tag)
    t.not(await readTag(caller, urlOf('2')), tag)
  })

  t.test(`a read by the ${kind} gets 304 if the tag is the same`, async (t) => {
    const tag = await readTag(caller, url)
    for (const header of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const response = await ifNoneMatch(caller, header).get(url)
      t.equal(response.statusCode, 304, header)
      t.equal(response.body, '')
      t.equal(tagOf(response), tag)
    }
    for (const header of ['"other"', 'nonsense']) {
      const response = await ifNoneMatch(caller, header).get(url)
      t.equal(response.statusCode, 200, header)
      t.equal(tagOf(response), tag)
    }
    expectError(t, await ifNoneMatch(caller, '*').get(urlOf('99')), 404, 'RECORD_NOT_FOUND')
  })

  t.test(`the ${kind} updates a record only while it has the tag`, async (t) => {
    const tag = await readTag(caller, url)
    expectDone(t, await ifMatch(caller, tag).put(url, { lives: 7 }))
    const current = await readTag(caller, url)
    expectMismatch(t, await ifMatch(caller, tag).put(url, { lives: 6 }), current)
    t.equal(dataOf(await caller.get(url)).lives, 7)
    const returned = await ifMatch(caller, current).put(`${url}?return=record`, { lives: 6 })
    t.match(dataOf(returned), { success: true, record: { lives: 6 } })
    expectMismatch(
      t,
      await ifMatch(caller, current).put(`${url}?return=record`, { lives: 5 }),
      await readTag(caller, url)
    )
  })

  t.test(`the ${kind} deletes a record only while it has the tag`, async (t) => {
    const { id } = dataOf(await token.post('/data/cats/records', { name: kind }))
    const url = urlOf(id)
    const tag = await readTag(caller, url)
    expectDone(t, await caller.put(url, { lives: 1 }))
    expectMismatch(t, await ifMatch(caller, tag).delete(url), await readTag(caller, url))
    expectMismatch(t, await ifMatch(caller, tag).delete(`${url}?return=record`), await readTag(caller, url))
    const deleted = await ifMatch(caller, await readTag(caller, url)).delete(`${url}?return=record`)
    t.match(dataOf(deleted), { success: true, record: { lives: 1 } })
    expectError(t, await ifMatch(caller, tag).delete(url), 404, 'RECORD_NOT_FOUND')
  })

  t.test(`the ${kind} can send several tags, or *`, async (t) => {
    const allowed = async () => {
      const tag = await readTag(caller, url)
      return [tag, `"other", ${tag}`, `${tag},"other"`, `, ,${tag} ,`, `"a,b",W/"c" , ${tag}`, `"é",${tag}`, '*']
    }
    for (const [index] of (await allowed()).entries()) {
      const header = String((await allowed())[index])
      expectDone(t, await ifMatch(caller, header).put(url, { lives: index }))
    }
    const tag = await readTag(caller, url)
    for (const header of ['"other"', '"other", "another"', `W/${tag}`, '"*"', tag.toLowerCase()])
      expectMismatch(t, await ifMatch(caller, header).put(url, { lives: 0 }), tag)
    expectError(t, await ifMatch(caller, '*').put(urlOf('99'), { lives: 0 }), 404, 'RECORD_NOT_FOUND')
    expectError(t, await ifMatch(caller, tag).put(urlOf('99'), { lives: 0 }), 404, 'RECORD_NOT_FOUND')
  })

  t.test(`a header of the ${kind} that is no list of tags is refused, and changes nothing`, async (t) => {
    const tag = await readTag(caller, url)
    for (const header of ['', tag.slice(1, -1), `${tag} ${tag}`, `*, ${tag}`, `${tag}, *`, `w/${tag}`, '"', '"a b"']) {
      const response = await ifMatch(caller, header).put(url, { lives: 99 })
      expectError(t, response, 400, 'VALIDATION_FAILED', '/if-match')
      t.match(response.json().error.message, /^'if-match' must be \* or a list of up to 8 tags/)
    }
    t.equal(await readTag(caller, url), tag)
  })

  t.test(`the ${kind} can send up to 8 tags`, async (t) => {
    const tag = await readTag(caller, url)
    const others = (count: number) => Array.from({ length: count }, (_, index) => `"other-${index}"`)
    for (const header of [[...others(8), tag].join(), others(9).join(', '), `, ${others(8).join(' ,, ')}, W/"weak"`]) {
      const response = await ifMatch(caller, header).put(url, { lives: 98 })
      expectError(t, response, 400, 'VALIDATION_FAILED', '/if-match')
      t.match(response.json().error.message, 'up to 8 tags')
      const deleted = await ifMatch(caller, header).delete(url)
      expectError(t, deleted, 400, 'VALIDATION_FAILED', '/if-match')
    }
    t.equal(await readTag(caller, url), tag)
    expectMismatch(t, await ifMatch(caller, others(8).join()).put(url, { lives: 98 }), tag)
    expectDone(t, await ifMatch(caller, `, ${[...others(7), tag].join(' ,, ')} ,`).put(url, { lives: 98 }))
  })
}

for (const { name, caller, create, batch } of [
  { name: 'a token', caller: token, create: '/data/cats/records', batch: '/data/_batch' },
  { name: 'an administrator', caller: admin, create: `/admin/tables/${ids.cats}/data`, batch: '/admin/batch' }
])
  t.test(`${name} gets an error for a condition that would have no effect`, async (t) => {
    const record = { lives: 3 }
    const body = { operations: [{ op: 'create', table: 'cats', values: record }] }
    for (const value of ['*', '"sMPYLLsQHLbLbZGfPGUWwA"']) {
      const [match, noneMatch] = [ifMatch(caller, value), ifNoneMatch(caller, value)]
      for (const url of [create, `${create}?upsert=id`])
        expectError(t, await match.post(url, record), 400, 'VALIDATION_FAILED', '/if-match')
      expectError(t, await match.post(batch, body), 400, 'VALIDATION_FAILED', '/if-match')
      expectError(t, await noneMatch.post(create, record), 400, 'VALIDATION_FAILED', '/if-none-match')
      expectError(t, await noneMatch.post(batch, body), 400, 'VALIDATION_FAILED', '/if-none-match')
    }
    t.match(dataOf(await caller.post(create, record)), record)
    t.match(dataOf(await caller.post(batch, body)).results, [record])
    const upserted = await ifNoneMatch(caller, '*').post(`${create}?upsert=id`, { id: null, ...record })
    t.match(dataOf(upserted), { created: true })
  })

t.test('several headers are one list', async (t) => {
  const address = await app.listen({ port: 0 })
  const url = '/data/cats/records/2'
  const tag = await readTag(token, url)
  const put = async (...tags: string[]) => {
    const headers = new Headers({ ...token.headers, 'content-type': 'application/json' })
    for (const one of tags) headers.append('if-match', one)
    return (await fetch(address + url, { method: 'PUT', headers, body: '{"lives":5}' })).status
  }
  t.equal(await put('"other"', '"another"'), 412)
  t.equal(await put('"other"', tag), 200)
  const others = Array.from({ length: 8 }, (_, index) => `"${index}"`)
  t.equal(await put(...others), 412)
  t.equal(await put(...others, await readTag(token, url)), 400)
})

t.test('the tag of a token does not depend on hidden fields', async (t) => {
  const [shown, all] = areas.map(({ urlOf }) => urlOf('3')) as [string, string]
  const [tag, adminTag] = [await readTag(token, shown), await readTag(admin, all)]
  t.not(tag, adminTag)
  expectMismatch(t, await ifMatch(token, adminTag).put(shown, { lives: 1 }), tag)
  expectDone(t, await admin.put(all, { note: 'changed' }))
  t.equal(await readTag(token, shown), tag)
  expectMismatch(t, await ifMatch(admin, adminTag).put(all, { lives: 1 }), await readTag(admin, all))
  expectDone(t, await ifMatch(token, tag).put(shown, { lives: 1 }))
})

t.test('an increment needs the tag, too', async (t) => {
  const url = '/data/cats/records/2'
  const body = { pk: '2', field: 'lives', count: -1 }
  const tag = await readTag(token, url)
  const counted = await ifMatch(token, tag).post('/data/cats/incr?return=record', body)
  const { lives } = dataOf(counted).record
  expectMismatch(t, await ifMatch(token, tag).post('/data/cats/incr', body), await readTag(token, url))
  expectMismatch(t, await ifMatch(token, tag).post('/data/cats/incr?return=record', body), await readTag(token, url))
  t.equal(dataOf(await token.get(url)).lives, lives)
  expectDone(t, await ifMatch(token, '*').post('/data/cats/incr', body))
  for (const header of ['x', '"x",'.repeat(9)])
    expectError(t, await ifMatch(token, header).post('/data/cats/incr', body), 400, 'VALIDATION_FAILED', '/if-match')
  t.equal((await ifMatch(token, '"x",'.repeat(8)).post('/data/cats/incr', body)).statusCode, 412)
  expectError(t, await ifMatch(token, tag).post('/data/cats/incr', { ...body, pk: '99' }), 404, 'RECORD_NOT_FOUND')
})

t.test('of two clients that change the same record at the same time, exactly one succeeds', async (t) => {
  const url = '/data/cats/records/1'
  const clients = [token, await asToken(app, admin)]
  for (let round = 0; round < 20; round++) {
    const tag = await readTag(token, url)
    const change = (caller: Client, index: number) =>
      round % 2 === 0
        ? ifMatch(caller, tag).put(url, { lives: 100 * round + index })
        : ifMatch(caller, tag).post('/data/cats/incr', { pk: '1', field: 'lives', count: 1 + index })
    const statuses = (await Promise.all(clients.map(change))).map(({ statusCode }) => statusCode)
    t.strictSame(statuses.sort(), [200, 412])
  }
})

t.test('a violation is reported only for a record with the tag', async (t) => {
  const url = '/data/cats/records/1'
  const tag = await readTag(token, url)
  expectMismatch(t, await ifMatch(token, '"other"').put(url, { name: 'Felix' }), tag)
  expectError(t, await ifMatch(token, tag).put(url, { name: 'Felix' }), 409, 'UNIQUE_VIOLATION', '/name')
})

t.test('a record with a composite key and without a rowid', async (t) => {
  const url = '/data/lines/records/2,pad%2Ca4'
  const tag = await readTag(token, url)
  t.match(dataOf(await ifMatch(token, tag).put(`${url}?return=record`, { quantity: 11 })).record, { quantity: 11 })
  expectMismatch(t, await ifMatch(token, tag).put(url, { quantity: 12 }), await readTag(token, url))
  expectMismatch(t, await ifMatch(token, tag).delete(url), await readTag(token, url))
  expectDone(t, await ifMatch(token, await readTag(token, url)).delete(url))
})

t.test('a table with triggers: the tag is that of the record before the change', async (t) => {
  const url = '/data/logged/records/1'
  const tag = await readTag(token, url)
  const changed = await ifMatch(token, tag).put(`${url}?return=record`, { name: 'second' })
  t.match(dataOf(changed).record, { name: 'second', version: 1 })
  const current = await readTag(token, url)
  expectMismatch(t, await ifMatch(token, tag).put(`${url}?return=record`, { name: 'third' }), current)
  expectMismatch(t, await ifMatch(token, tag).put(url, { name: 'ignore' }), current)
  expectError(t, await ifMatch(token, current).put(url, { name: 'ignore' }), 409, 'REFUSED_BY_TRIGGER')
})

t.test('the tag depends on the format of integers, and fits values of every kind', async (t) => {
  const url = '/data/values_of_all_kinds/records/1'
  const permissions = { tables: ['*'], actions: ['read' as const, 'write' as const] }
  const tags = new Set<string>()
  for (const integers of ['auto', 'number', 'string']) {
    const issued = dataOf(await admin.post('/admin/tokens', { name: integers, permissions, integers }))
    const caller = client(app, bearer(issued.token))
    const tag = await readTag(caller, url)
    tags.add(tag)
    expectDone(t, await ifMatch(caller, tag).put(url, { day: '2026-01-01' }))
    expectMismatch(t, await ifMatch(caller, '"other"').put(url, { day: '2026-01-02' }), tag)
  }
  t.equal(tags.size, 3)
})

t.test('a record that is too wide for the event loop', async (t) => {
  const url = '/data/wide/records/1'
  const tag = await readTag(token, url)
  expectDone(t, await ifMatch(token, tag).put(url, { n: 1 }))
  const current = await readTag(token, url)
  t.not(current, tag)
  expectMismatch(t, await ifMatch(token, tag).put(url, { n: 2 }), current)
  t.equal((await ifNoneMatch(token, current).get(url)).statusCode, 304)
})

t.test('of two records whose keys have the same text, the tag names one', async (t) => {
  const url = '/data/mixed/records/1'
  const tag = await readTag(token, url)
  expectError(t, await ifMatch(token, '"other"').put(url, { n: 1 }), 409, 'STRUCTURE_CHANGED')
  expectDone(t, await ifMatch(token, tag).put(url, { n: 1 }))
  const rows: readonly { k: unknown; n: number }[] = dataOf(await token.get('/data/mixed')).rows
  t.equal(rows.filter(({ n }) => n === 1).length, 1)
})
