import { METHODS } from 'node:http'
import type { RouteOptions } from 'fastify'
import t, { type Test } from 'tap'
import { type App, createFingerprint, routesOf, startApp, type TestResponse } from '../helpers.ts'
import { type Caller, createCallers } from './access-callers.ts'
import {
  type Asked,
  type Call,
  isOperation,
  operationOf,
  operations,
  type Refusal,
  refusalFor,
  type TableState
} from './access-rules.ts'
import { createWorkshop, FIRST_PASSWORD } from './access-workshop.ts'

const startService = async (t: Test, isChangeRequired: boolean) => {
  const env = { ADMIN_PASSWORD: FIRST_PASSWORD, REQUIRE_PASSWORD_CHANGE: String(isChangeRequired) }
  const app = await startApp(t, { env })
  const workshop = await createWorkshop(app)
  const callers = await createCallers(workshop)
  const fingerprint = createFingerprint(t, `${app.config.DATA_DIR}/rowhouse.db`)
  return { app, fingerprint, workshop, callers, isChangeRequired }
}

type Service = Awaited<ReturnType<typeof startService>>

/** Each method of each route. */
const callsOf = (app: App): Call[] => {
  const toCalls = ({ method, url }: RouteOptions) =>
    [method].flat().map((one) => ({ method: one as Call['method'], pattern: url }))
  return routesOf(app).flatMap(toCalls)
}

const send = ({ app }: Service, { method }: Call, { url, payload }: Asked, caller: Pick<Caller, 'headers'>) =>
  app.inject({ method, url, headers: caller.headers, ...(payload && { payload }) })

const refusalOf = (service: Service, call: Call, caller: Caller, state: TableState) =>
  refusalFor(operationOf(call).needs, caller, { state, isChangeRequired: service.isChangeRequired })

/** The answer to HEAD has no body to say why. */
const codeOf = ({ method }: Call, answer: TestResponse) => (method === 'HEAD' ? undefined : answer.json().error?.code)

const expectedCode = ({ method }: Call, { code }: Refusal) => (method === 'HEAD' ? undefined : code)

/** A request is in vain, and leaves everything stored as it is, under each credential that does not allow it. */
const checkRefused = async (t: Test, service: Service, call: Call, asked: Asked, state: TableState) => {
  const before = service.fingerprint()
  const expected: Record<string, object> = {}
  const found: Record<string, object> = {}
  for (const caller of service.callers) {
    const refusal = refusalOf(service, call, caller, state)
    if (!refusal) continue
    expected[caller.says] = { status: refusal.status, code: expectedCode(call, refusal), isUnchanged: true }
    const answer = await send(service, call, asked, caller)
    const isUnchanged = service.fingerprint() === before
    found[caller.says] = { status: answer.statusCode, code: codeOf(call, answer), isUnchanged }
  }
  t.strictSame(found, expected, 'is refused to whoever may not, and nothing has changed')
}

const allowedCallers = (service: Service, call: Call, state: TableState) =>
  service.callers.filter((caller) => !refusalOf(service, call, caller, state))

const succeeds = async (t: Test, service: Service, call: Call, asked: Asked, caller: Caller) => {
  const { needs, success = 200 } = operationOf(call)
  // These calls end or change the session that they are sent in.
  const fresh = needs === 'session' ? await caller.another?.() : undefined
  const answer = await send(service, call, asked, fresh ?? caller)
  t.equal(answer.statusCode, success, caller.says)
}

/** What was refused succeeds for whoever may send it, and so do others like it. */
const checkAllowed = async (t: Test, service: Service, call: Call, refused: Asked, state: TableState) => {
  const { ask } = operationOf(call)
  for (const [index, caller] of allowedCallers(service, call, state).entries())
    await succeeds(t, service, call, index === 0 ? refused : await ask(service.workshop, state), caller)
}

/** What the state of its table made impossible succeeds once that is another. */
const checkOpened = async (t: Test, service: Service, call: Call, refused: Asked, state: TableState) => {
  const [caller] = allowedCallers(service, call, 'open')
  if (!caller) return t.fail('nobody may')
  const close = await service.workshop.openUp(state)
  await succeeds(t, service, call, refused, caller)
  await close()
}

const checkCall = async (t: Test, service: Service, call: Call, state: TableState) => {
  const asked = await operationOf(call).ask(service.workshop, state)
  await checkRefused(t, service, call, asked, state)
  const check = allowedCallers(service, call, state).length > 0 ? checkAllowed : checkOpened
  await t.test('succeeds where it is allowed', (t) => check(t, service, call, asked, state))
}

/** How tokens may see a table makes no difference where the request names none that is there; HEAD is as its GET. */
const statesFor = ({ method, pattern }: Call): readonly TableState[] =>
  method !== 'HEAD' && /\/(?:tables\/:id|:table)/.test(pattern) ? ['open', 'frozen', 'private'] : ['open']

const service = await startService(t, true)
const calls = callsOf(service.app)

for (const call of calls.filter(isOperation)) {
  for (const state of statesFor(call))
    t.test(`${call.method} ${call.pattern}, table ${state}`, (t) => checkCall(t, service, call, state))
}

t.test('every rule is about a route', async (t) => {
  const known = new Set(calls.map(({ method, pattern }) => `${method} ${pattern}`))
  // Fastify says nothing of the path of a prefix without its slash; it is there, as the tests above show.
  t.strictSame(
    Object.keys(operations).filter((key) => !known.has(key)),
    ['GET /docs']
  )
})

t.test('every route has a rule', async (t) => {
  t.strictSame(
    calls.filter((call) => !isOperation(call)),
    []
  )
})

t.test('an unknown query parameter is refused, where all else is right', async (t) => {
  // The page of documents is a library's, and its files are no operations of ours.
  for (const call of calls.filter((call) => isOperation(call) && !call.pattern.startsWith('/docs'))) {
    const [caller] = allowedCallers(service, call, 'open')
    const asked = await operationOf(call).ask(service.workshop, 'open')
    const url = `${asked.url}${asked.url.includes('?') ? '&' : '?'}nonsense=1`
    const answer = await send(service, call, { ...asked, url }, caller as Caller)
    t.equal(answer.statusCode, 400, `${call.method} ${call.pattern}`)
    if (call.method !== 'HEAD') t.match(answer.json().error.details, [{ path: '/nonsense' }], call.pattern)
  }
})

/** Whether a route with parameters takes the call, as `DELETE /admin/tables/:id` takes that of `/admin/tables/import`. */
const isAnothers = ({ method, pattern }: Call) =>
  calls.some(
    (call) => call.method === method && new RegExp(`^${call.pattern.replace(/:\w+/g, '[^/]+')}$`).test(pattern)
  )

t.test('what has no rule is no operation, and does nothing for anybody', async (t) => {
  const mighty = service.callers.filter(({ session, token }) => session || token?.actions.includes('write'))
  const headers = Object.assign({}, ...mighty.map((caller) => caller.headers))
  t.strictSame(Object.keys(headers).sort(), ['authorization', 'cookie'])
  const before = service.fingerprint()
  const patterns = [...new Set(calls.map(({ pattern }) => pattern))]
  const methods = METHODS.filter((method) => method !== 'CONNECT') as Call['method'][]
  const imaginable = patterns.flatMap((pattern) => methods.map((method) => ({ method, pattern })))
  const others = imaginable.filter((call) => !isOperation(call) && !isAnothers(call))
  t.ok(others.length > 100)
  for (const call of others) {
    const answer = await send(service, call, { url: call.pattern.replace(/:\w+/g, '1') }, { headers })
    if (answer.statusCode !== 405) t.fail(`Nobody has said who may ${call.method} ${call.pattern}.`)
  }
  t.equal(service.fingerprint(), before, 'nothing has changed')
})

t.test('where no password has to be changed, one that another has set opens everything', async (t) => {
  const service = await startService(t, false)
  const callers = service.callers.filter(({ session }) => session?.mustChange)
  for (const call of calls.filter(isOperation)) {
    const asked = await operationOf(call).ask(service.workshop, 'open')
    await checkAllowed(t, { ...service, callers }, call, asked, 'open')
  }
})
