import type { components } from '../../api/schema.d.ts'
import type { TableField } from '../../tables/queries.ts'
import { parseDraft } from '../fields/draft.ts'
import { kindOf } from '../fields/kind.ts'

export type Filter = components['schemas']['TableRecordFilter']

/** `hasValue` is `isNull: false`. */
export type Operator =
  | 'eq'
  | 'ne'
  | 'gt'
  | 'gte'
  | 'lt'
  | 'lte'
  | 'contains'
  | 'startsWith'
  | 'endsWith'
  | 'in'
  | 'notIn'
  | 'isNull'
  | 'hasValue'

export type Match = 'all' | 'any'

/** A condition as it is edited: its value is text. */
export interface Condition {
  readonly id: number
  readonly field: string
  readonly operator: Operator
  readonly text: string
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

const COMPARISONS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'] as const
const TEXTS = ['contains', 'startsWith', 'endsWith'] as const
const LISTS = ['in', 'notIn'] as const
const NULLS = ['isNull', 'hasValue'] as const

export const needsValue = (operator: Operator) => operator !== 'isNull' && operator !== 'hasValue'
export const isList = (operator: Operator) => operator === 'in' || operator === 'notIn'

/** The operators that make sense for a field. The first one is that of a new condition. */
export const operatorsOf = (field: TableField): readonly Operator[] => {
  switch (kindOf(field)) {
    case 'json':
    case 'bytes':
      return NULLS
    case 'boolean':
      return ['eq', 'ne', ...NULLS]
    case 'integer':
    case 'number':
      return [...COMPARISONS, ...LISTS, ...NULLS]
    default:
      return ['contains', ...COMPARISONS, ...TEXTS.slice(1), ...LISTS, ...NULLS]
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
  operator: operatorsOf(field)[0] ?? 'eq',
  text: kindOf(field) === 'boolean' ? 'true' : ''
})

const split = (text: string) => text.split(',').map((part) => part.trim())

/** Returns the value of a condition to send, or what is wrong with it. */
export const parseCondition = (field: TableField, { operator, text }: Condition) => {
  if (!needsValue(operator)) return { value: operator === 'isNull' }
  if (!isList(operator)) return parseDraft(field, text)
  const parsed = split(text).map((part) => parseDraft(field, part))
  return parsed.find((part) => 'error' in part) ?? { value: parsed.map((part) => 'value' in part && part.value) }
}

export type Invalid = ReadonlyMap<number, string>

/** Returns what is wrong with the conditions, by their id. */
export const findInvalid = (fields: readonly TableField[], { items }: FilterModel): Invalid => {
  const conditions = items.flatMap((item) => (isGroup(item) ? item.conditions : [item]))
  const errors = conditions.map((condition) => {
    const field = fields.find(({ name }) => name === condition.field)
    const parsed = field ? parseCondition(field, condition) : { value: null }
    return [condition.id, 'error' in parsed ? parsed.error : undefined] as const
  })
  return new Map(errors.filter((entry): entry is [number, string] => entry[1] !== undefined))
}

const toWhere = (fields: readonly TableField[], condition: Condition): Filter => {
  const field = fields.find(({ name }) => name === condition.field)
  const parsed = field && parseCondition(field, condition)
  const operator = needsValue(condition.operator) ? condition.operator : 'isNull'
  return { where: { [condition.field]: { [operator]: parsed && 'value' in parsed ? parsed.value : null } } }
}

const combine = (match: Match, filters: readonly Filter[]): Filter =>
  filters.length === 1 ? (filters[0] ?? {}) : match === 'all' ? { all: [...filters] } : { any: [...filters] }

/** The filter of the service for a model without invalid conditions. null: no condition. */
export const toFilter = (fields: readonly TableField[], { match, items }: FilterModel): Filter | null => {
  const filters = items.flatMap((item) => {
    if (!isGroup(item)) return [toWhere(fields, item)]
    const conditions = item.conditions.map((condition) => toWhere(fields, condition))
    return conditions.length === 0 ? [] : [combine(item.match, conditions)]
  })
  return filters.length === 0 ? null : combine(match, filters)
}

const textOf = (value: unknown): string => (Array.isArray(value) ? value.map(textOf).join(', ') : String(value))

const toConditions = ({ where = {} }: Filter): readonly Condition[] =>
  Object.entries(where).flatMap(([field, operators]) =>
    Object.entries(operators as Record<string, unknown>).map(([operator, value]) => ({
      id: newId(),
      field,
      operator: operator === 'isNull' && value === false ? 'hasValue' : (operator as Operator),
      text: operator === 'isNull' ? '' : textOf(value)
    }))
  )

const isFlat = ({ all, any, none }: Filter) => !all && !any && !none

const toItem = (filter: Filter): Condition | Group | null => {
  const { all, any, none, where } = filter
  if (isFlat(filter)) {
    const conditions = toConditions(filter)
    const [condition] = conditions
    return conditions.length === 1 && condition ? condition : { id: newId(), match: 'all', conditions }
  }
  const parts = all ?? any ?? []
  if (where || none || (all && any) || !parts.every(isFlat)) return null
  return { id: newId(), match: all ? 'all' : 'any', conditions: parts.flatMap(toConditions) }
}

/** Returns the model of a filter; null if it has parts that a model cannot have. */
export const toModel = (filter: Filter): FilterModel | null => {
  const { all, any, none } = filter
  if (none || (all && any)) return null
  const others = (all ?? any ?? []).map(toItem)
  if (others.some((item) => item === null)) return null
  const items = others.filter((item) => item !== null)
  const conditions = toConditions(filter)
  if (any && conditions.length > 0) {
    const group = toItem({ any })
    return group && { match: 'all', items: [...conditions, group] }
  }
  return { match: any ? 'any' : 'all', items: [...conditions, ...items] }
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
