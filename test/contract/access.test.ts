import { METHODS } from 'node:http'
import type { RouteOptions } from 'fastify'
import t, { type Test } from 'tap'
import { type App, createFingerprint, routesOf, startApp, type TestResponse } from '../helpers.ts'
import { createCallers, type TestCaller } from './access-callers.ts'
import { type ExampleRequest, exampleRequests } from './access-requests.ts'
import {
  accessRules,
  type Endpoint,
  hasRule,
  type Refusal,
  refusalFor,
  ruleKeyOf,
  type TableState
} from './access-rules.ts'
import { createSetup, FIRST_PASSWORD, METRICS_TOKEN } from './access-setup.ts'

// Each endpoint × each credential × each state of the table. First, every caller without access is refused, and nothing
// changes. Then the same request succeeds for a caller with access.

const startService = async (t: Test, isChangeRequired: boolean) => {
  const env = { ADMIN_PASSWORD: FIRST_PASSWORD, METRICS_TOKEN, REQUIRE_PASSWORD_CHANGE: String(isChangeRequired) }
  const app = await startApp(t, { env })
  const setup = await createSetup(app)
  const callers = await createCallers(setup)
  const fingerprint = createFingerprint(t, `${app.config.DATA_DIR}/rowhouse.db`)
  return { app, fingerprint, setup, callers, isChangeRequired }
}

type Service = Awaited<ReturnType<typeof startService>>

const endpointsOf = (app: App): Endpoint[] => {
  const toEndpoints = ({ method, url }: RouteOptions) =>
    [method].flat().map((one) => ({ method: one as Endpoint['method'], pattern: url }))
  return routesOf(app).flatMap(toEndpoints)
}

/** One endpoint and one kind of table, with every caller. */
interface Case {
  readonly service: Service
  readonly endpoint: Endpoint
  readonly state: TableState
}

const accessOf = ({ endpoint }: Case) => accessRules[ruleKeyOf(endpoint)]

const createRequest = async ({ service, endpoint, state }: Case) =>
  exampleRequests[ruleKeyOf(endpoint)](service.setup, state)

const send = (
  { service, endpoint }: Case,
  { url, payload, type }: ExampleRequest,
  { headers }: Pick<TestCaller, 'headers'>
) =>
  service.app.inject({
    method: endpoint.method,
    url,
    headers: { ...headers, ...(type && { 'content-type': type }) },
    ...(payload && { payload })
  })

const refusalOf = (one: Case, caller: TestCaller) =>
  refusalFor(accessOf(one), caller, { state: one.state, isChangeRequired: one.service.isChangeRequired })

/** The response to HEAD has no body, hence no code. */
const codeOf = ({ endpoint }: Case, response: TestResponse) =>
  endpoint.method === 'HEAD' ? undefined : response.json().error?.code

const expectedCode = ({ endpoint }: Case, { code }: Refusal) => (endpoint.method === 'HEAD' ? undefined : code)

const expectRefused = async (t: Test, one: Case, request: ExampleRequest) => {
  const { callers, fingerprint } = one.service
  // The audit row of an earlier export may be in flight.
  await one.service.app.database.write([])
  const before = fingerprint()
  const expected: Record<string, object> = {}
  const found: Record<string, object> = {}
  for (const caller of callers) {
    const refusal = refusalOf(one, caller)
    if (!refusal) continue
    expected[caller.name] = { status: refusal.status, code: expectedCode(one, refusal), isUnchanged: true }
    const response = await send(one, request, caller)
    const isUnchanged = fingerprint() === before
    found[caller.name] = { status: response.statusCode, code: codeOf(one, response), isUnchanged }
  }
  t.strictSame(found, expected, 'every caller without access is refused, and nothing has changed')
}

const allowedCallers = (one: Case) => one.service.callers.filter((caller) => !refusalOf(one, caller))

const expectSuccess = async (t: Test, one: Case, request: ExampleRequest, caller: TestCaller) => {
  // These requests end or change the session that they are sent in.
  const ownSession = accessOf(one) === 'session' ? await caller.newSession?.() : undefined
  const response = await send(one, request, ownSession ?? caller)
  t.equal(response.statusCode, request.success ?? 200, caller.name)
}

/** The first allowed caller sends the refused request. The others send new ones, since each succeeds only once. */
const expectAllowedCallersSucceed = async (t: Test, one: Case, refused: ExampleRequest) => {
  for (const [index, caller] of allowedCallers(one).entries())
    await expectSuccess(t, one, index === 0 ? refused : await createRequest(one), caller)
}

/** Where the state of the table excludes every caller, the refused request succeeds once the table is editable. */
const expectSuccessOnceEditable = async (t: Test, one: Case, refused: ExampleRequest) => {
  const [caller] = allowedCallers({ ...one, state: 'editable' })
  if (!caller) return t.fail('no caller has access')
  const restore = await one.service.setup.makeEditable(one.state)
  await expectSuccess(t, one, refused, caller)
  await restore()
}

const checkCase = async (t: Test, one: Case) => {
  const request = await createRequest(one)
  await expectRefused(t, one, request)
  const check = allowedCallers(one).length > 0 ? expectAllowedCallersSucceed : expectSuccessOnceEditable
  await t.test('and succeeds for every caller with access', (t) => check(t, one, request))
}

/** The state matters only where the request names an existing table. HEAD behaves as GET. */
const statesFor = ({ method, pattern }: Endpoint): readonly TableState[] =>
  method !== 'HEAD' && /\/(?:tables\/:id|:table)/.test(pattern)
    ? ['editable', 'read-only', 'unpublished']
    : ['editable']

const service = await startService(t, true)
const endpoints = endpointsOf(service.app)

for (const endpoint of endpoints.filter(hasRule)) {
  for (const state of statesFor(endpoint))
    t.test(`${endpoint.method} ${endpoint.pattern} (${state} table) is refused to every caller without access`, (t) =>
      checkCase(t, { service, endpoint, state })
    )
}

t.test('every rule belongs to a route', async (t) => {
  const registered = new Set(endpoints.map(({ method, pattern }) => `${method} ${pattern}`))
  // Fastify's onRoute hook does not report the path of a prefix without its slash. The tests above request it.
  t.strictSame(
    Object.keys(accessRules).filter((key) => !registered.has(key)),
    ['GET /docs']
  )
})

t.test('every route has a rule', async (t) => {
  t.strictSame(
    endpoints.filter((endpoint) => !hasRule(endpoint)),
    []
  )
})

t.test('an unknown query parameter is refused in an otherwise correct request', async (t) => {
  // Pages are excluded: /, the console and the documentation.
  const isPage = ({ pattern }: Endpoint) => /^\/(?:$|console|docs)/.test(pattern)
  for (const endpoint of endpoints.filter((candidate) => hasRule(candidate) && !isPage(candidate))) {
    const one: Case = { service, endpoint, state: 'editable' }
    const [caller] = allowedCallers(one)
    const request = await createRequest(one)
    const url = `${request.url}${request.url.includes('?') ? '&' : '?'}nonsense=1`
    const response = await send(one, { ...request, url }, caller as TestCaller)
    t.equal(response.statusCode, 400, `${endpoint.method} ${endpoint.pattern}`)
    if (endpoint.method !== 'HEAD') t.match(response.json().error.details, [{ path: '/nonsense' }], endpoint.pattern)
  }
})

/** Returns whether a route with parameters matches: `DELETE /admin/tables/:id` takes `DELETE /admin/tables/import`. */
const matchesOtherRoute = ({ method, pattern }: Endpoint) =>
  endpoints.some(
    (one) => one.method === method && new RegExp(`^${one.pattern.replace(/:\w+/g, '[^/]+')}$`).test(pattern)
  )

t.test('a method without a rule responds 405 and has no effect, even with every credential at once', async (t) => {
  const powerful = service.callers.filter(({ session, token }) => session || token?.actions.includes('write'))
  const headers = Object.assign({}, ...powerful.map((caller) => caller.headers))
  t.strictSame(Object.keys(headers).sort(), ['authorization', 'cookie'])
  const before = service.fingerprint()
  const patterns = [...new Set(endpoints.map(({ pattern }) => pattern))]
  const methods = METHODS.filter((method) => method !== 'CONNECT') as Endpoint['method'][]
  const combinations = patterns.flatMap((pattern) => methods.map((method) => ({ method, pattern })))
  const withoutRule = combinations.filter((endpoint) => !hasRule(endpoint) && !matchesOtherRoute(endpoint))
  t.ok(withoutRule.length > 100)
  for (const endpoint of withoutRule) {
    const response = await send(
      { service, endpoint, state: 'editable' },
      { url: endpoint.pattern.replace(/:\w+/g, '1') },
      { headers }
    )
    if (response.statusCode !== 405)
      t.fail(`${endpoint.method} ${endpoint.pattern} responds ${response.statusCode}, but access-rules.ts has no rule.`)
  }
  t.equal(service.fingerprint(), before, 'nothing has changed')
})

t.test(
  'without REQUIRE_PASSWORD_CHANGE, a password that another administrator has set gives full access',
  async (t) => {
    const service = await startService(t, false)
    const callers = service.callers.filter(({ session }) => session?.mustChangePassword)
    for (const endpoint of endpoints.filter(hasRule)) {
      const one: Case = { service: { ...service, callers }, endpoint, state: 'editable' }
      await expectAllowedCallersSucceed(t, one, await createRequest(one))
    }
  }
)
