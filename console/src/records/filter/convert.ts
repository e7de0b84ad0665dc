import type { TableField } from '../../tables/queries.ts'
import { kindOf } from '../fields/kind.ts'
import { claimOf, toClaim } from './claim.ts'
import {
  type Condition,
  type Filter,
  type FilterModel,
  type Group,
  isGroup,
  isList,
  type Match,
  needsValue,
  newId,
  type Operator,
  operatorsOf,
  parseCondition,
  type Rule
} from './filter.ts'
import { joinList } from './list.ts'

/** The value of a condition that is not valid. */
const rawOf = ({ text, isClaim }: Condition) => (isClaim ? toClaim(text) : text)

const toWhere = (fields: readonly TableField[], condition: Condition): Filter => {
  const field = fields.find(({ name }) => name === condition.field)
  const parsed = field && parseCondition(field, condition)
  const operator = needsValue(condition.operator) ? condition.operator : 'isNull'
  return { where: { [condition.field]: { [operator]: parsed && 'value' in parsed ? parsed.value : rawOf(condition) } } }
}

const combine = (match: Match, filters: readonly Filter[]): Filter =>
  filters.length === 1 ? (filters[0] ?? {}) : match === 'all' ? { all: [...filters] } : { any: [...filters] }

/** The filter of the service for a model. Invalid values stay text. null: no condition. */
export const toFilter = (fields: readonly TableField[], { match, items }: FilterModel): Filter | null => {
  const filters = items.flatMap((item) => {
    if (!isGroup(item)) return [toWhere(fields, item)]
    const conditions = item.conditions.map((condition) => toWhere(fields, condition))
    return conditions.length === 0 ? [] : [combine(item.match, conditions)]
  })
  return filters.length === 0 ? null : combine(match, filters)
}

const toText = (operator: Operator, value: unknown) => {
  if (!needsValue(operator)) return ''
  return isList(operator) && Array.isArray(value) ? joinList(value.map(String)) : String(value)
}

const isObject = (value: unknown) => typeof value === 'object'

const valuesOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** Whether the service takes both values as the same. In a column without a type, 5 and "5" differ. */
const isSame = (field: TableField, one: unknown, other: unknown) => {
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [ones, others] = [valuesOf(one), valuesOf(other)]
  const isSameText = (value: unknown, index: number) => !isObject(value) && String(value) === String(others[index])
  const isEqual = (value: unknown, index: number) => value === others[index]
  return ones.length === others.length && ones.every(kindOf(field) === 'any' ? isEqual : isSameText)
}

/** Returns the condition; null if it would become another one when it is applied. */
const toCondition = (field: TableField | undefined, name: string, value: unknown): Condition | null => {
  const operator = name === 'isNull' && value === false ? 'hasValue' : (name as Operator)
  if (!field || !operatorsOf(field).includes(operator)) return null
  const claim = needsValue(operator) ? claimOf(value) : undefined
  if (claim !== undefined) return { id: newId(), field: field.name, operator, text: claim, isClaim: true }
  const isNumber = kindOf(field) === 'any' && needsValue(operator) && valuesOf(value).every(isNumeric)
  const text = toText(operator, value)
  const condition = { id: newId(), field: field.name, operator, text, ...(isNumber && { isNumber }) }
  const parsed = parseCondition(field, condition)
  return 'value' in parsed && isSame(field, value, parsed.value) ? condition : null
}

const isNumeric = (value: unknown) => typeof value === 'number'

/** Returns the values; null if one of them is null. */
const allOrNull = <T>(values: readonly (T | null)[]): readonly T[] | null => {
  const known = values.filter((value) => value !== null)
  return known.length === values.length ? known : null
}

const toConditions = (fields: readonly TableField[], { where = {} }: Rule) =>
  allOrNull(
    Object.entries(where).flatMap(([name, operators]) => {
      const field = fields.find((field) => field.name === name)
      return Object.entries(operators as Record<string, unknown>).map(([operator, value]) =>
        toCondition(field, operator, value)
      )
    })
  )

const isFlat = ({ all, any, none, via }: Rule) => !all && !any && !none && !via

/** Each part of a group is one condition, except that `all` can join those of several parts. */
const toGroup = (fields: readonly TableField[], match: Match, parts: readonly Rule[]): Group | null => {
  const conditions = parts.every(isFlat) ? allOrNull(parts.map((part) => toConditions(fields, part))) : null
  if (!conditions || conditions.length === 0) return null
  const isRight = (part: readonly Condition[]) => part.length === 1 || (match === 'all' && part.length > 1)
  return conditions.every(isRight) ? { id: newId(), match, conditions: conditions.flat() } : null
}

const toItem = (fields: readonly TableField[], filter: Rule): Condition | Group | null => {
  const { all, any, none, via, where } = filter
  if (isFlat(filter)) {
    const group = toGroup(fields, 'all', [filter])
    return group?.conditions.length === 1 ? (group.conditions[0] ?? null) : group
  }
  if (where || none || via || (all && any)) return null
  return all ? toGroup(fields, 'all', all) : toGroup(fields, 'any', any ?? [])
}

/** Returns the model of a rule; null if it has parts that a model cannot have. */
export const toRuleModel = (fields: readonly TableField[], rule: Rule): FilterModel | null => {
  const { all, any, none, via } = rule
  const conditions = toConditions(fields, rule)
  if (!conditions || none || via || (all && any) || any?.length === 0) return null
  if (any && conditions.length > 0) {
    const group = toGroup(fields, 'any', any)
    return group && { match: 'all', items: [...conditions, group] }
  }
  const items = allOrNull((all ?? any ?? []).map((part) => toItem(fields, part)))
  return items && { match: any ? 'any' : 'all', items: [...conditions, ...items] }
}

const hasClaim = (item: Condition | Group): boolean =>
  isGroup(item) ? item.conditions.some(hasClaim) : item.isClaim === true

/** Returns the model of a filter, which has no claims; null if it has parts that a model cannot have. */
export const toModel = (fields: readonly TableField[], filter: Filter): FilterModel | null => {
  const model = toRuleModel(fields, filter)
  return model?.items.some(hasClaim) ? null : model
}
