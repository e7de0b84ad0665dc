import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Test } from 'tap'

// What a typed OpenAPI document promises, as functions that compare real requests and responses with it.

type Json = Readonly<Record<string, unknown>>

export interface PropertySchema extends Json {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly pattern?: string
  readonly contentEncoding?: string
  readonly enum?: readonly unknown[]
}

export interface ObjectSchema extends Json {
  readonly properties: Readonly<Record<string, PropertySchema>>
  readonly required?: readonly string[]
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Json
  readonly responses: Readonly<Record<string, Json>>
}

export interface Parameter {
  readonly in?: string
  readonly name: string
  readonly schema: PropertySchema
}

export interface TypedDocument extends Json {
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>> & { parameters?: readonly Parameter[] }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, ObjectSchema>>
    readonly responses: Readonly<Record<string, Json>>
    readonly parameters?: Readonly<Record<string, Json>>
  }
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

export const operationsOf = ({ paths }: TypedDocument) =>
  Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => (item[method] ? [{ path, method, operation: item[method] }] : []))
  )

/** Returns every `$ref` in a part of the document. A column may have this name: its value is no text. */
const referencesIn = (value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) =>
    key === '$ref' && typeof item === 'string' ? [item] : referencesIn(item)
  )
}

const at = (document: TypedDocument, reference: string) =>
  reference
    .slice(2)
    .split('/')
    .reduce<unknown>((part, key) => (part as Json | undefined)?.[key], document)

const repeated = (names: readonly string[]) => names.filter((name, index) => names.indexOf(name) !== index)

/** The validator takes a column of this name for a reference. */
const withoutRefColumns = (document: TypedDocument) => JSON.stringify(document).replaceAll('"$ref":{', '"ref":{')

/** Asserts that the document is valid OpenAPI, and that a generator can make unique names from it. */
export const checkDocument = async (t: Test, document: TypedDocument) => {
  t.match(await new Validator().validate(JSON.parse(withoutRefColumns(document))), { valid: true, errors: undefined })
  for (const reference of new Set(referencesIn(document))) t.ok(at(document, reference), reference)
  const operations = operationsOf(document)
  t.strictSame(repeated(operations.map(({ operation }) => operation.operationId.toLowerCase())), [])
  const { schemas, responses } = document.components
  t.strictSame(repeated([...Object.keys(schemas), ...Object.keys(responses)].map((name) => name.toLowerCase())), [])
  for (const { path, operation } of operations) {
    const parameters = [...(document.paths[path]?.parameters ?? []), ...(operation.parameters ?? [])]
    const declared = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
    t.strictSame(
      declared,
      [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name),
      path
    )
    t.strictSame(repeated(declared), [], path)
  }
}

/** Returns functions that validate values by the schemas of a document in OpenAPI 3.1. */
export const createContract = (document: TypedDocument) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(document, 'document')
  const validators = new Map<string, ValidateFunction>()

  const validatorAt = (reference: string) => {
    const validate = validators.get(reference) ?? ajv.compile({ $ref: `document${reference}` })
    validators.set(reference, validate)
    return validate
  }

  return {
    document,
    accepts: (schema: string, value: unknown) => validatorAt(`#/components/schemas/${schema}`)(value),
    /** Returns the problems of a response under this path template and method. An empty text: none. */
    problemsOf: (path: string, method: string, status: number, body: unknown) => {
      const responses = document.paths[path]?.[method]?.responses
      const listed = responses?.[String(status)] ?? responses?.default
      const response = listed?.$ref === undefined ? listed : (at(document, String(listed.$ref)) as Json)
      const media = (response?.content as Json | undefined)?.['application/json'] as { schema: Json } | undefined
      if (!media) return `The document has no ${method} ${path} ${status}.`
      const validate = validatorAt(String(media.schema.$ref))
      return validate(body) ? '' : ajv.errorsText(validate.errors)
    }
  }
}

export type Contract = ReturnType<typeof createContract>
