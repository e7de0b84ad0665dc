import t from 'tap'
import { toOpenapi30 } from '../../../services/documents/openapi-3-0.ts'

/** Returns the schema as the document in 3.0 has it. */
const convert = (schema: unknown) => {
  const document = { openapi: '3.1.0', info: {}, components: { schemas: { One: schema } } }
  return (toOpenapi30(document) as { components: { schemas: { One: unknown } } }).components.schemas.One
}

t.test('null in a list of types becomes nullable', async (t) => {
  t.strictSame(convert({ type: ['integer', 'null'], format: 'int64' }), {
    type: 'integer',
    format: 'int64',
    nullable: true
  })
  t.strictSame(convert({ type: ['string'] }), { type: 'string' })
})

t.test('several types become any type', async (t) => {
  t.strictSame(convert({ type: ['string', 'number'], description: 'A key.' }), { description: 'A key.' })
  t.strictSame(convert({ type: ['string', 'number', 'null'] }), { nullable: true })
})

t.test('null in a union becomes nullable', async (t) => {
  t.strictSame(convert({ oneOf: [{ $ref: '#/a' }, { type: 'null' }] }), {
    allOf: [{ $ref: '#/a' }],
    type: 'object',
    nullable: true
  })
  t.strictSame(convert({ anyOf: [{ type: 'string' }, { type: 'null' }] }), {
    allOf: [{ type: 'string' }],
    nullable: true
  })
  t.strictSame(convert({ anyOf: [{ type: 'string' }, { const: 1 }] }), { anyOf: [{ type: 'string' }, { enum: [1] }] })
})

t.test('keywords of 3.1 become those of 3.0', async (t) => {
  t.strictSame(convert({ const: 'ok', $comment: 'x' }), { enum: ['ok'] })
  t.strictSame(convert({ type: 'string', examples: ['a', 'b'] }), { type: 'string', example: 'a' })
  t.strictSame(convert({ type: 'string', contentEncoding: 'base64', contentMediaType: 'image/png' }), {
    type: 'string',
    format: 'byte'
  })
  t.strictSame(convert({ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 9 }), {
    type: 'number',
    exclusiveMinimum: true,
    exclusiveMaximum: true,
    minimum: 0,
    maximum: 9
  })
})

t.test('a reference with properties beside it keeps both', async (t) => {
  t.strictSame(convert({ $ref: '#/a' }), { $ref: '#/a' })
  t.strictSame(convert({ $ref: '#/a', description: 'Why.' }), { description: 'Why.', allOf: [{ $ref: '#/a' }] })
})

t.test('nested schemas are converted, and names of properties are left as they are', async (t) => {
  const nullable = { type: ['string', 'null'] }
  const converted = { type: 'string', nullable: true }
  t.strictSame(convert({ type: 'object', properties: { const: nullable, examples: nullable } }), {
    type: 'object',
    properties: { const: converted, examples: converted }
  })
  t.strictSame(convert({ type: 'array', items: nullable }), { type: 'array', items: converted })
  t.strictSame(convert({ type: 'object', additionalProperties: nullable }), {
    type: 'object',
    additionalProperties: converted
  })
  t.strictSame(convert({ type: 'object', additionalProperties: false }), {
    type: 'object',
    additionalProperties: false
  })
})

t.test('the license has a URL instead of the identifier', async (t) => {
  const info = { title: 'Test', version: '1', license: { name: 'MIT', identifier: 'MIT' } }
  t.strictSame(toOpenapi30({ openapi: '3.1.0', info }), {
    openapi: '3.0.3',
    info: { title: 'Test', version: '1', license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' } }
  })
})

t.test('a default response becomes a response to all failures', async (t) => {
  const paths = { '/': { get: { responses: { 200: { description: 'Fine.' }, default: { description: 'Bad.' } } } } }
  t.match(toOpenapi30({ openapi: '3.1.0', info: {}, paths }), {
    paths: {
      '/': {
        get: {
          responses: {
            200: { description: 'Fine.' },
            '4XX': { description: 'Bad.' },
            '5XX': { description: 'Bad.' },
            default: undefined
          }
        }
      }
    }
  })
})

t.test('schemas of parameters and bodies are converted, examples are not', async (t) => {
  const example = { schema: { type: ['string', 'null'] } }
  const operation = {
    parameters: [{ in: 'query', name: 'q', schema: { type: ['string', 'null'] } }],
    responses: { 200: { content: { 'application/json': { schema: { const: 1 }, example } } } }
  }
  t.match(toOpenapi30({ openapi: '3.1.0', info: {}, paths: { '/': { get: operation } } }), {
    paths: {
      '/': {
        get: {
          parameters: [{ schema: { type: 'string', nullable: true } }],
          responses: { 200: { content: { 'application/json': { schema: { enum: [1] }, example } } } }
        }
      }
    }
  })
})
