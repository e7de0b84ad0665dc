import { patternPhrases } from './patterns.ts'

/** The used properties of an Ajv error. */
interface SchemaViolation {
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
}

const typePhrases: Record<string, string> = {
  integer: 'an integer',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array'
}

const joinTypes = (types: readonly string[]) => types.map((type) => typePhrases[type] ?? type).join(' or ')

const count = (limit: unknown, noun: string) => `${limit} ${noun}${limit === 1 ? '' : 's'}`

const phraseOfValues = (values: readonly string[]) =>
  values.length === 1 ? `must be '${values[0]}'` : `must be one of ${values.join(', ')}`

/** By Ajv's keyword. Ajv's own messages contain operators and internal terms: "must be >= 1". */
const phrases: Record<string, (params: SchemaViolation['params']) => string> = {
  required: () => 'is required',
  additionalProperties: () => 'is unknown',
  type: ({ type }) => `must be ${joinTypes([type].flat() as readonly string[])}`,
  enum: ({ allowedValues }) => phraseOfValues(allowedValues as readonly string[]),
  pattern: ({ pattern }) => `must ${patternPhrases[String(pattern)] ?? `match ${pattern}`}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  minLength: ({ limit }) => `must have at least ${count(limit, 'character')}`,
  maxLength: ({ limit }) => `must have at most ${count(limit, 'character')}`,
  minItems: ({ limit }) => `must have at least ${count(limit, 'item')}`,
  maxItems: ({ limit }) => `must have at most ${count(limit, 'item')}`
}

/** Returns what is wrong with a value, as the rest of a sentence that starts with its name: "must be an integer". */
export const violationPhrase = ({ keyword, params, message }: SchemaViolation) => phrases[keyword]?.(params) ?? message
