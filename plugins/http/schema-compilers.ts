import type { TSchema } from '@sinclair/typebox'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import fastJson from 'fast-json-stringify'
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import { invalid, pointer } from '../../services/model/errors.ts'
import { findViolation } from '../../services/model/json-violations.ts'
import { toValidationError } from './json-body.ts'
import { hintOf, toErrorDetail } from './schema-errors.ts'

/** Converts text to the type of its schema, or leaves it as text. The schema checks the range. */
const convertText = (type: unknown, text: unknown) => {
  if (typeof text !== 'string') return text
  if (type === 'integer' && /^(?:0|-?[1-9]\d{0,14})$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

/** Returns a function that converts path, query or header parameters in place. */
const createTextConverter = (schema: TSchema) => {
  const types = Object.entries<{ type?: string }>(schema.properties).map(([name, { type }]) => [name, type] as const)
  return (parameters: Record<string, unknown>) => {
    for (const [name, type] of types) {
      const text = parameters[name]
      if (text === undefined) continue
      const violation = findViolation(text)
      if (violation) throw toValidationError({ ...violation, subPath: pointer(name) })
      parameters[name] = convertText(type, text)
    }
  }
}

/** Node gives headers in lower case. Fastify converts their names only for its own compilers. */
const withLowerCaseNames = (schema: TSchema): TSchema => {
  const properties = Object.entries(schema.properties).map(([name, property]) => [name.toLowerCase(), property])
  return { ...schema, properties: Object.fromEntries(properties) }
}

const isStream = (value: unknown) => typeof value === 'object' && value !== null && Symbol.asyncIterator in value

/** Ajv stops at the first error. */
const toInvalid = (errors: readonly [ErrorObject, ...ErrorObject[]], httpPart: string | undefined) =>
  invalid(errors.map(toErrorDetail), hintOf(errors[0], httpPart === 'querystring' ? 'query' : 'body'))

/**
 * Compiled functions by schema. Routes share schemas, such as that of errors, which takes 20 ms to compile. A schema is
 * never changed, so apps of one process share its functions, too.
 */
const validators = new WeakMap<object, ValidateFunction>()
const serializers = new WeakMap<object, ReturnType<typeof fastJson>>()

const compiledOnce = <T>(compiled: WeakMap<object, T>, schema: object, compile: () => T): T => {
  const known = compiled.get(schema)
  if (known) return known
  const made = compile()
  compiled.set(schema, made)
  return made
}

/**
 * Validates bodies as they were sent, and text parts after a strict conversion. Fastify's default coercion turns null
 * into "" or 0, and drops unknown keys silently. Schemas are compiled at the first request: see `serializerCompiler`.
 */
const createValidatorCompiler = (): FastifySchemaCompiler<TSchema> => {
  let ajv: Ajv | undefined
  const compile = (schema: TSchema) => {
    ajv ??= new Ajv(AJV_OPTIONS)
    return ajv.compile(schema)
  }
  return ({ schema: declared, httpPart }) => {
    const schema = httpPart === 'headers' ? withLowerCaseNames(declared) : declared
    const prepare = httpPart === 'body' ? () => {} : createTextConverter(schema)
    return (value: unknown) => {
      // A file is read while it arrives: plugins/http/body-chunks.ts.
      if (httpPart === 'body' && isStream(value)) return { value }
      try {
        prepare(value as Record<string, unknown>)
        const validate = compiledOnce(validators, schema, () => compile(schema))
        return validate(value) ? { value } : { error: toInvalid(validate.errors as [ErrorObject], httpPart) }
      } catch (error) {
        return { error: error as Error }
      }
    }
  }
}

/** Fastify's own serializer, but compiled at the first response. At start it took a fifth of a cold start. */
const serializerCompiler: FastifySerializerCompiler<Parameters<typeof fastJson>[0]> =
  ({ schema }) =>
  (response) =>
    compiledOnce(serializers, schema, () => fastJson(schema))(response)

/**
 * TypeBox makes valid schemas. A check against the meta-schema costs more than all other work of Ajv. Formats are for the
 * document: Ajv does not know those of numbers. `verbose`: errors have the schema around them, for the hint.
 */
const AJV_OPTIONS = {
  strict: false,
  meta: false,
  validateSchema: false,
  validateFormats: false,
  verbose: true
} as const

/** A Fastify constructor option (`schemaController`). Without it, Fastify loads its own compilers at start. */
export const compilers = {
  compilersFactory: {
    // Boundary cast: Fastify's types accept its own compilers only.
    buildValidator: () => createValidatorCompiler() as never,
    buildSerializer: () => serializerCompiler as never
  }
}
