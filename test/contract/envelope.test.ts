import type { RouteOptions } from 'fastify'
import t, { type Test } from 'tap'
import { errorCatalogue, statusOf } from '../../schemas/error.ts'
import {
  asAdmin,
  asToken,
  type Client,
  client,
  createTable,
  expectError,
  isFailure,
  routesOf,
  startApp,
  type TestResponse
} from '../helpers.ts'

const BODY_LIMIT = 4096
const SECRET = 'SELECT password FROM /home/user/secrets'

let isBroken = false
/** Every guarded route reads the time, so a clock that throws causes an internal error in each of them. */
const clock = () => {
  if (isBroken) throw new Error(SECRET)
  return Date.now()
}

const app = await startApp(t, { env: { BODY_LIMIT: String(BODY_LIMIT), BATCH_LIMIT: String(BODY_LIMIT) }, clock })
const admin = await asAdmin(app)
const table = await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
await admin.post(`/admin/tables/${table.id}/data`, { name: 'Tom' })
const token = await asToken(app, admin)
const anonymous = client(app)

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface Route {
  readonly method: Method
  /** The registered path, with its parameters. */
  readonly pattern: string
  readonly url: string
  readonly takesBody: boolean
  /** The body is a file, and no JSON. */
  readonly takesFile: boolean
  /** A client with a credential that the route accepts. */
  readonly caller: Client
}

const callerOf = (pattern: string) => {
  if (pattern.startsWith('/data')) return token
  return /^\/(?:admin|auth)/.test(pattern) && pattern !== '/auth/login' ? admin : anonymous
}

const fillParameters = (pattern: string) =>
  pattern.replace(':id', String(table.id)).replace(':pk', '1').replace(':table', 'cats')

const toRoute = ({ url, method, schema }: RouteOptions): Route => ({
  method: String(method) as Method,
  pattern: url,
  url: fillParameters(url),
  takesBody: schema?.body !== undefined,
  takesFile: Reflect.has(schema?.body ?? {}, 'content'),
  caller: callerOf(url)
})

const isDocumented = ({ schema, method }: RouteOptions) =>
  schema !== undefined && Reflect.has(schema, 'operationId') && method !== 'HEAD'

const routes = routesOf(app).filter(isDocumented).map(toRoute)
const guarded = routes.filter(({ caller }) => caller !== anonymous)

const send = ({ method, url }: Route, { headers }: Client, payload?: string | object, type = 'application/json') =>
  app.inject({
    method,
    url,
    headers: { ...headers, ...(payload !== undefined && { 'content-type': type }) },
    ...(payload !== undefined && { payload })
  })

/** Runs a check for each of the routes. */
const forEachRoute = (t: Test, some: readonly Route[], check: (route: Route) => Promise<void>) => {
  t.ok(some.length > 0)
  return Promise.all(some.map(check))
}

t.test('the service has every operation of the specification', async (t) => {
  const operations = routes.map(({ method, pattern }) => `${method} ${pattern}`)
  const area = (prefix: string) => operations.filter((operation) => operation.includes(` ${prefix}`)).length
  t.equal(area('/auth'), 6, 'four of the specification, two for the own sessions')
  t.equal(
    area('/admin/tables'),
    26,
    'thirteen of the specification, PATCH of a record, its referrers, three for fields, importable, indexes, query, aggregate, import, from-file'
  )
  t.equal(
    area('/admin/tokens'),
    9,
    'four of the specification, the read of one, rotate, its uses, its explanation and its view'
  )
  t.equal(area('/admin/admins'), 5, 'four of the specification, and the read of one')
  t.equal(area('/data'), 19, 'sixteen operations on tables, _batch, _me and _openapi.json')
})

t.test('without a credential, every guarded route responds 401', (t) =>
  forEachRoute(t, guarded, async (route) => {
    const response = await send(route, anonymous)
    expectError(t, response, 401, route.caller === token ? 'INVALID_TOKEN' : 'AUTHENTICATION_REQUIRED')
    t.equal(response.headers['www-authenticate'], route.caller === token ? 'Bearer' : undefined)
  })
)

t.test('with a credential of the wrong kind, every guarded route responds 401', (t) =>
  forEachRoute(t, guarded, async (route) => {
    const other = route.caller === token ? admin : token
    expectError(t, await send(route, other), 401, route.caller === token ? 'INVALID_TOKEN' : 'AUTHENTICATION_REQUIRED')
  })
)

t.test('the credential is checked before anything else in the request', (t) =>
  forEachRoute(t, guarded, async (route) => {
    for (const payload of ['{', 'x'.repeat(BODY_LIMIT + 1)])
      t.equal((await send(route, anonymous, payload)).statusCode, 401, route.url)
    t.equal((await send({ ...route, url: `${route.url}?nonsense=1` }, anonymous)).statusCode, 401, route.url)
  })
)

t.test('an unsupported method responds 405 and lists the supported ones', async (t) => {
  const patterns = new Set(routes.map(({ pattern }) => pattern))
  for (const pattern of patterns) {
    const methods = routes.filter((route) => route.pattern === pattern).map(({ method }) => method)
    const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort()
    const unsupported = ['PATCH', 'OPTIONS', 'TRACE'].filter((method) => !allowed.includes(method as Method))
    for (const method of unsupported) {
      const response = await app.inject({ method: method as 'PATCH', url: fillParameters(pattern) })
      expectError(t, response, 405, 'METHOD_NOT_ALLOWED')
      t.strictSame(String(response.headers.allow).split(', ').sort(), allowed, pattern)
    }
  }
})

t.test('an unknown route responds 404', async (t) => {
  for (const url of [
    '/admin',
    '/data',
    '/nothing',
    '/admin/nothing',
    '/auth/login/',
    '//auth/me',
    '/Auth/me',
    '/auth/me/x',
    '/data/a/b/c/d'
  ]) {
    for (const caller of [anonymous, admin, token]) expectError(t, await caller.get(url), 404, 'ROUTE_NOT_FOUND')
  }
})

t.test('a path that is not percent-encoded UTF-8 responds 400', async (t) => {
  for (const url of ['/data/%zz', '/data/%', '/data/%ff', '/data/%c3%28', '/%'])
    expectError(t, await token.get(url), 400, 'MALFORMED_REQUEST')
})

t.test('a repeated query parameter responds 400', (t) =>
  forEachRoute(t, routes, async (route) => {
    expectError(t, await send({ ...route, url: `${route.url}?a=1&a=2` }, route.caller), 400, 'VALIDATION_FAILED')
  })
)

t.test('an invalid id responds 400', (t) =>
  forEachRoute(
    t,
    routes.filter(({ pattern }) => pattern.includes(':id')),
    async (route) => {
      const url = route.pattern.replace(':id', '01').replace(':pk', '1')
      expectError(t, await send({ ...route, url }, admin), 400, 'VALIDATION_FAILED')
    }
  )
)

t.test('a route with a body refuses', async (t) => {
  const writing = routes.filter(({ takesBody, takesFile }) => takesBody && !takesFile)
  t.test('malformed JSON', (t) =>
    forEachRoute(t, writing, async (route) => {
      for (const payload of [
        '{',
        '{"a":',
        '{a:1}',
        "{'a':1}",
        '[1,]',
        'undefined',
        'NaN',
        '{"a":1}}',
        '\ufeff\ufeff{}'
      ])
        expectError(t, await send(route, route.caller, payload), 400, 'MALFORMED_JSON')
    })
  )
  t.test('JSON that is not an object', (t) =>
    forEachRoute(t, writing, async (route) => {
      for (const payload of ['[]', '"text"', '5', 'null', 'true'])
        expectError(t, await send(route, route.caller, payload), 400, 'VALIDATION_FAILED')
    })
  )
  t.test('JSON that is nested too deep', (t) =>
    forEachRoute(t, writing, async (route) => {
      const payload = `{"a":${'['.repeat(1000)}${']'.repeat(1000)}}`
      expectError(t, await send(route, route.caller, payload), 400, 'VALIDATION_FAILED')
    })
  )
  t.test('another content type', (t) =>
    forEachRoute(t, writing, async (route) => {
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'application/jsonp',
        'nonsense'
      ])
        expectError(t, await send(route, route.caller, '{"a":1}', type), 415, 'UNSUPPORTED_MEDIA_TYPE')
    })
  )
  t.test('a compressed body', (t) =>
    forEachRoute(t, writing, async ({ method, url, caller }) => {
      const headers = { ...caller.headers, 'content-type': 'application/json', 'content-encoding': 'gzip' }
      expectError(t, await app.inject({ method, url, headers, payload: '{"a":1}' }), 415, 'UNSUPPORTED_MEDIA_TYPE')
    })
  )
  t.test('a missing body', (t) =>
    forEachRoute(t, writing, async (route) => {
      expectError(t, await send(route, route.caller), 400, 'VALIDATION_FAILED')
      expectError(t, await send(route, route.caller, ''), 400, 'VALIDATION_FAILED')
    })
  )
  t.test('an unknown key', (t) =>
    forEachRoute(t, writing, async (route) =>
      expectError(t, await send(route, route.caller, { nonsense: 1 }), 400, 'VALIDATION_FAILED')
    )
  )
})

t.test('a POST route without a body refuses a body', (t) =>
  forEachRoute(
    t,
    guarded.filter(({ takesBody, method }) => !takesBody && method === 'POST'),
    async (route) => {
      for (const payload of ['{"a":1}', '[1]', '5', '"x"']) {
        const response = await send(route, route.caller, payload)
        expectError(t, response, 400, 'BODY_NOT_ALLOWED')
      }
    }
  )
)

t.test('a body over the limit responds 413', (t) =>
  forEachRoute(
    t,
    routes.filter(({ method, takesFile }) => method !== 'GET' && !takesFile),
    async (route) => {
      const payload = JSON.stringify({ name: 'x'.repeat(BODY_LIMIT) })
      expectError(t, await send(route, route.caller, payload), 413, 'BODY_TOO_LARGE')
    }
  )
)

t.test('a key over the limit responds 414', (t) =>
  forEachRoute(
    t,
    routes.filter(({ pattern }) => pattern.includes(':pk')),
    async (route) => {
      const url = fillParameters(route.pattern.replace(':pk', 'x'.repeat(10_000)))
      const body = route.takesBody ? { name: 'x' } : undefined
      expectError(t, await send({ ...route, url }, route.caller, body), 414, 'PATH_TOO_LONG')
    }
  )
)

t.test('a missing table, record, token or administrator responds 404', async (t) => {
  expectError(t, await admin.get('/admin/tables/999'), 404, 'TABLE_NOT_FOUND')
  expectError(t, await admin.get(`/admin/tables/${table.id}/data/999`), 404, 'RECORD_NOT_FOUND')
  expectError(t, await admin.delete('/admin/tokens/999'), 404, 'TOKEN_NOT_FOUND')
  expectError(t, await admin.delete('/admin/admins/999'), 404, 'ADMIN_NOT_FOUND')
  expectError(t, await token.get('/data/nothing'), 404, 'TABLE_NOT_FOUND')
  expectError(t, await token.get('/data/cats/records/999'), 404, 'RECORD_NOT_FOUND')
})

t.test('a token without the action and a cross-site write respond 403', async (t) => {
  const powerless = await asToken(app, admin, { tables: ['*'], actions: [] })
  for (const route of routes.filter(({ pattern }) => pattern.startsWith('/data/:table'))) {
    expectError(t, await send(route, powerless), 403, 'ACTION_NOT_ALLOWED')
  }
  const crossSite = { ...admin.headers, 'sec-fetch-site': 'cross-site' }
  for (const route of routes.filter(({ method, pattern }) => method !== 'GET' && !pattern.startsWith('/data')))
    expectError(t, await send(route, client(app, crossSite)), 403, 'CROSS_SITE_REQUEST')
  t.equal((await client(app, crossSite).get('/admin/tables')).statusCode, 200, 'cross-site reads are allowed')
})

t.test('an internal error responds 500 without details', async (t) => {
  isBroken = true
  t.teardown(() => {
    isBroken = false
  })
  const responses: TestResponse[] = await Promise.all(guarded.map((route) => send(route, route.caller)))
  for (const response of responses) {
    expectError(t, response, 500, 'INTERNAL_ERROR')
    t.notMatch(response.body, /SELECT|home|secret|stack|\.[jt]s\b/)
  }
  t.equal(responses.length, guarded.length)
})

t.test('too many failed logins respond 429 with Retry-After', async (t) => {
  const attempt = () => anonymous.post('/auth/login', { name: 'unknown', password: 'wrong' })
  const first = await attempt()
  expectError(t, first, 401, 'INVALID_CREDENTIALS')
  for (let failures = 1; failures < 10; failures += 1) await attempt()
  const response = await attempt()
  expectError(t, response, 429, 'TOO_MANY_ATTEMPTS')
  t.match(response.headers['retry-after'], /^[1-9]\d*$/)
})

t.test('every code of the error catalogue has the status of its kind and a meaning', async (t) => {
  for (const [code, { kind, meaning }] of Object.entries(errorCatalogue)) {
    t.match(code, /^[A-Z]+(?:_[A-Z]+)*$/)
    t.ok(statusOf[kind] >= 400 && statusOf[kind] < 600)
    t.match(meaning, /\.$/)
  }
})

t.test('isFailure accepts only the exact error envelope', async (t) => {
  const error = { code: 'ROUTE_NOT_FOUND', message: 'No.', requestId: 'r' }
  t.ok(isFailure({ success: false, error }))
  t.notOk(isFailure({ success: false, error, statusCode: 404 }))
  t.notOk(isFailure({ success: false, error: { ...error, code: 'NO_SUCH_CODE' } }))
  t.notOk(isFailure({ success: true, error }))
})
