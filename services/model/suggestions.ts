import { knownName, knownOperator } from '../../schemas/other-names.ts'
import { type Operator, operators } from '../../schemas/query.ts'
import { isJsonObject, type JsonObject } from './json-object.ts'
import { splitNames } from './names.ts'

/** The properties of a schema. A hint shows an example of a value that it cannot convert. */
export type Properties = Readonly<Record<string, { readonly examples?: readonly unknown[] }>>

const OPERATORS = Object.keys(operators) as Operator[]

/** Returns the condition of a pattern of LIKE, with `%` or `*`. */
const patternCondition = (pattern: string): JsonObject => {
  const text = pattern.replace(/^[%*]/, '').replace(/[%*]$/, '')
  const [isOpenBefore, isOpenAfter] = [/^[%*]/.test(pattern), /[%*]$/.test(pattern)]
  if (isOpenBefore === isOpenAfter) return { contains: text }
  return isOpenAfter ? { startsWith: text } : { endsWith: text }
}

/** Returns the condition for an operator of another service; undefined if no operator does the same. */
export const suggestOperator = (sent: string, value: unknown): JsonObject | undefined => {
  const operator = knownOperator(sent, OPERATORS)
  if (operator === undefined) return undefined
  if (value === null && (operator === 'eq' || operator === 'ne')) return { isNull: operator === 'eq' }
  return operator === 'contains' && typeof value === 'string' ? patternCondition(value) : { [operator]: value }
}

/** Returns the condition for a value that was sent without an operator. */
export const suggestCondition = (value: unknown): JsonObject => {
  if (value === null) return { isNull: true }
  return Array.isArray(value) ? { in: value } : { eq: value }
}

const convertCondition = (sent: unknown): JsonObject | undefined => {
  if (!isJsonObject(sent)) return suggestCondition(sent)
  const parts = Object.entries(sent).map(([name, value]) => suggestOperator(name, value))
  return parts.includes(undefined) ? undefined : Object.assign({}, ...parts)
}

/** Returns the filter for a condition of each field; undefined if an operator has no equal here. */
export const suggestWhere = (sent: unknown) => {
  if (!isJsonObject(sent)) return undefined
  const entries = Object.entries(sent).map(([field, value]) => [field, convertCondition(value)] as const)
  return entries.some(([, condition]) => !condition) ? undefined : { where: Object.fromEntries(entries) }
}

const toNames = (sent: unknown) => {
  const names = typeof sent === 'string' ? splitNames(sent) : sent
  const areNames = Array.isArray(names) && names.every((name) => typeof name === 'string' && !['', '*'].includes(name))
  return areNames ? names : undefined
}

const toPositive = (sent: unknown) => (/^[1-9]\d{0,8}$/.test(String(sent)) ? Number(sent) : undefined)

const DEFAULT_SIZE = 20

/** Returns the page that has the record at an offset. */
const pageOf = (offset: unknown, { size, limit, _limit }: JsonObject) => {
  const length = toPositive(size ?? limit ?? _limit) ?? DEFAULT_SIZE
  return /^\d{1,9}$/.test(String(offset)) ? Math.floor(Number(offset) / length) + 1 : undefined
}

/** Convert a value to the form that a parameter or a property of this name takes. undefined: it cannot be converted. */
const conversions: Readonly<Record<string, (value: unknown, sent: JsonObject, name: string) => unknown>> = {
  size: toPositive,
  page: (value, sent, name) => (/page/i.test(name) ? toPositive(value) : pageOf(value, sent)),
  cursor: () => '',
  order: (value) => (Array.isArray(value) ? value.join() : value),
  fields: toNames,
  expand: toNames,
  groupBy: toNames,
  q: (value) => (typeof value === 'string' ? value.replaceAll(/[%*]/g, '') : undefined),
  filter: suggestWhere
}

const isDirection = (text: unknown) => /^(?:asc|desc)$/i.test(String(text))

/** Joins the parts of an order. A direction alone, such as `_order=desc`, belongs to the field of another parameter. */
const joinOrder = (...parts: readonly unknown[]) =>
  parts
    .filter((part) => part !== undefined)
    .sort((a, b) => Number(isDirection(a)) - Number(isDirection(b)))
    .join()

/** Values to send, by the names of parameters or properties. undefined: a value that is not known. */
export type Suggestions = ReadonlyMap<string, unknown>

/** Returns what to send instead of each of these names that has another name here. `names`: the known names. */
export const suggestNames = (sent: JsonObject, unknown: readonly string[], names: readonly string[]): Suggestions => {
  const suggested = new Map<string, unknown>()
  for (const name of unknown) {
    const known = knownName(name, names)
    if (known === undefined) continue
    const convert = conversions[known]
    const value = convert ? convert(sent[name], sent, name) : sent[name]
    suggested.set(known, known === 'order' ? joinOrder(suggested.get(known) ?? sent[known], value) : value)
  }
  return suggested
}

/** A token may send wide integers, which become `bigint`. */
export const jsonText = (value: unknown) =>
  JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : item))

/** Commas and the JSON of a filter stay readable. */
const parameterText = (value: unknown) => {
  if (typeof value === 'object' && !Array.isArray(value)) return jsonText(value)
  return encodeURIComponent(String(value)).replaceAll('%2C', ',')
}

/** The parts of a request that have names. */
export type NamedPart = 'query' | 'body'

const toText: Record<NamedPart, (name: string, value: unknown) => string> = {
  query: (name, value) => `${name}=${parameterText(value)}`,
  body: (name, value) => `"${name}": ${jsonText(value)}`
}

const SEPARATORS: Record<NamedPart, string> = { query: '&', body: ', ' }

/** Characters of a value. A hint does not repeat a longer one: a part of it would not work. */
export const MAX_SHOWN_LENGTH = 500

const isShown = (value: unknown) => value !== undefined && jsonText(value).length <= MAX_SHOWN_LENGTH

/** Returns a hint that shows what to send, with an example for each value that it cannot show; undefined for nothing. */
export const suggestionHint = (part: NamedPart, suggestions: Suggestions, properties: Properties) => {
  const areShown = [...suggestions.values()].every(isShown)
  const texts = [...suggestions].flatMap(([name, value]) => {
    const shown = isShown(value) ? value : properties[name]?.examples?.[0]
    return shown === undefined ? [] : toText[part](name, shown)
  })
  if (texts.length === 0) return undefined
  // Only a converted filter is shown as JSON: the example of the schema is a text.
  const end = part === 'query' && isShown(suggestions.get('filter')) ? ', percent-encoded.' : '.'
  return `${areShown ? 'Use' : 'For example:'} ${texts.join(SEPARATORS[part])}${end}`
}

/** Returns a hint with the names of all parameters. */
export const parametersHint = (names: readonly string[]) => `The parameters of this route: ${names.join(', ')}.`
