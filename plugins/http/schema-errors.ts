import type { ErrorObject } from 'ajv'
import type { ErrorDetail } from '../../schemas/error.ts'
import { violationPhrase } from '../../schemas/phrases.ts'
import { suggestName } from '../../schemas/similar-names.ts'
import { excerpt, pointer } from '../../services/model/errors.ts'

/** The code of an error detail, by Ajv's keyword. */
const detailCodes: Record<string, string> = {
  type: 'type',
  enum: 'enum',
  required: 'required',
  additionalProperties: 'unknown',
  pattern: 'format',
  minimum: 'range',
  maximum: 'range',
  minLength: 'length',
  maxLength: 'length',
  minItems: 'length',
  maxItems: 'length',
  minProperties: 'required'
}

/** Returns the missing or unknown key, for which Ajv gives the path of the object around it. */
const keyOf = ({ keyword, params }: ErrorObject): string | undefined => {
  if (keyword === 'required') return params.missingProperty
  if (keyword === 'additionalProperties') return params.additionalProperty
  return undefined
}

const toMessage = (error: ErrorObject, path: string) => {
  if (error.keyword === 'minProperties') return 'There is nothing to change.'
  const name = path === '' ? 'The body' : `'${path.slice(1)}'`
  return `${name} ${violationPhrase(error)}.`
}

/** Returns a hint for the first unknown key, if it resembles a known one. Needs Ajv's option `verbose`. */
export const hintOf = (error: ErrorObject): string | undefined => {
  // A misspelled key that is required is reported as missing.
  if (keyOf(error) === undefined) return undefined
  const known = Object.keys(error.parentSchema?.properties)
  const unknown = Object.keys(error.data as object).find((key) => !known.includes(key))
  return unknown === undefined ? undefined : suggestName(unknown, known)
}

/** Converts an error of Ajv to a detail of VALIDATION_FAILED. */
export const toErrorDetail = (error: ErrorObject): ErrorDetail => {
  const key = keyOf(error)
  const path = error.instancePath + (key === undefined ? '' : pointer(excerpt(key)))
  return { path, code: detailCodes[error.keyword] ?? 'invalid', message: toMessage(error, path) }
}
