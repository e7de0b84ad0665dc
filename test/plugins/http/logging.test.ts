import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import errors from '../../../plugins/http/errors.ts'
import { createLogController } from '../../../plugins/http/logging.ts'
import { type ErrorCode, errorCatalogue, statusOf } from '../../../schemas/error.ts'
import { DomainError, disconnected } from '../../../services/model/errors.ts'
import { asAdmin, asToken, createTable, dataOf, startApp } from '../../helpers.ts'

type Line = Record<string, unknown>

const INFO = 30
const WARN = 40
const ERROR = 50

const until = async (isTrue: () => boolean) => {
  while (!isTrue()) await wait(1)
}

const collectLines = (level = 'info') => {
  const lines: Line[] = []
  return { lines, logger: { level, stream: { write: (line: string) => lines.push(JSON.parse(line)) } } }
}

/** Starts the whole service with an access log. */
const startLogged = async (t: Test) => {
  const { lines, logger } = collectLines()
  const app = await startApp(t, { logger, env: { ACCESS_LOG: 'true' } })
  const requestLines = () => lines.filter(({ msg }) => msg === 'request')
  return { app, lines, requestLines }
}

t.test('the access log has one line per request', async (t) => {
  const { app, requestLines } = await startLogged(t)
  const admin = await asAdmin(app)
  const { id } = dataOf(await admin.get('/auth/me'))
  await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  const token = await asToken(app, admin, { tables: ['cats'], actions: ['read'] })
  const tokenId = dataOf(await admin.get('/admin/tokens'))[0].id
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const count = requestLines().length

  const requests = [
    [token, 'GET', '/data/cats?q=secret', { status: 200, token: tokenId }],
    [token, 'GET', '/data/_me', { status: 200, token: tokenId }],
    [token, 'GET', '/data/cats/records/7', { status: 404, code: 'RECORD_NOT_FOUND', token: tokenId }],
    [token, 'GET', '/data/dogs', { status: 403, code: 'ACTION_NOT_ALLOWED', token: tokenId }],
    [token, 'DELETE', '/data/cats/records/7', { status: 403, code: 'ACTION_NOT_ALLOWED', token: tokenId }],
    [admin, 'GET', '/admin/tables/99', { status: 404, code: 'TABLE_NOT_FOUND', admin: id }],
    [{ headers: {} }, 'GET', '/auth/me', { status: 401, code: 'AUTHENTICATION_REQUIRED' }],
    [{ headers: {} }, 'GET', '/nowhere', { status: 404, code: 'ROUTE_NOT_FOUND' }],
    [{ headers: {} }, 'GET', '/%', { status: 400, code: 'MALFORMED_REQUEST' }],
    [{ headers: {} }, 'GET', `/data/${'x'.repeat(300)}`, { status: 401, code: 'INVALID_TOKEN' }]
  ] as const
  for (const [index, [{ headers }, method, url, expected]] of requests.entries()) {
    const response = await fetch(address + url, { method, headers })
    await response.text()
    await until(() => requestLines().length > count + index)
    const { time, pid, hostname, duration, path, ...line } = requestLines()[count + index] as Line
    t.strictSame(line, {
      level: INFO,
      requestId: response.headers.get('x-request-id'),
      method,
      ...expected,
      address: '127.0.0.1',
      msg: 'request'
    })
    t.ok(Number(duration) >= 0, 'milliseconds')
    t.match(url, new RegExp(`^${String(path).replace('…', '')}`))
    t.notMatch(path, /secret|x{201}/)
  }
  await app.close()
  t.equal(requestLines().length, count + requests.length)
})

t.test('a request whose client disconnects is logged as aborted', async (t) => {
  const { lines, logger } = collectLines()
  const app = Fastify({ logger, logController: createLogController(true) })
  await app.register(errors)
  const events = new EventEmitter()
  app.get('/silent', async (_request, reply) => {
    reply.hijack()
    events.emit('arrived')
  })
  app.get('/stream', async (_request, reply) => {
    const body = new Readable({ read() {} })
    body.push('first')
    return reply.send(body)
  })
  t.teardown(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.addresses()[0] as { port: number }
  const open = (path: string) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    return socket
  }

  const arrived = once(events, 'arrived')
  const silent = open('/silent')
  await arrived
  silent.destroy()
  await until(() => lines.some(({ path }) => path === '/silent'))

  const stream = open('/stream')
  await once(stream, 'data')
  stream.destroy()
  await until(() => lines.some(({ path }) => path === '/stream'))
  t.match(
    lines.filter(({ msg }) => msg === 'request'),
    [
      { path: '/silent', aborted: true, status: undefined, address: '127.0.0.1' },
      { path: '/stream', aborted: true, status: 200, address: '127.0.0.1' }
    ]
  )
  t.notOk(lines.some(({ level }) => Number(level) >= WARN))
})

/** Starts an app without an access log whose only route throws what `thrown` returns. */
const startFailing = async (t: Test, thrown: () => unknown) => {
  const { lines, logger } = collectLines()
  const app = Fastify({ logger, logController: createLogController(false) })
  await app.register(errors)
  app.get('/fail', async () => {
    throw thrown()
  })
  t.teardown(() => app.close())
  const fail = () => app.inject('/fail?q=secret')
  return { app, fail, lines }
}

const codes = Object.keys(errorCatalogue) as ErrorCode[]
const isFault = (code: ErrorCode) => statusOf[errorCatalogue[code].kind] > 500

t.test('each kind of 503 and 507 is logged once a minute, with a count', async (t) => {
  let code: ErrorCode = 'DISK_FULL'
  const { app, fail, lines } = await startFailing(t, () => new DomainError(code, `It failed: ${code}.`))
  const faults = codes.filter(isFault)
  t.ok(faults.includes('DATABASE_BUSY') && faults.includes('OVERLOADED') && faults.includes('STORAGE_UNAVAILABLE'))
  for (code of faults) {
    const first = await fail()
    await fail()
    t.match(lines.at(-1), {
      level: WARN,
      code,
      requestId: first.json().error.requestId,
      method: 'GET',
      path: '/fail',
      msg: `It failed: ${code}.`
    })
    await fail()
  }
  t.equal(lines.length, faults.length)
  await app.close()
  t.strictSame(
    lines.slice(faults.length).map((line) => [line.code, line.suppressed]),
    faults.map((code) => [code, 2])
  )
})

t.test('the log has the cause that SQLite gives', async (t) => {
  const cause = 'SQLITE_IOERR_FSYNC: disk I/O error'
  const { fail, lines } = await startFailing(t, () =>
    Object.assign(new DomainError('STORAGE_UNAVAILABLE', 'The disk failed.'), { cause })
  )
  const response = await fail()
  t.equal(response.statusCode, 503)
  t.notMatch(response.body, 'SQLITE')
  t.match(lines, [{ code: 'STORAGE_UNAVAILABLE', cause }])
})

t.test('a failure that the client caused is not logged', async (t) => {
  let code: ErrorCode = 'VALIDATION_FAILED'
  const { app, fail, lines } = await startFailing(t, () => new DomainError(code, 'No.'))
  for (code of codes.filter((code) => statusOf[errorCatalogue[code].kind] < 500)) await fail()
  await app.close()
  t.strictSame(lines, [])
})

t.test('the end of work for a client that has disconnected is not an overload', async (t) => {
  const { app, lines } = await startFailing(t, () => undefined)
  app.get('/gone', async ({ raw }) => {
    Object.defineProperty(raw.socket, 'destroyed', { value: true })
    throw disconnected()
  })
  t.equal((await app.inject('/gone')).statusCode, 503)
  t.strictSame(lines, [])
})

t.test('a 500 is logged with its cause, and the same cause once a minute', async (t) => {
  let message = 'first'
  const { app, fail, lines } = await startFailing(t, () => new TypeError(message))
  const response = await fail()
  t.equal(response.statusCode, 500)
  await fail()
  message = 'second'
  await fail()
  const line = { level: ERROR, code: 'INTERNAL_ERROR', msg: 'A request failed.', path: '/fail' }
  t.match(lines, [
    { ...line, requestId: response.json().error.requestId, err: { type: 'TypeError', message: 'first', stack: /at / } },
    { ...line, err: { message: 'second' } }
  ])
  await app.close()
  t.match(lines.slice(2), [{ ...line, suppressed: 1, err: { message: 'first' } }])
})

t.test('a stream that fails after its headers were sent is logged', async (t) => {
  const { app, lines } = await startFailing(t, () => undefined)
  app.get('/stream', async (_request, reply) => {
    const chunks = async function* () {
      yield 'first'
      throw new DomainError('DISK_FULL', 'The disk is full.')
    }
    return reply.send(Readable.from(chunks()))
  })
  await t.rejects(app.inject('/stream'))
  t.match(lines, [{ level: WARN, code: 'DISK_FULL', path: '/stream' }])
})

t.test('a lock of another program is in the log of the service', async (t) => {
  const { lines, logger } = collectLines('warn')
  const app = await startApp(t, { logger })
  const admin = await asAdmin(app)
  const { id } = await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  const other = new BetterSqlite3(`${app.config.DATA_DIR}/rowhouse.db`)
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const create = () => admin.post(`/admin/tables/${id}/data`, {})
  const responses = await Promise.all([create(), create(), create()])
  t.strictSame(
    responses.map(({ statusCode }) => statusCode),
    [503, 503, 503]
  )
  t.match(lines, [{ level: WARN, code: 'DATABASE_BUSY', cause: /^SQLITE_BUSY: / }])
  other.exec('ROLLBACK')
  await app.close()
  t.match(lines.slice(1), [{ code: 'DATABASE_BUSY', suppressed: 2 }])
})
