import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t, { type Test } from 'tap'
import { startApp } from '../helpers.ts'

// Each rule is the cause of a client that did not compile, or that failed at its first call.

type Json = Readonly<Record<string, unknown>>

interface Media {
  readonly schema: Json
  readonly example?: unknown
}

interface Parameter {
  readonly name: string
  readonly description?: string
  readonly example?: unknown
}

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly security?: readonly Json[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, Json>>
}

interface Document {
  readonly openapi: string
  readonly info: Json
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<'schemas' | 'responses', Readonly<Record<string, Json>>>>
}

const app = await startApp(t)

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const valuesOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  isObject(value) ? Object.entries(value) : []

/** Returns a schema and all schemas in it, each with its path. */
const schemasIn = (schema: unknown, path: string): readonly (readonly [string, Json])[] => {
  if (!isObject(schema)) return []
  const parts = [
    ...valuesOf(schema.properties).map(([name, part]) => [`${path}.${name}`, part] as const),
    ...[schema.oneOf ?? schema.anyOf ?? []].flat().map((part, index) => [`${path}|${index}`, part] as const),
    [`${path}[]`, schema.items] as const,
    [`${path}{}`, schema.additionalProperties] as const
  ]
  return [[path, schema], ...parts.flatMap(([name, part]) => schemasIn(part, name))]
}

const operationsOf = ({ paths }: Document) => Object.values(paths).flatMap((methods) => Object.values(methods))

/** Returns every media type of a document, with the name of its operation and part. */
const mediaOf = (document: Document) => {
  const bodies = operationsOf(document).flatMap(({ operationId, requestBody, responses }) => [
    [`${operationId} request`, requestBody] as const,
    ...Object.entries(responses).map(([status, response]) => [`${operationId} ${status}`, response] as const)
  ])
  const shared = Object.entries(document.components.responses)
  return [...bodies, ...shared].flatMap(([place, body]) =>
    valuesOf(isObject(body) ? body.content : undefined).map(([type, media]) => [place, type, media as Media] as const)
  )
}

const allSchemas = (document: Document) => [
  ...Object.entries(document.components.schemas).flatMap(([name, schema]) => schemasIn(schema, name)),
  ...operationsOf(document).flatMap(({ operationId, parameters = [] }) =>
    parameters.flatMap((parameter) =>
      schemasIn((parameter as unknown as Media).schema, `${operationId} ${parameter.name}`)
    )
  ),
  ...Object.entries(document.components.responses).flatMap(([name, response]) =>
    valuesOf(response.headers).flatMap(([header, value]) => schemasIn((value as Media).schema, `${name} ${header}`))
  )
]

const typesOf = ({ type }: Json) => [type ?? []].flat()

const targetOf = ({ components }: Document, schema: Json) => {
  const reference = schema.$ref ?? (schema.allOf as readonly Json[] | undefined)?.[0]?.$ref
  return reference === undefined ? schema : (components.schemas[String(reference).split('/').at(-1) as string] as Json)
}

/** Types and functions of a language that a schema of this name would shadow, or names that generators make. */
const RESERVED_NAME =
  /^(?:Record|Error|Field|New.*|Map|List|Set|Object|String|Number|Boolean|Array|Date|Type|Client|Request|Response|Result|Option)$/
const GENERATED_SUFFIX = /(?:Params|RequestBody|JSONBody|JSONRequestBody|Request)$/

const checkNames = async (t: Test, document: Document) => {
  const names = Object.keys(document.components.schemas)
  const lower = new Set(names.map((name) => name.toLowerCase()))
  t.equal(lower.size, names.length, 'unique without case')
  for (const name of names) {
    t.match(name, /^[A-Z][A-Za-z]+$/)
    t.notMatch(name, RESERVED_NAME)
    t.notMatch(name, GENERATED_SUFFIX)
    t.notOk(name in document.components.responses, `${name} is not also a response`)
  }
  for (const { operationId } of operationsOf(document))
    for (const suffix of ['', 'response', 'result', 'data', 'error'])
      t.notOk(lower.has(operationId.toLowerCase() + suffix), `${operationId} makes no name of a schema`)
}

const checkBodies = async (t: Test, document: Document) => {
  for (const [place, type, { schema }] of mediaOf(document))
    if (type === 'application/json') t.match(schema.$ref, /^#\/components\/schemas\//, place)
  const envelopes = mediaOf(document).filter(([place, type]) => place.endsWith(' 200') && type === 'application/json')
  for (const [place, , { schema }] of envelopes) {
    if (/^\w*Document /.test(place)) continue
    t.match(schema.$ref, /Envelope$/, place)
    t.strictSame(targetOf(document, schema).required, ['success', 'data'], place)
  }
}

const checkNumbers = async (t: Test, document: Document) => {
  let numbers = 0
  for (const [path, schema] of allSchemas(document)) {
    const isInteger = typesOf(schema).includes('integer')
    if (!isInteger && !typesOf(schema).includes('number')) continue
    numbers += 1
    t.match(schema.format, isInteger ? /^int(?:32|64)$/ : /^double$/, path)
  }
  t.ok(numbers > 20)
}

const checkUnions = async (t: Test, document: Document) => {
  for (const [path, schema] of allSchemas(document)) {
    t.ok(typesOf(schema).filter((type) => type !== 'null').length <= 1, `${path} has one type`)
    t.notOk('default' in schema, `${path} has no default`)
    t.notOk('const' in schema, `${path} has no const`)
    t.notOk(typesOf(schema).includes('boolean') && 'enum' in schema, `${path} has no enum`)
    t.notMatch(String(schema.pattern), /\\p\{/, path)
    t.notOk('oneOf' in schema || 'anyOf' in schema, `${path} is no union`)
  }
  t.notMatch(JSON.stringify(document), /x-documented|\$id|def-\d/)
}

/** Go has one scope for the constants of all named enums. */
const checkEnums = async (t: Test, document: Document) => {
  const values = Object.values(document.components.schemas).flatMap(
    (schema) => (schema.enum ?? []) as readonly string[]
  )
  const lower = new Set(values.map((value) => value.toLowerCase()))
  t.ok(lower.size > 50)
  t.equal(lower.size, values.length)
}

const checkOperations = async (t: Test, document: Document) => {
  for (const { operationId, summary, description, security, responses } of operationsOf(document)) {
    t.ok(summary && description, `${operationId} has a summary and a description`)
    t.ok(Array.isArray(security), `${operationId} has its own security`)
    for (const status of document.openapi.startsWith('3.1') ? ['default'] : ['4XX', '5XX'])
      t.match(responses[status], { $ref: '#/components/responses/OtherFailure' }, operationId)
  }
  const ids = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).map(({ operationId }) => ({ path, operationId }))
  )
  for (const { path, operationId } of ids)
    t.equal(path.startsWith('/admin/'), operationId.startsWith('admin'), `${operationId} ${path}`)
}

const checkTexts = async (t: Test, document: Document) => {
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    t.ok(schema.description, `${name} has a description`)
    for (const [path, part] of schemasIn(schema, name)) {
      for (const [property, value] of valuesOf(part.properties))
        t.ok(targetOf(document, value as Json).description, `${path}.${property} has a description`)
    }
  }
  for (const { operationId, parameters = [] } of operationsOf(document))
    for (const { name, description, example } of parameters) {
      t.ok(description, `${operationId} describes ${name}`)
      t.ok(example !== undefined, `${operationId} has an example of ${name}`)
    }
}

/** 3.1 only: its schemas are JSON Schema. */
const checkExamples = async (t: Test, document: Document) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(document, 'document')
  for (const [place, type, { schema, example }] of mediaOf(document)) {
    if (type !== 'application/json') continue
    const validate = ajv.compile({ $ref: `document${schema.$ref}` })
    t.ok(validate(example), `${place}: ${ajv.errorsText(validate.errors)}`)
    t.notOk(isObject(example) && Object.keys(example).length === 0, `${place} shows something`)
  }
  for (const [path, schema] of Object.entries(document.components.schemas).flatMap((named) =>
    schemasIn(named[1], named[0])
  ))
    for (const [property, value] of valuesOf(schema.properties)) {
      const { $ref, items, examples } = value as Json
      t.ok($ref || (isObject(items) && items.$ref) || examples, `${path}.${property} has an example`)
    }
  const own = allSchemas(document).flatMap(([path, schema]) =>
    ((schema.examples ?? []) as readonly unknown[]).map((example) => ({ path, schema, example }))
  )
  t.ok(own.length > 60)
  for (const { path, schema, example } of own) {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')
    t.ok(ajv.validate(JSON.parse(text), example), path)
  }
}

const KEYWORDS_OF_31 = ['const', 'examples', 'contentEncoding', 'contentMediaType', 'prefixItems', '$schema', '$id']

/** 3.0 only. */
const checkKeywords = async (t: Test, document: Document) => {
  for (const [path, schema] of allSchemas(document)) {
    for (const keyword of KEYWORDS_OF_31) t.notOk(keyword in schema, `${path} has no ${keyword}`)
    t.notOk(Array.isArray(schema.type), `${path} has one type`)
    t.ok(!('$ref' in schema) || Object.keys(schema).length === 1, `${path} has nothing beside its $ref`)
  }
}

const documentIn = async (version: string): Promise<Document> =>
  (await app.inject(`/openapi.json?openapi=${version}`)).json()

for (const version of ['3.1', '3.0']) {
  t.test(`the document in OpenAPI ${version}`, async (t) => {
    const document = await documentIn(version)
    t.test('is valid', async (t) => {
      t.match(await new Validator().validate({ ...document }), { valid: true, errors: undefined })
      t.ok(document.openapi.startsWith(version))
    })
    t.test('has a license, a contact and a server', async (t) => {
      const license = version === '3.1' ? { identifier: 'MIT' } : { url: 'https://spdx.org/licenses/MIT.html' }
      t.match(document, { info: { license: { name: 'MIT', ...license }, contact: { name: 'Rowhouse' } } })
      t.match(document, { servers: [{ url: '/' }] })
      t.match(document.info.version, /^\d+\.\d+\.\d+\+[0-9a-f]{8}$/)
    })
    t.test('has names that collide with no type of a language or generator', (t) => checkNames(t, document))
    t.test('names every body, and every envelope', (t) => checkBodies(t, document))
    t.test('has a format for every number', (t) => checkNumbers(t, document))
    t.test('has no unions, defaults, constants and \\p{…}', (t) => checkUnions(t, document))
    t.test('has no value in two named enums', (t) => checkEnums(t, document))
    t.test('has texts, security and a default error for each operation', (t) => checkOperations(t, document))
    t.test('describes every schema, property and parameter', (t) => checkTexts(t, document))
    if (version === '3.1') t.test('has examples that match their schemas', (t) => checkExamples(t, document))
    else t.test('has no keywords of 3.1', (t) => checkKeywords(t, document))
  })
}

t.test('both versions have the same operations, schemas and digest', async (t) => {
  const [newer, older] = [await documentIn('3.1'), await documentIn('3.0')]
  const outline = (document: Document) => ({
    version: document.info.version,
    operations: operationsOf(document).map(({ operationId }) => operationId),
    schemas: Object.keys(document.components.schemas)
  })
  t.strictSame(outline(older), outline(newer))
  t.equal((await app.inject('/openapi.json?openapi=3.1')).body, (await app.inject('/openapi.json')).body)
})

t.test('another version of OpenAPI is refused', async (t) => {
  const response = await app.inject('/openapi.json?openapi=2.0')
  t.equal(response.statusCode, 400)
  t.match(response.json(), { success: false, error: { code: 'VALIDATION_FAILED', details: [{ path: '/openapi' }] } })
})

t.test('a client that has the document gets 304 without a body', async (t) => {
  for (const url of ['/openapi.json', '/openapi.json?openapi=3.0']) {
    const first = await app.inject(url)
    const etag = String(first.headers.etag)
    t.match(etag, /^"[0-9a-f]{16}"$/)
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await app.inject({ url, headers: { 'if-none-match': tag } })
      t.equal(response.statusCode, 304, tag)
      t.equal(response.body, '')
      t.equal(response.headers.etag, etag)
    }
    const changed = await app.inject({ url, headers: { 'if-none-match': '"other"' } })
    t.equal(changed.statusCode, 200)
    t.equal(changed.body, first.body)
  }
  const [newer, older] = [await app.inject('/openapi.json'), await app.inject('/openapi.json?openapi=3.0')]
  t.not(newer.headers.etag, older.headers.etag)
})
