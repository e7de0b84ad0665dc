import { Ajv, type ValidateFunction } from 'ajv'
import { type ErrorBody, ErrorSchema } from '../schemas/error.ts'

/**
 * TypeBox makes valid schemas, and test/contract/ checks the document. Here, a check against the meta-schema would compile
 * the meta-schema again for each schema.
 */
const AJV_OPTIONS = { strict: false, meta: false, validateSchema: false, validateFormats: false } as const

const validators = new WeakMap<object, ValidateFunction>()

export const validatorOf = (schema: object) => {
  const cached = validators.get(schema)
  if (cached) return cached
  const validate = new Ajv(AJV_OPTIONS).compile(schema)
  validators.set(schema, validate)
  return validate
}

/** Returns true for the error envelope, without any further properties. */
export const isFailure = (body: unknown) => validatorOf(ErrorSchema)(body) && (body as ErrorBody).success === false
