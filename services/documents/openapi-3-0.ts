import { isObject, type Json, mapValues } from './json.ts'

/** Keywords of 3.1 whose equivalent in 3.0 is made below, or which have none. */
const REPLACED = ['const', 'examples', 'contentEncoding', 'contentMediaType', '$schema', '$id', '$comment']

const isNullType = (schema: unknown) => isObject(schema) && schema.type === 'null'

/** `["string", "null"]` becomes a nullable string. Several other types become any type. */
const typeOf = ({ type }: Json): Json => {
  if (!Array.isArray(type)) return {}
  const types = type.filter((one) => one !== 'null')
  return { type: types.length === 1 ? types[0] : undefined, ...(types.length < type.length && { nullable: true }) }
}

const exactValueOf = ({ const: constant, examples }: Json): Json => ({
  ...(constant !== undefined && { enum: [constant] }),
  ...(Array.isArray(examples) && { example: examples[0] })
})

const bytesOf = ({ contentEncoding }: Json): Json => (contentEncoding === 'base64' ? { format: 'byte' } : {})

/** A number as an exclusive limit becomes a limit with a flag. */
const limitsOf = ({ exclusiveMinimum, exclusiveMaximum }: Json): Json => ({
  ...(typeof exclusiveMinimum === 'number' && { minimum: exclusiveMinimum, exclusiveMinimum: true }),
  ...(typeof exclusiveMaximum === 'number' && { maximum: exclusiveMaximum, exclusiveMaximum: true })
})

/** `nullable` has an effect only beside a type. Every reference that may be null is to an object. */
const nullOf = ([member]: readonly unknown[]): Json => ({
  ...(isObject(member) && member.$ref !== undefined && { type: 'object' }),
  nullable: true
})

const unionOf = (keyword: string, members: unknown): Json => {
  if (!Array.isArray(members)) return {}
  const kept = members.filter((member) => !isNullType(member)).map(toSchema)
  const isNullable = kept.length < members.length
  return {
    [keyword]: undefined,
    [kept.length === 1 ? 'allOf' : keyword]: kept,
    ...(isNullable && nullOf(kept))
  }
}

const partsOf = ({ properties, items, additionalProperties, oneOf, anyOf }: Json): Json => ({
  ...(properties !== undefined && { properties: mapValues(properties, toSchema) }),
  ...(items !== undefined && { items: toSchema(items) }),
  ...(additionalProperties !== undefined && { additionalProperties: toSchema(additionalProperties) }),
  ...unionOf('oneOf', oneOf),
  ...unionOf('anyOf', anyOf)
})

const withoutUndefined = (value: Json): Json =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined))

/** In 3.0, properties beside a `$ref` are ignored. */
const referenceOf = ({ $ref, ...rest }: Json): Json =>
  Object.keys(rest).length === 0 ? { $ref } : { ...rest, allOf: [{ $ref }] }

const toSchema = (schema: unknown): unknown => {
  if (!isObject(schema)) return schema
  if (schema.$ref !== undefined) return referenceOf(schema)
  const kept = Object.fromEntries(Object.entries(schema).filter(([key]) => !REPLACED.includes(key)))
  return withoutUndefined({
    ...kept,
    ...typeOf(schema),
    ...exactValueOf(schema),
    ...bytesOf(schema),
    ...limitsOf(schema),
    ...partsOf(schema)
  })
}

/** progenitor, which reads 3.0 only, takes a default response for a success too. The ranges stand for failures only. */
const toResponses = ({ default: failure, ...listed }: Json): Json =>
  failure === undefined ? listed : { ...listed, '4XX': failure, '5XX': failure }

/** Converts the schemas in a part of the document: each stands under `schema` or `schemas`. */
const toPart = (value: unknown, key: string): unknown => {
  if (key === 'schema') return toSchema(value)
  if (key === 'schemas') return mapValues(value, toSchema)
  if (key === 'example' || key === 'examples') return value
  if (Array.isArray(value)) return value.map((item) => toPart(item, ''))
  return mapValues(key === 'responses' ? toResponses(value as Json) : value, toPart)
}

/** The identifier of a license is new in 3.1. SPDX has a page for each. */
const toInfo = ({ license, ...info }: Json): Json => {
  if (!isObject(license)) return info
  const { identifier, ...rest } = license
  return { ...info, license: { ...rest, url: `https://spdx.org/licenses/${identifier}.html` } }
}

/** Returns the document, or some members of it, in OpenAPI 3.0.3, for generators that do not read 3.1. */
export const toOpenapi30 = (document: Json): Json => ({
  ...(mapValues(document, toPart) as Json),
  ...(document.openapi !== undefined && { openapi: '3.0.3', info: toInfo(document.info as Json) })
})
