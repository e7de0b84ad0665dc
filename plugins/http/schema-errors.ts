import type { ErrorObject } from 'ajv'
import type { ErrorDetail } from '../../schemas/error.ts'
import { knownValue } from '../../schemas/other-names.ts'
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

/** What to send instead of a value of another type, by the title of its schema. */
const FORMS: Readonly<Record<string, string>> = {
  TableRecordInput: 'An import takes a list of records: POST …/import. A batch takes {"operations": […]}.',
  TableBatch: 'Send {"operations": […]}.',
  TokenPermissions: 'For example: {"tables": ["products"], "actions": ["read"]}.'
}

const typeHint = ({ data, parentSchema }: ErrorObject): string | undefined => {
  const { title, description = '' } = parentSchema as { title?: string; description?: string }
  if (!description.includes('epoch milliseconds')) return title === undefined ? undefined : FORMS[title]
  const time = typeof data === 'string' ? Date.parse(data) : Number.NaN
  return Number.isNaN(time) ? 'Send epoch milliseconds.' : `Send epoch milliseconds: ${time}.`
}

const enumHint = ({ data, schema }: ErrorObject) => {
  const values = (schema as readonly unknown[]).map(String)
  const known = knownValue(String(data))
  return values.includes(known) ? `Did you mean '${known}'?` : suggestName(String(data), values)
}

/** Returns a hint for a value that is wrong. */
const valueHint = (error: ErrorObject) => {
  if (error.keyword === 'type') return typeHint(error)
  return error.keyword === 'enum' ? enumHint(error) : undefined
}

/**
 * Returns a hint for unknown keys: what to send instead, or the similar name of the first one. For parameters, also the
 * names of all. Needs Ajv's option `verbose`.
 */
export const hintOf = (error: ErrorObject, part: NamedPart): string | undefined => {
  // A misspelled key that is required is reported as missing.
  if (keyOf(error) === undefined) return valueHint(error)
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
