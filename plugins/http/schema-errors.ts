import type { ErrorObject } from 'ajv'
import type { ErrorDetail } from '../../schemas/error.ts'
import { violationPhrase } from '../../schemas/phrases.ts'
import { suggestName } from '../../schemas/similar-names.ts'
import { excerpt, pointer } from '../../services/model/errors.ts'
import {
  type NamedPart,
  type Properties,
  parametersHint,
  suggestionHint,
  suggestNames
} from '../../services/model/suggestions.ts'

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

/**
 * Returns a hint for unknown keys: what to send instead, or the similar name of the first one. For parameters, also the
 * names of all. Needs Ajv's option `verbose`.
 */
export const hintOf = (error: ErrorObject, part: NamedPart): string | undefined => {
  // A misspelled key that is required is reported as missing.
  if (keyOf(error) === undefined) return undefined
  const { properties } = error.parentSchema as { properties: Properties }
  const sent = error.data as Readonly<Record<string, unknown>>
  const known = Object.keys(properties)
  const unknown = Object.keys(sent).filter((key) => !known.includes(key))
  const [first] = unknown
  if (first === undefined) return undefined
  const suggested = suggestionHint(part, suggestNames(sent, unknown, known), properties) ?? suggestName(first, known)
  return part === 'query' ? [suggested ?? [], parametersHint(known)].flat().join(' ') : suggested
}

/** Converts an error of Ajv to a detail of VALIDATION_FAILED. */
export const toErrorDetail = (error: ErrorObject): ErrorDetail => {
  const key = keyOf(error)
  const path = error.instancePath + (key === undefined ? '' : pointer(excerpt(key)))
  return { path, code: detailCodes[error.keyword] ?? 'invalid', message: toMessage(error, path) }
}
