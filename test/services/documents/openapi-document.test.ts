import t from 'tap'
import type { ErrorCode } from '../../../schemas/error.ts'
import type { Credential } from '../../../schemas/operation-errors.ts'
import {
  CODES_KEY,
  CREDENTIAL_KEY,
  completeDocument,
  type OpenapiDocument
} from '../../../services/documents/openapi-document.ts'

const complete = (paths: OpenapiDocument['paths'], components: OpenapiDocument['components'] = {}) =>
  completeDocument({ paths, components })

const undescribed = { description: 'Default Response' }

const declarations = (credential: Credential, codes: readonly ErrorCode[]) => ({
  [CREDENTIAL_KEY]: credential,
  [CODES_KEY]: codes
})

const operationOf = (operation: object = {}, credential: Credential = 'none', codes: readonly ErrorCode[] = []) =>
  complete({ '/path': { get: { responses: { 200: undescribed }, ...declarations(credential, codes), ...operation } } })
    .paths['/path']?.get

t.test('an operation has the security of its credential', async (t) => {
  t.same(operationOf({}, 'none')?.security, [])
  t.same(operationOf({}, 'token')?.security, [{ token: [] }])
  t.same(operationOf({}, 'session')?.security, [{ session: [] }])
  t.same(operationOf({}, 'administrator')?.security, [{ session: [] }])
})

t.test('an operation has a response for each status of its codes, and lists the codes', async (t) => {
  const codes = ['TABLE_EXISTS', 'DATABASE_BUSY', 'TABLE_CHANGED', 'DISK_FULL'] as const
  const operation = operationOf({}, 'administrator', codes)
  t.same(Object.keys(operation?.responses ?? {}), ['200', '409', '503', '507'])
  t.same(operation?.[CODES_KEY], codes)
  t.notOk(CREDENTIAL_KEY in (operation ?? {}))
})

t.test('a response with a description keeps it', async (t) => {
  const operation = operationOf({ responses: { 200: { description: 'Fine.' } } }, 'none', ['OVERLOADED'])
  t.match(operation?.responses, {
    200: { description: 'Fine.' },
    503: { $ref: '#/components/responses/ServiceUnavailable' }
  })
})

t.test('a success without a description gets one', async (t) => {
  t.match(operationOf()?.responses, { 200: { description: 'Success.' } })
})

t.test('schemas with a title become components, nested ones too, each once', async (t) => {
  const Field = { $id: 'Field', title: 'Field', type: 'object', properties: { title: { type: 'string' } } }
  const Table = { title: 'Table', type: 'object', properties: { fields: { type: 'array', items: Field } } }
  const operation = (schema: object) => ({
    responses: { 200: { content: { 'application/json': { schema } } } },
    ...declarations('none', [])
  })
  const { paths, components } = complete({ '/a': { get: operation(Table) }, '/b': { get: operation(Field) } })
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

t.test('two different schemas with the same title are an error', async (t) => {
  const schemas = { a: { title: 'Same', type: 'string' }, b: { title: 'Same', type: 'integer' } }
  t.throws(() => complete({}, { schemas }), { message: "Two different schemas have the title 'Same'." })
})
