import type { Operator } from '../../schemas/query.ts'
import type { Claims } from '../../schemas/role.ts'
import { claimName } from './claims.ts'

type ToText = (value: unknown) => string

const listOf = (value: unknown, toText: ToText) =>
  Array.isArray(value) && value.length > 0 ? value.map(toText).join(', ') : 'an empty list'

const rangeOf = (value: unknown, toText: ToText) =>
  Array.isArray(value) ? value.map(toText).join(' and ') : toText(value)

/** What follows the name of the field. */
const OPERATORS: Readonly<Record<Operator, (value: unknown, toText: ToText) => string>> = {
  eq: (value, toText) => `equals ${toText(value)}`,
  ne: (value, toText) => `is not ${toText(value)}`,
  gt: (value, toText) => `is greater than ${toText(value)}`,
  gte: (value, toText) => `is at least ${toText(value)}`,
  lt: (value, toText) => `is less than ${toText(value)}`,
  lte: (value, toText) => `is at most ${toText(value)}`,
  between: (value, toText) => `is between ${rangeOf(value, toText)}`,
  in: (value, toText) => `is one of ${listOf(value, toText)}`,
  notIn: (value, toText) => `is none of ${listOf(value, toText)}`,
  isNull: (value) => (value === false ? 'has a value' : 'has no value'),
  contains: (value, toText) => `contains ${toText(value)}`,
  startsWith: (value, toText) => `starts with ${toText(value)}`,
  endsWith: (value, toText) => `ends with ${toText(value)}`
}

/** A condition in words. `isJoined`: it needs brackets inside of another one. */
interface Words {
  readonly text: string
  readonly isJoined: boolean
}

const ALWAYS: Words = { text: 'any record', isJoined: false }
const NEVER: Words = { text: 'no record', isJoined: false }

const plain = (text: string): Words => ({ text, isJoined: false })

const nested = ({ text, isJoined }: Words) => (isJoined ? `(${text})` : text)

const join = (parts: readonly Words[], word: 'and' | 'or', empty: Words): Words => {
  const [first = empty, ...others] = parts
  if (others.length === 0) return first
  return { text: parts.map(nested).join(` ${word} `), isJoined: true }
}

/** The parts of a rule. `checkRule` has checked their form. */
interface Rule {
  readonly where?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly via?: Readonly<Record<string, Rule>>
  readonly all?: readonly Rule[]
  readonly any?: readonly Rule[]
  readonly none?: readonly Rule[]
}

/** Returns a value of a rule or a preset in words. A claim shows its value for the key. */
export const valueInWords = (value: unknown, claims: Claims): string => {
  const claim = claimName(value)
  if (claim !== undefined)
    return Object.hasOwn(claims, claim) ? valueInWords(claims[claim], claims) : `the missing claim '${claim}'`
  if (Array.isArray(value)) return listOf(value, (item) => valueInWords(item, claims))
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
}

const createWords = (claims: Claims) => {
  const toText: ToText = (value) => valueInWords(value, claims)
  const inWords = (operator: string, value: unknown) => {
    const claim = claimName(value)
    const known = claim !== undefined && Object.hasOwn(claims, claim) ? claims[claim] : value
    return OPERATORS[operator as Operator](known, toText)
  }

  const whereOf = (where: Rule['where'] = {}): readonly Words[] =>
    Object.entries(where).flatMap(([field, condition]) =>
      Object.entries(condition).map(([operator, value]) => plain(`${field} ${inWords(operator, value)}`))
    )

  const viaOf = (via: Rule['via'] = {}): readonly Words[] =>
    Object.entries(via).map(([fields, rule]) => plain(`${fields} refers to a record with (${wordsOf(rule).text})`))

  const noneOf = (rules: Rule['none']): readonly Words[] =>
    rules && rules.length > 0 ? [plain(`not (${join(rules.map(wordsOf), 'or', NEVER).text})`)] : []

  const wordsOf = ({ where, via, all = [], any, none }: Rule): Words => {
    const parts = [
      ...whereOf(where),
      ...viaOf(via),
      ...all.map(wordsOf),
      ...(any ? [join(any.map(wordsOf), 'or', NEVER)] : []),
      ...noneOf(none)
    ]
    return join(parts, 'and', ALWAYS)
  }
  return wordsOf
}

/** Returns the records that a rule opens for these claims, as a sentence. undefined: there is no rule. */
export const recordsInWords = (rule: object | undefined, claims: Claims): string => {
  const words = createWords(claims)((rule ?? {}) as Rule)
  if (words === ALWAYS) return 'All records.'
  return words === NEVER ? 'No records.' : `Records where ${words.text}.`
}
