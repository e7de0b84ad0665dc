import t from 'tap'
import { asAdmin, asToken, client, createFingerprint, createTable, dataOf, expectError, startApp } from '../helpers.ts'

// Vulnerabilities published for the framework, by the identifier of their advisory.

const app = await startApp(t)
const fingerprint = createFingerprint(t, `${app.config.DATA_DIR}/rowhouse.db`)
const admin = await asAdmin(app)
const { id } = await createTable(admin, { name: 'cats', fields: [{ name: 'lives', jsonType: 'integer' }] })
dataOf(await admin.post(`/admin/tables/${id}/data`, { lives: 9 }))
const token = await asToken(app, admin)

const post = (type: string, payload: string) =>
  app.inject({
    method: 'POST',
    url: '/data/cats/records',
    headers: { ...token.headers, 'content-type': type },
    payload
  })

/** Tests that an invalid body is refused under each of these content types. */
const testValidation = (advisory: string, types: readonly string[]) =>
  t.test(advisory, async (t) => {
    const before = fingerprint()
    for (const type of types) {
      const { statusCode } = await post(type, '{"lives":"nine","admin":true}')
      t.ok([400, 415].includes(statusCode), `${JSON.stringify(type)}: ${statusCode}`)
    }
    t.equal(fingerprint(), before)
    t.equal((await post('application/json', '{"lives":9}')).statusCode, 200)
  })

testValidation('fastify CVE-2025-32442: another case of the content type skips no validation', [
  'application/JSON',
  'Application/Json',
  'application/json ; charset=utf-8',
  'application/json;',
  'APPLICATION/JSON; charset=UTF-8'
])

testValidation('fastify CVE-2026-25223: a tab in the content type skips no validation', [
  'application/json\ta',
  'application/json\t',
  '\tapplication/json',
  'application/json\t; charset=utf-8'
])

testValidation('fastify CVE-2026-33806: a leading space in the content type skips no validation', [
  ' application/json',
  '  application/json; a=b'
])

testValidation('fastify GHSA-w2qp-rph6-63g4: a content type that resembles JSON skips no validation', [
  'application/jsonp',
  'application/json,text/plain',
  'text/json',
  'application/x-json',
  'application/problem+json',
  'multipart/form-data; boundary=application/json'
])

t.test('fastify CVE-2026-3419: a content type followed by other text is not JSON', async (t) => {
  for (const type of ['application/json garbage', 'application/json/x', 'application/json x; charset=utf-8'])
    expectError(t, await post(type, '{"lives":9}'), 415, 'UNSUPPORTED_MEDIA_TYPE')
})

const AREAS = ['/admin/tables', '/admin/admins', '/admin/tokens', '/auth/me', '/data/cats', '/data/_me']

/** Returns variants of a path that a check by path might not match. */
const variantsOf = (url: string) => [
  url.replace(/^\/(.)/, (_, letter) => `/%${letter.charCodeAt(0).toString(16)}`),
  `/${url}`,
  `${url}/`,
  `${url};x=1`,
  `${url}%2f`,
  `${url}/.`,
  `/./${url.slice(1)}`,
  `/x/..${url}`,
  url.toUpperCase(),
  `${url}%00`,
  `http://localhost${url}`
]

t.test('middie CVE-2026-2880: no variant of a path avoids the credential check', async (t) => {
  const anonymous = client(app)
  for (const url of AREAS.flatMap(variantsOf)) {
    const { statusCode, body } = await anonymous.get(url)
    t.ok([400, 401, 404, 405].includes(statusCode), `${url}: ${statusCode}`)
    t.notMatch(body, /"success":true/)
  }
})

t.test('middie CVE-2026-14198: an encoded slash in a parameter does not avoid the credential check', async (t) => {
  const anonymous = client(app)
  for (const url of ['/data/ca%2Fts', '/data/cats/records/1%2F2', '/data/%2Fcats/schema', '/data/cats%2Frecords%2F1'])
    expectError(t, await anonymous.get(url), 401, 'INVALID_TOKEN')
  for (const url of [`/admin/tables/${id}%2Fx`, `/admin/tables/${id}/data/1%2F2`, '/admin/tables/%2F1/data'])
    expectError(t, await anonymous.get(url), 401, 'AUTHENTICATION_REQUIRED')
})
