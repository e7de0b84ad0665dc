import { readFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { errorCatalogue, statusOf } from '../../../schemas/error.ts'
import { startApp } from '../../helpers.ts'

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly security: readonly object[]
  readonly parameters?: readonly { readonly in: string; readonly name: string }[]
  readonly responses: Readonly<Record<string, object>>
  readonly 'x-error-codes': readonly string[]
  readonly 'x-scope'?: string
}

const app = await startApp(t)
const response = await app.inject('/openapi.json')
const document = response.json()

const operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ call: `${method.toUpperCase()} ${path}`, path, operation }))
)

/** Returns every reference in a value. */
const referencesIn = (value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => (key === '$ref' ? [String(item)] : referencesIn(item)))
}

const follow = (reference: string) =>
  reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document)

t.test('GET /openapi.json returns an OpenAPI 3.1 document of this version', async (t) => {
  t.equal(response.statusCode, 200)
  t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  t.match(document, { openapi: '3.1.0', info: { title: 'Rowhouse' } })
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  t.match(document.info.version, /\+[0-9a-f]{8}$/)
  t.equal(document.info.version.split('+')[0], version)
  t.equal((await app.inject('/openapi.json')).body, response.body, 'the same each time')
})

t.test('the document contains every call of the specification', async (t) => {
  const specified = `
    POST /auth/login, GET /auth/me, PUT /auth/password, POST /auth/logout,
    GET /admin/tables, GET /admin/tables/{id}, POST /admin/tables/import, POST /admin/tables, PUT /admin/tables/{id},
    POST /admin/tables/{id}/refresh, DELETE /admin/tables/{id},
    GET /admin/tables/{id}/data, GET /admin/tables/{id}/export, GET /admin/tables/{id}/data/{pk},
    POST /admin/tables/{id}/data, PUT /admin/tables/{id}/data/{pk}, DELETE /admin/tables/{id}/data/{pk},
    GET /admin/tokens, POST /admin/tokens, PUT /admin/tokens/{id}, DELETE /admin/tokens/{id},
    GET /admin/admins, POST /admin/admins, PUT /admin/admins/{id}, DELETE /admin/admins/{id},
    GET /data/{table}, GET /data/{table}/schema, GET /data/{table}/records/{pk}, POST /data/{table}/records,
    PUT /data/{table}/records/{pk}, DELETE /data/{table}/records/{pk}, POST /data/{table}/incr,
    POST /data/_schema/tables, POST /data/_schema/tables/{table}/fields`
  const documented = new Set(operations.map(({ call }) => call))
  for (const call of specified.split(',').map((one) => one.trim())) t.ok(documented.has(call), call)
})

const WITHOUT_CREDENTIAL = ['logIn', 'checkLiveness', 'checkReadiness', 'readOpenapiDocument']

t.test('every operation has a unique name, a known tag, a summary, a success and a credential', async (t) => {
  const tags = new Set(document.tags.map(({ name }: { name: string }) => name))
  const schemes = Object.keys(document.components.securitySchemes)
  t.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length)
  for (const { call, operation } of operations) {
    t.match(operation.operationId, /^[a-z][A-Za-z]+$/, call)
    t.ok(operation.tags.length === 1 && tags.has(operation.tags[0]), `${call} has one tag of the list`)
    t.ok(operation.summary, `${call} has a summary`)
    t.ok(operation.responses[200], `${call} can succeed`)
    const credentials = operation.security.flatMap((one) => Object.keys(one))
    if (WITHOUT_CREDENTIAL.includes(operation.operationId)) t.strictSame(credentials, [], call)
    else {
      t.ok(
        credentials.length > 0 && credentials.every((name) => schemes.includes(name)),
        `${call} requires a credential`
      )
      t.strictSame(
        credentials.slice(1),
        operation['x-scope'] ? ['adminKey'] : [],
        `${call} names the scope of admin keys`
      )
    }
  }
})

t.test('the error codes of an operation follow from its method, body, parameters and credential', async (t) => {
  const codesOf = (id: string) =>
    operations.find(({ operation }) => operation.operationId === id)?.operation['x-error-codes']
  const general = [
    'BODY_NOT_ALLOWED',
    'INTERNAL_ERROR',
    'MALFORMED_REQUEST',
    'OVERLOADED',
    'TOO_MANY_PIPELINED',
    'VALIDATION_FAILED'
  ]
  t.strictSame(codesOf('checkLiveness'), general)
  t.strictSame(codesOf('readIdentity'), [...general, 'INVALID_TOKEN', 'KEYS_UNAVAILABLE', 'TOO_MANY_REQUESTS'].sort())
  const read = codesOf('adminReadTable') ?? []
  for (const code of ['AUTHENTICATION_REQUIRED', 'PASSWORD_CHANGE_REQUIRED', 'PATH_TOO_LONG'])
    t.ok(read.includes(code), code)
  for (const code of ['CROSS_SITE_REQUEST', 'MALFORMED_JSON', 'BODY_TOO_LARGE']) t.notOk(read.includes(code), code)
  const create = codesOf('adminCreateTable') ?? []
  for (const code of ['CROSS_SITE_REQUEST', 'MALFORMED_JSON', 'BODY_TOO_LARGE']) t.ok(create.includes(code), code)
  for (const code of ['BODY_NOT_ALLOWED', 'PATH_TOO_LONG']) t.notOk(create.includes(code), code)
})

t.test('every path parameter is described', async (t) => {
  for (const { call, path, operation } of operations) {
    const inPath = (operation.parameters ?? []).filter((one) => one.in === 'path').map(({ name }) => `{${name}}`)
    t.same(inPath.sort(), (path.match(/\{\w+\}/g) ?? []).sort(), call)
  }
})

t.test('every reference has a target and a readable name', async (t) => {
  const references = new Set(referencesIn(document))
  t.ok(references.has('#/components/schemas/Table'))
  for (const reference of references) {
    t.match(reference, /^#\/components\/(schemas|responses)\/[A-Z][A-Za-z]+$/)
    t.type(follow(reference), 'object', reference)
  }
  t.notMatch(response.body, /"\$id"|def-\d/)
})

t.test('every error code is described in the response of its status', async (t) => {
  for (const [code, { kind }] of Object.entries(errorCatalogue)) {
    t.ok(document.components.schemas.ErrorCode.enum.includes(code), code)
    const name = String(STATUS_CODES[statusOf[kind]]).replaceAll(/\W/g, '')
    t.match(document.components.responses[name].description, `\`${code}\``)
  }
  t.match(document.components.responses.TooManyRequests.headers, { 'Retry-After': {} })
})

t.test('GET /docs shows the document, with a policy that allows only files of Rowhouse', async (t) => {
  const page = await app.inject('/docs')
  t.equal(page.statusCode, 200)
  t.match(page.body, '<title>Rowhouse API</title>')
  t.notMatch(page.body, /<script>|<style|style=|https?:/, 'no inline code, no files from elsewhere')
  const files = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => String(file))
  t.ok(files.length > 4)
  for (const file of ['/docs', ...files]) {
    const response = await app.inject(file)
    t.equal(response.statusCode, 200, file)
    t.match(response.headers['content-security-policy'], /^default-src 'none'; script-src 'self'; style-src 'self';/)
    t.equal(response.headers['x-content-type-options'], 'nosniff')
  }
  t.strictSame((await app.inject('/docs/json')).json(), document)
  const missing = await app.inject('/docs/static/missing.js')
  t.equal(missing.statusCode, 404)
  t.match(missing.json(), { success: false, error: { code: 'ROUTE_NOT_FOUND' } })
})

t.test('GET / redirects to the console, and is not in the document', async (t) => {
  for (const method of ['GET', 'HEAD'] as const) {
    const response = await app.inject({ method, url: '/' })
    t.equal(response.statusCode, 302)
    t.equal(response.headers.location, 'console/')
    t.equal(response.body, '')
  }
  t.notOk('/' in document.paths)
})

t.test('a route without an operation id is not in the document', async (t) => {
  const onRegister = (child: FastifyInstance) => {
    if (child.prefix === '/auth') child.get('/bare', async () => 'ok')
  }
  const other = await startApp(t, { onRegister })
  const response = await other.inject('/openapi.json')
  t.equal(response.statusCode, 200)
  t.notOk('/auth/bare' in response.json().paths)
  t.ok('/auth/login' in response.json().paths)
})
