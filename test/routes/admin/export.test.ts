import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setImmediate, setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { NewField } from '../../../schemas/new-table.ts'
import { parseCsv } from '../../csv.ts'
import {
  asAdmin,
  createDatabase,
  createTable,
  dataOf,
  expectError,
  importTable,
  logIn,
  PASSWORD,
  startApp,
  type TestResponse
} from '../../helpers.ts'
import { openServed } from '../../served.ts'

interface Uneven {
  readonly id: number
  readonly s: string
}

const externalFile = createDatabase(
  t,
  `CREATE TABLE "odd*; (name')/ü" (id INTEGER PRIMARY KEY, "=danger" TEXT, "a,b" TEXT);
   CREATE TABLE mixed (k TEXT PRIMARY KEY, n INTEGER, r REAL, b BLOB, f BOOLEAN) WITHOUT ROWID;
   INSERT INTO mixed VALUES ('b', 9223372036854775807, 1e999, x'00ff', 1), ('a', 'text', -0.5, 'text', 7), ('c', NULL, NULL, NULL, 0);
   CREATE TABLE bytes (id INTEGER PRIMARY KEY, b BLOB);
   WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 255)
     INSERT INTO bytes SELECT i + 1, unhex(printf('%02x0102', i)) FROM n;
   INSERT INTO bytes VALUES (257, x''), (258, x'f8');
   CREATE TABLE nullable_key (k TEXT PRIMARY KEY, v INTEGER);
   INSERT INTO nullable_key VALUES (NULL, 1), (NULL, 2), ('x', 3);`
)
const time = Date.parse('2026-03-01T12:34:56.789Z')
const app = await startApp(t, { env: { DATABASE: externalFile, MAX_PAGE_SIZE: '100' }, clock: () => time })
const admin = await asAdmin(app)

const exported = (id: number, query = '') => admin.get(`/admin/tables/${id}/export${query}`)
const lines = async (id: number, query = '') => (await exported(id, query)).body.split('\r\n')

const fields: NewField[] = [
  { name: 's', jsonType: 'string' },
  { name: 'i', jsonType: 'integer' },
  { name: 'n', jsonType: 'number' },
  { name: 'b', jsonType: 'boolean' },
  { name: 'o', jsonType: 'object' }
]
const people = await createTable(admin, { name: 'people', fields })
const create = (body: object) => admin.post(`/admin/tables/${people.id}/data`, body)

t.test('an export of an empty table has one header line', async (t) => {
  const response = await exported(people.id)
  t.equal(response.statusCode, 200)
  t.equal(response.body, '"id","s","i","n","b","o"\r\n')
  t.match(response.headers, {
    'content-type': /^text\/csv; charset=utf-8/,
    'content-disposition': /^attachment; filename="people-20260301T123456Z\.csv"/
  })
})

t.test('a record is one line: text is quoted, numbers are not, null is an empty cell', async (t) => {
  await create({ s: 'plain', i: -5, n: 0.1, b: true, o: { a: [1] } })
  await create({ s: '', i: '9007199254740993', n: 1e21, b: false })
  await create({ s: 'a "quote", a\r\nline, ü 😀' })
  t.strictSame(await lines(people.id), [
    '"id","s","i","n","b","o"',
    '1,"plain",-5,0.1,true,"{""a"":[1]}"',
    '2,"",9007199254740993,1.0e+21,false,',
    '3,"a ""quote"", a',
    'line, ü 😀",,,,',
    ''
  ])
  const rows = await parseCsv((await exported(people.id)).body)
  t.strictSame(rows[3], ['3', 'a "quote", a\r\nline, ü 😀', '', '', '', ''])
  t.equal(Number(rows[2]?.[3]), 1e21)
})

t.test('text is exported as it is stored, unless formulas are escaped', async (t) => {
  const { id } = await createTable(admin, { name: 'formulas', fields: fields.slice(0, 2) })
  const dangerous = [
    '=1+1',
    '+49 30 1234',
    '-1',
    '@SUM(A1)',
    '\tx',
    '\rx',
    '  =1',
    '\n=1',
    '\u00a0=1',
    ' \u000b@x',
    '\u3000=1',
    '\u2003+1',
    '\ufeff-1',
    '\u2028\u200b@',
    '＝1',
    ' ＋1',
    '－1',
    '＠a'
  ]
  const quoted = ["'=1", "''+49", "' -1", "'''\u00a0@"]
  const harmless = ['1=1', 'a@b', ' x', '', 'x\t', '.=', 'ü=', '。=', "'x", "' '=1", "'", "''", " '=1"]
  const all = [...dangerous, ...quoted, ...harmless]
  for (const s of all) await admin.post(`/admin/tables/${id}/data`, { s, i: -1 })
  const cells = async (query: string) => (await parseCsv((await exported(id, query)).body)).slice(1).map(([, s]) => s)
  t.strictSame(await cells(''), all)
  t.strictSame(await cells('?escape=none'), all)
  const escaped = await cells('?escape=formulas')
  t.strictSame(escaped, [...[...dangerous, ...quoted].map((s) => `'${s}`), ...harmless])
  t.equal(new Set(escaped).size, all.length, 'no two values have the same cell')
  t.match((await lines(id, '?escape=formulas'))[1], /,-1$/, 'numbers are never escaped')
})

t.test('a BLOB is exported as base64, escaped where that begins with a plus', async (t) => {
  const { id } = dataOf(await admin.post('/admin/tables/import', { name: 'bytes' }))
  const first = Array.from({ length: 256 }, (_, byte) => Buffer.from([byte, 1, 2]))
  const texts = [...first, Buffer.from([]), Buffer.from([0xf8])].map((bytes) => bytes.toString('base64'))
  const cells = async (query: string) => (await lines(id, query)).slice(1, -1).map((line) => line.replace(/^\d+,/, ''))
  t.strictSame(
    await cells(''),
    texts.map((text) => `"${text}"`)
  )
  t.strictSame(
    await cells('?escape=formulas'),
    texts.map((text) => (text.startsWith('+') ? `"'${text}"` : `"${text}"`))
  )
  t.equal(texts.filter((text) => text.startsWith('+')).length, 5)
})

t.test('an export starts with a byte order mark if `bom` is true', async (t) => {
  const bytes = (await exported(people.id, '?bom=true')).rawPayload
  t.strictSame([...bytes.subarray(0, 4)], [0xef, 0xbb, 0xbf, 0x22])
  t.equal((await exported(people.id, '?bom=false')).rawPayload[0], 0x22)
})

t.test('an export', async (t) => {
  const { id } = await createTable(admin, { name: 'many', fields: fields.slice(0, 2) })
  const url = `/admin/tables/${id}/data`
  const created = Array.from({ length: 250 }, (_, index) => admin.post(url, { s: `row ${index % 10}`, i: index }))
  await Promise.all(created)
  const ids = async (query = '') =>
    (await parseCsv((await exported(id, query)).body)).slice(1).map(([key]) => Number(key))
  const listed = async (query: string) =>
    dataOf(await admin.get(`${url}?${query}`)).rows.map((row: { id: number }) => row.id)
  const everyId = Array.from({ length: 250 }, (_, index) => index + 1)

  t.test('has all rows if neither page nor size is given', async (t) => {
    t.strictSame(await ids(), everyId)
    t.strictSame(await ids('?order=-id'), everyId.toReversed())
    t.strictSame(await ids('?page=2'), await listed('page=2'))
    t.strictSame(await ids('?size=7'), await listed('size=7'))
    t.strictSame(
      await ids('?page=3&size=500&order=-i'),
      await listed('page=3&size=500&order=-i'),
      'the size has the limit of a list'
    )
    t.strictSame(await ids('?page=99'), [])
  })
  t.test('is sorted and filtered like a list', async (t) => {
    t.strictSame(await ids('?order=s,-id&page=1&size=100'), await listed('order=s,-id&size=100'))
    const rows = dataOf(await admin.get(`${url}?q=row 3&size=100&order=-i`)).rows
    t.equal(rows.length, 25)
    t.strictSame(
      await ids('?q=row 3&order=-i'),
      rows.map((row: { id: number }) => row.id)
    )
    t.strictSame(await ids('?q=nothing'), [])
    t.equal((await ids('?order=s')).length, 250)
  })
  t.test('refuses the same queries as a list', async (t) => {
    expectError(t, await exported(id, '?order=nothing'), 400, 'VALIDATION_FAILED', '/order')
    expectError(t, await exported(id, '?page=0'), 400, 'VALIDATION_FAILED', '/page')
    expectError(t, await exported(id, '?bom=1'), 400, 'VALIDATION_FAILED', '/bom')
    for (const value of ['', 'false', 'true', 'formula'])
      expectError(t, await exported(id, `?escape=${value}`), 400, 'VALIDATION_FAILED', '/escape')
    expectError(t, await exported(id, '?format=xlsx'), 400, 'VALIDATION_FAILED', '/format')
    expectError(t, await exported(id, `?q=${'x'.repeat(256)}`), 400, 'VALIDATION_FAILED', '/q')
    expectError(t, await exported(999), 404, 'TABLE_NOT_FOUND')
    expectError(t, await app.inject(`/admin/tables/${id}/export`), 401, 'AUTHENTICATION_REQUIRED')
  })
  t.test('includes the smallest and the largest 64-bit key', async (t) => {
    await admin.post(url, { id: '9223372036854775807' })
    await admin.post(url, { id: '-9223372036854775808' })
    t.equal((await ids()).length, 252)
    t.equal((await ids('?order=-id')).length, 252)
  })
})

t.test('an imported table is exported with its stored values', async (t) => {
  const { id } = await importTable(admin, 'mixed')
  t.strictSame(await lines(id), [
    '"k","n","r","b","f"',
    '"a","text",-0.5,"text",7',
    '"b",9223372036854775807,,"AP8=",true',
    '"c",,,,false',
    ''
  ])
  t.equal((await lines(id, '?order=-n')).length, 5)
})

t.test('rows whose declared key is null are exported too', async (t) => {
  const { id } = await importTable(admin, 'nullable_key')
  t.strictSame((await lines(id)).sort(), ['', '"k","v"', '"x",3', ',1', ',2'].sort())
})

t.test('names with special characters are exported unchanged', async (t) => {
  const { id } = await importTable(admin, "odd*; (name')/ü")
  const response = await exported(id)
  t.equal(response.body, '"id","=danger","a,b"\r\n')
  t.equal((await exported(id, '?escape=formulas')).body, `"id","'=danger","a,b"\r\n`)
  t.equal(
    response.headers['content-disposition'],
    `attachment; filename="odd*; (name')__-20260301T123456Z.csv"; filename*=UTF-8''odd%2A%3B%20%28name%27%29%2F%C3%BC-20260301T123456Z.csv`
  )
})

/** Creates a table that is larger than all buffers between the service and a client that does not read. */
const createLargeTable = (t: Test) =>
  createDatabase(
    t,
    `CREATE TABLE large (id INTEGER PRIMARY KEY, s TEXT);
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
       INSERT INTO large SELECT i, printf('%01000d', i) FROM n;
     CREATE TABLE small (id INTEGER PRIMARY KEY, s TEXT);`
  )

t.test('an export to a slow client is complete, whatever the sizes of its rows', async (t) => {
  const file = createDatabase(
    t,
    `CREATE TABLE uneven (id INTEGER PRIMARY KEY, s TEXT);
     WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
     INSERT INTO uneven SELECT i, printf('%.*c', CASE WHEN i % 1000 < 8 THEN 300000 WHEN i % 1000 < 10 THEN 2000000 ELSE i % 200 END, char(97 + i % 26)) FROM n;`
  )
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  const { id } = await importTable(admin, 'uneven')
  const address = await app.listen({ host: '127.0.0.1', port: 0 })

  const download = async (query: string) => {
    const [response] = await once(
      get(`${address}/admin/tables/${id}/export${query}`, { headers: admin.headers }),
      'response'
    )
    const sum = createHash('sha256')
    for await (const chunk of response as IncomingMessage) {
      sum.update(chunk)
      await wait(1)
    }
    return sum.digest('hex')
  }
  const db = openServed(t, file, { readonly: true })
  const expected = (order: string) => {
    const sum = createHash('sha256').update('"id","s"\r\n')
    for (const { id, s } of db.prepare(`SELECT id, s FROM uneven ORDER BY ${order}`).iterate() as Iterable<Uneven>)
      sum.update(`${id},"${s}"\r\n`)
    return sum.digest('hex')
  }
  t.equal(await download(''), expected('id'))
  t.equal(await download('?order=s'), expected('s, id'))
})

/** Parses the chunked bodies of two responses on one connection. */
const bodiesOf = (received: Buffer) => {
  const text = received.toString('latin1')
  const bodies: string[] = []
  let at = 0
  while (at < text.length) {
    at = text.indexOf('\r\n\r\n', at) + 4
    let body = ''
    for (let size = -1; size !== 0; ) {
      const start = text.indexOf('\r\n', at) + 2
      size = Number.parseInt(text.slice(at, start), 16)
      body += text.slice(start, start + size)
      at = start + size + 2
    }
    bodies.push(body)
  }
  return bodies
}

t.test('chunks that a connection holds back are sent unchanged', async (t) => {
  const file = createDatabase(
    t,
    `CREATE TABLE wide (id INTEGER PRIMARY KEY, s TEXT);
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
       INSERT INTO wide SELECT i, printf('%01000d', i) FROM n;
     CREATE TABLE narrow (id INTEGER PRIMARY KEY, s TEXT);
     INSERT INTO narrow SELECT id, printf('%010d', id) FROM wide;`
  )
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  const [wide, narrow] = [await importTable(admin, 'wide'), await importTable(admin, 'narrow')]
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo

  for (const query of ['', '?order=s']) {
    const paths = [wide, narrow].map(({ id }) => `/admin/tables/${id}/export${query}`)
    const responses: ServerResponse[] = []
    const onRequest = (_request: IncomingMessage, response: ServerResponse) => responses.push(response)
    app.server.on('request', onRequest)
    const socket = connect({ host: '127.0.0.1', port }).pause()
    const headers = `Host: localhost\r\nCookie: ${admin.headers.cookie}\r\n`
    // The client reads nothing. The second response waits behind the first one, which has filled all buffers.
    for (const [index, path] of paths.entries()) {
      socket.write(`GET ${path} HTTP/1.1\r\n${headers}\r\n`)
      const sent = () => responses[index]?.writableNeedDrain && responses[0]?.socket?.bytesWritten
      for (let before: unknown; !sent() || sent() !== before; await wait(50)) before = sent()
    }
    app.server.off('request', onRequest)
    const received: Buffer[] = []
    const isReceived = Promise.all(responses.map((response) => once(response, 'finish')))
    socket.on('data', (chunk) => received.push(chunk)).resume()
    await isReceived
    socket.end()
    await once(socket, 'close')
    const bodies = bodiesOf(Buffer.concat(received))
    t.equal(bodies.length, 2)
    for (const [index, path] of paths.entries()) {
      const { body } = await admin.get(path)
      t.ok(bodies[index] === body && body.split('\r\n').length === 20_002, path)
    }
  }
})

t.test('an export to a client that does not read', async (t) => {
  const app = await startApp(t, { env: { DATABASE: createLargeTable(t) } })
  const admin = await asAdmin(app)
  const [{ id }, small] = [await importTable(admin, 'large'), await importTable(admin, 'small')]
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const sorted = () => admin.get(`/admin/tables/${small.id}/export?order=s`)

  /** Starts an export that holds a reader thread, for a client that reads only the head of the response. */
  const startStalled = async () => {
    const served = once(app.server, 'request')
    const request = get(`${address}/admin/tables/${id}/export?order=s`, { headers: admin.headers })
    const [[, response], [received]] = await Promise.all([served, once(request, 'response')])
    return { response: response as ServerResponse, received: received as IncomingMessage }
  }
  const untilReaderReleased = async (): Promise<TestResponse> => {
    const response = await sorted()
    if (response.statusCode !== 503) return response
    await setImmediate()
    return untilReaderReleased()
  }

  await t.test('HEAD responds with the headers of an export, and holds no reader thread', async (t) => {
    for (const attempt of [1, 2, 3, 4]) {
      const { statusCode, headers, body } = await app.inject({
        method: 'HEAD',
        url: `/admin/tables/${id}/export?order=s`,
        headers: admin.headers
      })
      t.equal(statusCode, 200, `the reader thread is free in attempt ${attempt}`)
      t.match(headers['content-disposition'], /large-.*csv/)
      t.equal(body, '')
    }
  })

  const [first, second] = [await startStalled(), await startStalled()]
  t.test('holds one of two reader threads', async (t) => {
    const response = await sorted()
    expectError(t, response, 503, 'OVERLOADED')
    t.match(response.headers['retry-after'], /^\d+$/)
    t.equal(
      (await admin.get(`/admin/tables/${small.id}/export`)).statusCode,
      200,
      'an unsorted export needs no reader thread'
    )
  })
  t.test('releases the reader thread when the connection times out', async (t) => {
    const closed = once(first.response, 'close')
    first.response.socket?.emit('timeout')
    await closed
    t.notOk(first.response.writableFinished, 'the response is incomplete')
    t.equal((await untilReaderReleased()).statusCode, 200)
  })
  t.test('releases the reader thread when the client disconnects', async (t) => {
    const third = await startStalled()
    expectError(t, await sorted(), 503, 'OVERLOADED')
    for (const { received } of [second, third]) received.destroy()
    t.equal((await untilReaderReleased()).statusCode, 200)
  })
})

t.test('an export ends with the session of its administrator', async (t) => {
  const app = await startApp(t, { env: { DATABASE: createLargeTable(t) } })
  const admin = await asAdmin(app)
  const { id } = await importTable(admin, 'large')
  const address = await app.listen({ host: '127.0.0.1', port: 0 })

  /** Starts an export, calls `act`, and reads the rest. Returns the last chunk, and whether the export is complete. */
  const exportAround = async (name: string, query: string, act: () => Promise<unknown>) => {
    const headers = await logIn(app, name)
    const request = get(`${address}/admin/tables/${id}/export${query}`, { headers })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    t.equal(response.statusCode, 200)
    await act()
    let last = ''
    try {
      for await (const chunk of response) last = String(chunk)
    } catch {
      return { last, isComplete: false }
    }
    return { last, isComplete: true }
  }

  for (const query of ['', '?order=-s']) {
    const name = `removed${query}`
    const created = dataOf(await admin.post('/admin/admins', { name, nickname: '', password: PASSWORD }))
    const cut = await exportAround(name, query, () => admin.delete(`/admin/admins/${created.id}`))
    t.equal(cut.isComplete, false, `incomplete: ${query}`)
    const uncut = await exportAround('admin', query, () => admin.get('/admin/admins'))
    t.ok(uncut.isComplete, `complete while the session lasts: ${query}`)
    t.match(uncut.last, query === '?order=-s' ? /0001"\r\n$/ : /20000"\r\n$/)
  }
})
