import { patternPhrases } from './patterns.ts'

/** As much of a fault, as Ajv reports it, as is put into words here. */
interface SchemaFault {
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

/** One type, or several that a value may have. */
const sayTypes = (types: readonly string[]) => types.map((type) => typePhrases[type] ?? type).join(' or ')

/** In place of Ajv's own words, which name JSON types and operators. */
const phrases: Record<string, (params: SchemaFault['params']) => string> = {
  required: () => 'is required',
  additionalProperties: () => 'is not known here',
  type: ({ type }) => `must be ${sayTypes([type].flat() as readonly string[])}`,
  enum: ({ allowedValues }) => `must be one of ${(allowedValues as readonly string[]).join(', ')}`,
  pattern: ({ pattern }) => `must be ${patternPhrases[String(pattern)] ?? `like ${pattern}`}`,
  minimum: ({ limit }) => `must be ${limit} or more`,
  maximum: ({ limit }) => `must be ${limit} at most`,
  minLength: ({ limit }) => `must have ${limit} or more characters`,
  maxLength: ({ limit }) => `must have ${limit} characters at most`,
  minItems: ({ limit }) => `must have ${limit} or more items`,
  maxItems: ({ limit }) => `must have ${limit} items at most`
}

/** What is wrong with a value, or must be so, behind its name. */
export const phraseOf = ({ keyword, params, message }: SchemaFault) => phrases[keyword]?.(params) ?? message
