import {
  isDescendingName,
  isOffset,
  knownName,
  knownOperator,
  knownPart,
  knownValue
} from '../../schemas/other-names.ts'
import { type Operator, operators } from '../../schemas/query.ts'
import { isJsonObject, type JsonObject } from './json-object.ts'
import { splitPaths } from './names.ts'

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
  if (operator === undefined || isJsonObject(value)) return undefined
  if (value === null && (operator === 'eq' || operator === 'ne')) return { isNull: operator === 'eq' }
  if (operators[operator].operand === 'values') return { [operator]: [value].flat() }
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
export const suggestWhere = (sent: JsonObject) => {
  const entries = Object.entries(sent).map(([field, value]) => [field, convertCondition(value)] as const)
  return entries.some(([, condition]) => !condition) ? undefined : { where: Object.fromEntries(entries) }
}

/** Returns a list of filters; undefined if one of them has no equal here. */
const suggestParts = (sent: unknown): readonly JsonObject[] | undefined => {
  const filters = [sent].flat().map(suggestFilter)
  return filters.every((filter) => filter !== undefined) ? filters : undefined
}

/** Returns a part of a filter in the form of another service, such as `$or`; undefined if it has no equal here. */
export const suggestPart = (name: string, sent: unknown): JsonObject | undefined => {
  const part = knownPart(name)
  const filters = part && suggestParts(sent)
  return filters && { [String(part)]: filters }
}

const convertPart = ([name, part]: readonly [string, unknown]) => {
  if (name === 'where') return { where: part }
  return knownPart(name) ? suggestPart(name, part) : suggestWhere({ [name]: part })
}

/** Returns the filter for one in the form of another service; undefined if a part of it has no equal here. */
export const suggestFilter = (sent: unknown): JsonObject | undefined => {
  if (!isJsonObject(sent)) return undefined
  if (!Object.keys(sent).some((name) => name === 'where' || knownPart(name))) return suggestWhere(sent)
  const parts = Object.entries(sent).map(convertPart)
  if (!parts.every((part) => part !== undefined)) return undefined
  return parts.length === 1 ? parts[0] : { all: parts }
}

/** Returns the names of fields. Those of other tables, such as `customers(name)`, are left out. */
const toNames = (sent: unknown) => {
  const sentNames = typeof sent === 'string' ? splitPaths(sent) : sent
  if (!Array.isArray(sentNames)) return undefined
  // The fields of a new table.
  if (sentNames.length > 0 && sentNames.every(isJsonObject)) return sentNames
  const names = sentNames.filter((name) => !String(name).includes('('))
  const areNames = names.length > 0 && names.every((name) => typeof name === 'string' && !['', '*'].includes(name))
  return areNames ? names : undefined
}

const toPositive = (sent: unknown) => (/^[1-9]\d{0,8}$/.test(String(sent)) ? Number(sent) : undefined)

/** `count` has no field here: `{"count": "*"}`. */
const toFunction = ([name, field]: [string, unknown]) => [name, { [name]: name === 'count' ? true : field }] as const

/** Returns the values to compute. `{"sum": "price"}` has no name for its value here, so it gets that of the function. */
const toCompute = (sent: unknown) => {
  if (!isJsonObject(sent) || Object.values(sent).every(isJsonObject)) return sent
  return Object.fromEntries(Object.entries(sent).map(toFunction))
}

/** Convert a value to the form that a parameter or a property of this name takes. undefined: it cannot be converted. */
const conversions: Readonly<Record<string, (value: unknown, name: string, sent: JsonObject) => unknown>> = {
  size: toPositive,
  page: toPositive,
  cursor: () => '',
  order: (value, name) => (isDescendingName(name) ? `-${String(value)}` : [value].flat().join()),
  fields: toNames,
  // The field that refers to a table follows from the table: services/records/read/parameters.ts.
  expand: () => undefined,
  groupBy: toNames,
  compute: toCompute,
  q: (value) => (typeof value === 'string' ? value.replaceAll(/[%*]/g, '') : undefined),
  filter: suggestFilter,
  jsonType: (value) => (typeof value === 'string' ? knownValue(value) : undefined),
  count: (value) => (['number', 'string'].includes(typeof value) ? value : undefined),
  permissions: (_value, _name, { tables = '*', actions = 'read' }) => ({
    tables: [tables].flat(),
    actions: [actions].flat()
  })
}

const isDirection = (text: unknown) => /^(?:asc|desc)$/i.test(String(text))

/** Joins the parts of an order. A direction alone, such as `_order=desc`, belongs to the field of another parameter. */
const joinOrder = (...parts: readonly unknown[]) =>
  parts
    .filter((part) => part !== undefined)
    .sort((a, b) => Number(isDirection(a)) - Number(isDirection(b)))
    .join()
    .replace(/^([^-+,:\s][^,:\s]*),desc$/i, '-$1')

/** What to send. */
export interface Suggestions {
  /** By the names of parameters or properties. undefined: a value that is not known. */
  readonly values: ReadonlyMap<string, unknown>
  /** Sentences about these values. */
  readonly notes: readonly string[]
}

const DEFAULT_SIZE = 20
/** The default of MAX_PAGE_SIZE. */
const MAX_SIZE = 1000

const CURSOR_NOTE = 'Send `cursor` empty for the first page, then `next` of the previous response.'

/** Returns the maximum size, at most `limit`, of which the offset is a multiple. */
const sizeFor = (offset: number, limit: number): number => {
  const size = Math.min(limit, MAX_SIZE)
  return offset % size === 0 ? size : sizeFor(offset, size - 1)
}

/** Returns the size and the page of the records after an offset. The page can have fewer records than the limit. */
const pageAt = (sent: unknown, limit: number): Suggestions => {
  if (!/^\d{1,9}$/.test(String(sent))) return { values: new Map([['page', undefined]]), notes: [] }
  const offset = Number(sent)
  const size = sizeFor(offset, limit)
  const ownSize: [string, number][] = size === DEFAULT_SIZE ? [] : [['size', size]]
  const note = `A page begins at a multiple of its size, so this one has the first ${size} of ${limit} records.`
  return { values: new Map([...ownSize, ['page', offset / size + 1]]), notes: size === limit ? [] : [note] }
}

/** Adds the page of an offset, or the cursor, and a note about it. */
const addPosition = (suggested: Map<string, unknown>, sent: JsonObject, offset: string | undefined): Suggestions => {
  if (offset === undefined || !suggested.has('page'))
    return { values: suggested, notes: suggested.has('cursor') ? [CURSOR_NOTE] : [] }
  suggested.delete('page')
  const limit = toPositive(suggested.get('size') ?? sent.size) ?? DEFAULT_SIZE
  const { values, notes } = pageAt(sent[offset], limit)
  return { values: new Map([...suggested, ...values]), notes }
}

/** Returns what to send instead of each of these names that has another name here. `names`: the known names. */
export const suggestNames = (sent: JsonObject, unknown: readonly string[], names: readonly string[]): Suggestions => {
  const suggested = new Map<string, unknown>()
  for (const name of unknown) {
    const known = knownName(name, names)
    if (known === undefined) continue
    const convert = conversions[known]
    const value = convert ? convert(sent[name], name, sent) : sent[name]
    suggested.set(known, known === 'order' ? joinOrder(suggested.get(known) ?? sent[known], value) : value)
  }
  return addPosition(suggested, sent, unknown.find(isOffset))
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
export const suggestionHint = (part: NamedPart, { values, notes }: Suggestions, properties: Properties) => {
  const areShown = [...values.values()].every(isShown)
  const texts = [...values].flatMap(([name, value]) => {
    const shown = isShown(value) ? value : properties[name]?.examples?.[0]
    return shown === undefined ? [] : toText[part](name, shown)
  })
  if (texts.length === 0) return notes.length === 0 ? undefined : notes.join(' ')
  // Only a converted filter is shown as JSON: the example of the schema is a text.
  const end = part === 'query' && isShown(values.get('filter')) ? ', percent-encoded.' : '.'
  return [`${areShown ? 'Use' : 'For example:'} ${texts.join(SEPARATORS[part])}${end}`, ...notes].join(' ')
}

/** Returns a hint with the names of all parameters. */
export const parametersHint = (names: readonly string[]) => `The parameters of this route: ${names.join(', ')}.`
