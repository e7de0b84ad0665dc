import t from 'tap'
import {
  asAdmin,
  asToken,
  client,
  createTable,
  dataOf,
  expectData,
  expectDone,
  expectError,
  startApp
} from '../helpers.ts'

const app = await startApp(t, { env: { CORS_ORIGIN: 'https://app.example.org' } })
const admin = await asAdmin(app)
const { id } = await createTable(admin, {
  name: 'cats',
  fields: [
    { name: 'name', jsonType: 'string' },
    { name: 'lives', jsonType: 'integer' }
  ]
})
const token = await asToken(app, admin)
dataOf(await token.post('/data/cats/records', { name: 'Tom', lives: 9 }))

for (const { kind, caller, url } of [
  { kind: 'token', caller: token, url: '/data/cats/records/1' },
  { kind: 'administrator', caller: admin, url: `/admin/tables/${id}/data/1` }
]) {
  t.test(`PATCH and PUT by the ${kind} change only the fields that are sent`, async (t) => {
    expectDone(t, await caller.patch(url, { lives: 8 }))
    expectData(t, await caller.get(url), { id: 1, name: 'Tom', lives: 8 })
    expectDone(t, await caller.put(url, { lives: 7 }))
    expectData(t, await caller.get(url), { id: 1, name: 'Tom', lives: 7 })
    expectData(t, await caller.patch(`${url}?return=record`, { name: 'Tim', id: 1 }), {
      success: true,
      record: { id: 1, name: 'Tim', lives: 7 }
    })
    expectDone(t, await caller.patch(url, { name: 'Tom' }))
  })

  t.test(`PATCH by the ${kind} refuses what PUT refuses`, async (t) => {
    const before = dataOf(await caller.get(url))
    for (const body of [{}, { lives: 'x' }, { id: 2 }, { unknown: 1 }]) {
      const put = await caller.put(url, body)
      const patched = await caller.patch(url, body)
      const { code, message, details } = put.json().error
      expectError(t, patched, 400, code)
      t.match(patched.json().error, { message, details })
    }
    expectError(t, await caller.patch(url.replace(/1$/, '99'), { lives: 1 }), 404, 'RECORD_NOT_FOUND')
    const headers = { ...caller.headers, 'content-type': 'application/merge-patch+json' }
    const merge = await app.inject({ method: 'PATCH', url, headers, payload: '{"lives":1}' })
    expectError(t, merge, 415, 'UNSUPPORTED_MEDIA_TYPE')
    const stale = client(app, { ...caller.headers, 'if-match': '"other"' })
    expectError(t, await stale.patch(url, { lives: 1 }), 412, 'PRECONDITION_FAILED')
    t.strictSame(dataOf(await caller.get(url)), before)
  })
}

t.test('a key of PATCH belongs to another request than the same key of PUT', async (t) => {
  const keyed = client(app, { ...token.headers, 'idempotency-key': 'one' })
  expectDone(t, await keyed.patch('/data/cats/records/1', { lives: 5 }))
  t.equal((await keyed.patch('/data/cats/records/1', { lives: 5 })).headers['idempotency-replayed'], 'true')
  expectError(t, await keyed.put('/data/cats/records/1', { lives: 5 }), 422, 'IDEMPOTENCY_KEY_REUSED')
})

t.test('a page of a listed origin may send PATCH', async (t) => {
  const headers = { origin: 'https://app.example.org', 'access-control-request-method': 'PATCH' }
  const preflight = await app.inject({ method: 'OPTIONS', url: '/data/cats/records/1', headers })
  t.equal(preflight.statusCode, 204)
  t.match(preflight.headers['access-control-allow-methods'], /\bPATCH\b/)
})

t.test('only records can be changed with PATCH', async (t) => {
  t.match((await token.post('/data/cats/records/1', {})).headers.allow, 'DELETE, GET, HEAD, PATCH, PUT')
  expectError(t, await admin.patch(`/admin/tables/${id}`, { label: 'x' }), 405, 'METHOD_NOT_ALLOWED')
})
