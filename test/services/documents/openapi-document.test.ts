import t from 'tap'
import { completeDocument, type OpenapiDocument } from '../../../services/documents/openapi-document.ts'

const complete = (paths: OpenapiDocument['paths'], components: OpenapiDocument['components'] = {}) =>
  completeDocument({ paths, components })

const done = { description: 'Default Response' }

const operationOf = (path: string, method: string, operation: object = {}) =>
  complete({ [path]: { [method]: { responses: { 200: done }, ...operation } } }).paths[path]?.[method]

const statusesOf = (path: string, method: string, operation: object = {}) =>
  Object.keys(operationOf(path, method, operation)?.responses ?? {}).map(Number)

t.test('each area takes its own credential, and what is open to all takes none', async (t) => {
  t.same(operationOf('/data/{table}', 'get')?.security, [{ token: [] }])
  t.same(operationOf('/admin/tables', 'get')?.security, [{ session: [] }])
  t.same(operationOf('/auth/me', 'get')?.security, [{ session: [] }])
  t.same(operationOf('/auth/login', 'post')?.security, [])
  t.same(operationOf('/health', 'get')?.security, [])
})

t.test('a route that says which credential it takes is believed', async (t) => {
  t.same(operationOf('/data/{table}', 'get', { security: [] })?.security, [])
  t.same(statusesOf('/data/open', 'get', { security: [] }), [200, 400, 500, 503])
})

t.test('an operation has the failures that follow from its form', async (t) => {
  const body = { requestBody: {} }
  t.same(statusesOf('/health', 'get'), [200, 400, 500, 503])
  t.same(statusesOf('/admin/tables', 'get'), [200, 400, 401, 403, 500, 503])
  t.same(statusesOf('/admin/tables/{id}', 'get'), [200, 400, 401, 403, 404, 414, 500, 503])
  t.same(statusesOf('/admin/tables/{id}/data', 'get'), [200, 400, 401, 403, 404, 409, 414, 500, 503])
  t.same(statusesOf('/data/{table}', 'get'), [200, 400, 401, 403, 404, 409, 414, 500, 503])
  t.same(statusesOf('/data/{table}/schema', 'get'), [200, 400, 401, 403, 404, 414, 500, 503])
  t.same(statusesOf('/admin/tokens/{id}', 'delete'), [200, 400, 401, 403, 404, 408, 413, 414, 415, 500, 503, 507])
  t.same(statusesOf('/admin/tables', 'post', body), [200, 400, 401, 403, 408, 409, 413, 415, 500, 503, 507])
})

t.test('an operation has the failures that follow from what it does', async (t) => {
  t.same(
    statusesOf('/auth/login', 'post', { operationId: 'logIn' }),
    [200, 400, 401, 403, 408, 413, 415, 429, 500, 503, 507]
  )
  t.ok(statusesOf('/admin/tables/import', 'post', { operationId: 'importTable' }).includes(404))
})

t.test('a failure that a route describes itself keeps its meaning for that route only', async (t) => {
  const own = operationOf('/health', 'get', { responses: { 200: { description: 'Fine.' } } })
  t.match(own?.responses, {
    200: { description: 'Fine.' },
    503: { $ref: '#/components/responses/ServiceUnavailable' }
  })
})

t.test('a success that says nothing of itself is done', async (t) => {
  t.match(operationOf('/health', 'get')?.responses, { 200: { description: 'Done.' } })
})

t.test('schemas with a title become components, nested ones too, each once', async (t) => {
  const Field = { $id: 'Field', title: 'Field', type: 'object', properties: { title: { type: 'string' } } }
  const Table = { title: 'Table', type: 'object', properties: { fields: { type: 'array', items: Field } } }
  const answer = (schema: object) => ({ responses: { 200: { content: { 'application/json': { schema } } } } })
  const { paths, components } = complete({ '/a': { get: answer(Table) }, '/b': { get: answer(Field) } })
  const { Error: _, ...schemas } = components.schemas ?? {}
  t.same(schemas, {
    Field: { title: 'Field', type: 'object', properties: { title: { type: 'string' } } },
    Table: {
      title: 'Table',
      type: 'object',
      properties: { fields: { type: 'array', items: { $ref: '#/components/schemas/Field' } } }
    }
  })
  t.match(paths['/a']?.get?.responses, {
    200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Table' } } } }
  })
})

t.test('two different schemas under one title are a mistake', async (t) => {
  const schemas = { a: { title: 'Same', type: 'string' }, b: { title: 'Same', type: 'integer' } }
  t.throws(() => complete({}, { schemas }), { message: "Two different schemas have the title 'Same'." })
})
