import type { components } from '../../api/schema.d.ts'
import type { TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/records-filter.ts'
import { type Parsed, parseDraft, parseUntypedNumber } from '../fields/draft.ts'
import { kindOf } from '../fields/kind.ts'
import { toClaim } from './claim.ts'
import { splitList } from './list.ts'

export type Filter = components['schemas']['TableRecordFilter']

/** The rule of a role: a filter in which values can be claims, and which can follow foreign keys. */
export type Rule = components['schemas']['TokenRoleRows']

/** `hasValue` is `isNull: false`. */
export type Operator = keyof components['schemas']['TableRecordCondition'] | 'hasValue'

export type Match = 'all' | 'any'

/** A condition as it is edited: its value is text. */
export interface Condition {
  readonly id: number
  readonly field: string
  readonly operator: Operator
  readonly text: string
  /** Whether the text is a number in a column without a type, where 5 and "5" are different values. */
  readonly isNumber?: boolean
  /** Whether the text is the name of a claim, in a rule of a role. */
  readonly isClaim?: boolean
}

export interface Group {
  readonly id: number
  readonly match: Match
  readonly conditions: readonly Condition[]
}

/** A filter as it is edited: conditions, and groups of conditions. */
export interface FilterModel {
  readonly match: Match
  readonly items: readonly (Condition | Group)[]
}

export const isGroup = (item: Condition | Group): item is Group => 'conditions' in item

/** What each operator compares with, in the order of the choices. */
const OPERANDS: Readonly<Record<Operator, 'value' | 'text' | 'range' | 'list' | 'nothing'>> = {
  eq: 'value',
  ne: 'value',
  gt: 'value',
  gte: 'value',
  lt: 'value',
  lte: 'value',
  between: 'range',
  contains: 'text',
  startsWith: 'text',
  endsWith: 'text',
  in: 'list',
  notIn: 'list',
  isNull: 'nothing',
  hasValue: 'nothing'
}

const OPERATORS = Object.keys(OPERANDS) as readonly Operator[]

export const needsValue = (operator: Operator) => OPERANDS[operator] !== 'nothing'
export const isRange = (operator: Operator) => OPERANDS[operator] === 'range'
export const isList = (operator: Operator) => OPERANDS[operator] === 'list' || isRange(operator)

/** Whether a value can be a number or text. Parts of a text are always text. */
export const hasTypes = (field: TableField, operator: Operator) =>
  kindOf(field) === 'any' && needsValue(operator) && OPERANDS[operator] !== 'text'

/** Whether the value is one record of another table, for a field with a foreign key. */
export const isReference = ({ references }: TableField, operator: Operator) =>
  references !== undefined && (operator === 'eq' || operator === 'ne')

/** The operators that make sense for a field. The first one is that of a new condition. */
export const operatorsOf = (field: TableField): readonly Operator[] => {
  switch (kindOf(field)) {
    case 'json':
    case 'bytes':
      return OPERATORS.filter((operator) => !needsValue(operator))
    case 'boolean':
      return ['eq', 'ne', 'isNull', 'hasValue']
    case 'integer':
    case 'number':
      return OPERATORS.filter((operator) => OPERANDS[operator] !== 'text')
    default:
      return ['contains', ...OPERATORS.filter((operator) => operator !== 'contains')]
  }
}

let lastId = 0

export const newId = () => {
  lastId += 1
  return lastId
}

export const newCondition = (field: TableField): Condition => ({
  id: newId(),
  field: field.name,
  operator: field.references ? 'eq' : (operatorsOf(field)[0] ?? 'eq'),
  text: kindOf(field) === 'boolean' ? 'true' : ''
})

const parseClaim = (text: string): Parsed =>
  text.trim() === '' ? { error: texts.claimMissing } : { value: toClaim(text.trim()) }

/** Returns the value of a condition to send, or what is wrong with it. */
export const parseCondition = (field: TableField, { operator, text, isNumber, isClaim }: Condition): Parsed => {
  const parse = (part: string) => (isNumber ? parseUntypedNumber(part) : parseDraft(field, part))
  if (!needsValue(operator)) return { value: operator === 'isNull' }
  if (isClaim) return parseClaim(text)
  if (!isList(operator)) return parse(text)
  const parsed = splitList(text).map(parse)
  if (isRange(operator) && parsed.length !== 2) return { error: texts.rangeHint }
  return parsed.find((part) => 'error' in part) ?? { value: parsed.map((part) => 'value' in part && part.value) }
}

export type Invalid = ReadonlyMap<number, string>

const problemOf = (field: TableField, condition: Condition) => {
  if (!operatorsOf(field).includes(condition.operator)) return texts.noOperator
  const parsed = parseCondition(field, condition)
  return 'error' in parsed ? parsed.error : undefined
}

/** Returns the problems of the conditions, by their id. */
export const findInvalid = (fields: readonly TableField[], { items }: FilterModel): Invalid => {
  const conditions = items.flatMap((item) => (isGroup(item) ? item.conditions : [item]))
  const errors = conditions.map((condition) => {
    const field = fields.find(({ name }) => name === condition.field)
    return [condition.id, field ? problemOf(field, condition) : texts.noField(condition.field)] as const
  })
  return new Map(errors.filter((entry): entry is [number, string] => entry[1] !== undefined))
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isWhere = (value: unknown) => isObject(value) && Object.values(value).every(isObject)
const isFilters = (value: unknown) => Array.isArray(value) && value.every(isFilter)

/** Checks the shape. Whether fields and operators exist, the service checks. */
const isFilter = (value: unknown): value is Filter =>
  isObject(value) &&
  Object.entries(value).every(([key, part]) => {
    if (key === 'where') return isWhere(part)
    return !['all', 'any', 'none'].includes(key) || isFilters(part)
  })

/** Reads the filter of the URL. undefined: it is no filter. */
export const parseFilter = (text: string): Filter | undefined => {
  try {
    const filter: unknown = JSON.parse(text)
    return isFilter(filter) ? filter : undefined
  } catch {
    return undefined
  }
}
