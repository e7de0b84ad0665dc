import t from 'tap'
import { DOCUMENTED_KEY } from '../../../schemas/documented.ts'
import type { ErrorCode } from '../../../schemas/error.ts'
import type { Credential } from '../../../schemas/operation-errors.ts'
import {
  CODES_KEY,
  CREDENTIAL_KEY,
  completeDocument,
  type OpenapiDocument
} from '../../../services/documents/openapi-document.ts'

const complete = (paths: OpenapiDocument['paths'], components: OpenapiDocument['components'] = {}) =>
  completeDocument({ info: { title: 'Test', version: '1.0.0' }, paths, components })

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
  t.same(Object.keys(operation?.responses ?? {}), ['200', '409', '503', '507', 'default'])
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
  const Field = { title: 'Field', type: 'object', properties: { title: { type: 'string' } } }
  const Table = { title: 'Table', type: 'object', properties: { fields: { type: 'array', items: Field } } }
  const operation = (schema: object) => ({
    responses: { 200: { content: { 'application/json': { schema } } } },
    ...declarations('none', [])
  })
  const { paths, components } = complete({ '/a': { get: operation(Table) }, '/b': { get: operation(Field) } })
  const {
    ErrorResponse: _,
    ErrorInfo: _info,
    ErrorCode: _code,
    ErrorDetail: _detail,
    ...schemas
  } = components.schemas ?? {}
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

t.test('a schema that is documented as another one is replaced by it', async (t) => {
  const id = { type: ['string', 'number'], [DOCUMENTED_KEY]: { title: 'Key', type: 'string', examples: ['7'] } }
  const { components } = complete({}, { schemas: { a: { title: 'Holder', type: 'object', properties: { id } } } })
  t.match(components.schemas, {
    Holder: { properties: { id: { $ref: '#/components/schemas/Key' } } },
    Key: { type: 'string', examples: ['7'] }
  })
})

t.test('the version contains a digest of the content', async (t) => {
  const versionOf = (description: string) =>
    complete({ '/path': { get: { responses: { 200: { description } }, ...declarations('none', []) } } }).info.version
  t.match(versionOf('Fine.'), /^1\.0\.0\+[0-9a-f]{8}$/)
  t.equal(versionOf('Fine.'), versionOf('Fine.'))
  t.not(versionOf('Fine.'), versionOf('Well.'))
})
