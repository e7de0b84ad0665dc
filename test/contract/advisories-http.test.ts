import t from 'tap'
import { asAdmin, asToken, client, createFingerprint, createTable, dataOf, expectError, startApp } from '../helpers.ts'

// What has gone wrong in the framework below us, under the identifiers of its advisories.

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

/** The schema holds: no spelling of the type gets a body past it. */
const neverSkipsValidation = (advisory: string, types: readonly string[]) =>
  t.test(advisory, async (t) => {
    const before = fingerprint()
    for (const type of types) {
      const { statusCode } = await post(type, '{"lives":"nine","admin":true}')
      t.ok([400, 415].includes(statusCode), `${JSON.stringify(type)}: ${statusCode}`)
    }
    t.equal(fingerprint(), before)
    t.equal((await post('application/json', '{"lives":9}')).statusCode, 200)
  })

neverSkipsValidation('fastify CVE-2025-32442: another case of the content type skips no validation', [
  'application/JSON',
  'Application/Json',
  'application/json ; charset=utf-8',
  'application/json;',
  'APPLICATION/JSON; charset=UTF-8'
])

neverSkipsValidation('fastify CVE-2026-25223: nor does a tab', [
  'application/json\ta',
  'application/json\t',
  '\tapplication/json',
  'application/json\t; charset=utf-8'
])

neverSkipsValidation('fastify CVE-2026-33806: nor does a leading space', [
  ' application/json',
  '  application/json; a=b'
])

neverSkipsValidation('fastify GHSA-w2qp-rph6-63g4: nor does a type that only resembles ours', [
  'application/jsonp',
  'application/json,text/plain',
  'text/json',
  'application/x-json',
  'application/problem+json',
  'multipart/form-data; boundary=application/json'
])

t.test('fastify CVE-2026-3419: what follows the content type makes it another one', async (t) => {
  for (const type of ['application/json garbage', 'application/json/x', 'application/json x; charset=utf-8'])
    expectError(t, await post(type, '{"lives":9}'), 415, 'UNSUPPORTED_MEDIA_TYPE')
})

/** Every area, asked for in a spelling that a guard by path might not know. */
const AREAS = ['/admin/tables', '/admin/admins', '/admin/tokens', '/auth/me', '/data/cats', '/data/_me']

const respelled = (url: string) => [
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

t.test('middie CVE-2026-2880: no spelling of a path gets past the credential', async (t) => {
  const nobody = client(app)
  for (const url of AREAS.flatMap(respelled)) {
    const { statusCode, body } = await nobody.get(url)
    t.ok([400, 401, 404, 405].includes(statusCode), `${url}: ${statusCode}`)
    t.notMatch(body, /"success":true/)
  }
})

t.test('middie CVE-2026-14198: nor does an encoded slash in a parameter', async (t) => {
  const nobody = client(app)
  for (const url of ['/data/ca%2Fts', '/data/cats/records/1%2F2', '/data/%2Fcats/schema', '/data/cats%2Frecords%2F1'])
    expectError(t, await nobody.get(url), 401, 'INVALID_TOKEN')
  for (const url of [`/admin/tables/${id}%2Fx`, `/admin/tables/${id}/data/1%2F2`, '/admin/tables/%2F1/data'])
    expectError(t, await nobody.get(url), 401, 'AUTHENTICATION_REQUIRED')
})
