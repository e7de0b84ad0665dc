import { knownPart } from '../../../schemas/other-names.ts'
import {
  MAX_CONDITIONS,
  MAX_FILTER_DEPTH,
  MAX_VALUES,
  type Operand,
  type Operator,
  operators
} from '../../../schemas/query.ts'
import { suggestName } from '../../../schemas/similar-names.ts'
import type { ForeignKey } from '../../../schemas/table.ts'
import { excerpt, invalid, pointer, type Violation } from '../../model/errors.ts'
import { isJsonObject } from '../../model/json-object.ts'
import { kindOf } from '../../model/kinds/kind-of.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import {
  jsonText,
  MAX_SHOWN_LENGTH,
  suggestCondition,
  suggestOperator,
  suggestPart,
  suggestWhere
} from '../../model/suggestions.ts'
import type { ColumnType } from '../../model/table.ts'
import { checkValue } from '../../model/values.ts'
import {
  allOf,
  anyOf,
  type Condition,
  compare,
  differs,
  isIn,
  isNotIn,
  isNull,
  matchesText,
  noneOf,
  onJoinedRecord
} from '../../sql/conditions.ts'
import { hasParent } from '../../sql/foreign-keys.ts'
import type { Access } from '../access/access.ts'
import type { Joins } from './joins.ts'

/** A column that a condition may compare, under its name in SQL. */
interface ComparedColumn extends ColumnType {
  readonly name: string
}

/** What conditions may compare. */
export interface ComparedColumns {
  /** The table of the columns, or its alias in the statement. */
  readonly table: { readonly name: string }
  readonly integers: Access['integers']
  /** The columns, by their names in the request. */
  readonly columns: ReadonlyMap<string, ComparedColumn>
  /** For names such as `customer.city`. Absent: conditions name columns of the table only. */
  readonly joinField?: Joins['joinField']
  /** For rules of roles: returns the parent of a foreign key, or undefined. Absent: `via` is unknown. */
  readonly findParent?: (fields: string) => Parent | undefined
}

/** The table to which a foreign key refers. */
export interface Parent {
  readonly key: ForeignKey
  /** The columns of the parent, under an alias. */
  readonly compared: ComparedColumns
}

const TEXT_HINT = '`contains`, `startsWith` and `endsWith` are for text fields.'
const PART_HINT =
  'Conditions on fields belong in `where`, for example { "where": { "price": { "eq": 5 } } }. `all`, `any` and `none` are lists of filters.'
const NULL_HINT = 'To find records without a value, use { "isNull": true }.'

/** A condition on one column, in a part of the filter. */
interface Term {
  readonly compared: ComparedColumns
  readonly column: ComparedColumn
  /** The JSON Pointer of the operator. */
  readonly path: string
}

const fail = (path: string, { code, message, subPath = '' }: Violation, hint?: string) =>
  invalid([{ path: path + subPath, code, message: `'${(path + subPath).slice(1)}' ${message}.` }], hint)

const notAnObject = (path: string, hint?: string) => fail(path, { code: 'type', message: 'must be an object' }, hint)

/** @throws VALIDATION_FAILED */
const asObject = (path: string, value: unknown) => {
  if (isJsonObject(value)) return value
  throw notAnObject(path)
}

/** @throws VALIDATION_FAILED */
const asArray = (path: string, value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value
  throw fail(path, { code: 'type', message: 'must be an array' })
}

/** Returns the stored form of a value, under the rules of a create. @throws VALIDATION_FAILED */
const readValue = ({ compared, column }: Term, path: string, value: unknown): SqlValue => {
  if (value === null) throw fail(path, { code: 'type', message: 'must not be null' }, NULL_HINT)
  const checked = checkValue(column, value, compared.integers)
  if ('violation' in checked) throw fail(path, checked.violation)
  return checked.value
}

const readValues = (term: Term, value: unknown): readonly SqlValue[] => {
  const values = asArray(term.path, value)
  if (values.length > MAX_VALUES) {
    throw fail(term.path, { code: 'length', message: `must have at most ${MAX_VALUES} values` })
  }
  return values.map((item, index) => readValue(term, `${term.path}/${index}`, item))
}

/** The first and the last value. */
const readRange = (term: Term, value: unknown): readonly [SqlValue, SqlValue] => {
  const [first, last, ...others] = readValues(term, value)
  if (first === undefined || last === undefined || others.length > 0) {
    throw fail(term.path, { code: 'length', message: 'must have two values, the first and the last one' })
  }
  return [first, last]
}

const readText = ({ column, path }: Term, value: unknown): string => {
  if (!kindOf(column).isTextual) {
    throw fail(path, { code: 'operator', message: 'compares text, and the field has no text' }, TEXT_HINT)
  }
  if (typeof value !== 'string') throw fail(path, { code: 'type', message: 'must be a string' })
  if (value === '') throw fail(path, { code: 'length', message: 'must not be empty' })
  return value
}

const readBoolean = ({ path }: Term, value: unknown): boolean => {
  if (typeof value === 'boolean') return value
  throw fail(path, { code: 'type', message: 'must be true or false' })
}

const readOperand = {
  value: (term: Term, value: unknown) => readValue(term, term.path, value),
  range: readRange,
  values: readValues,
  text: readText,
  boolean: readBoolean
} satisfies Record<Operand, (term: Term, value: unknown) => unknown>

/** Makes the condition of an operator from the operand that its declaration names. */
type MakeCondition<O extends Operator> = (
  table: ComparedColumns['table'],
  column: ComparedColumn,
  operand: ReturnType<(typeof readOperand)[(typeof operators)[O]['operand']]>
) => Condition

const makeCondition: { readonly [O in Operator]: MakeCondition<O> } = {
  eq: (table, column, value) => compare(table, column, 'eq', value),
  ne: differs,
  gt: (table, column, value) => compare(table, column, 'gt', value),
  gte: (table, column, value) => compare(table, column, 'gte', value),
  lt: (table, column, value) => compare(table, column, 'lt', value),
  lte: (table, column, value) => compare(table, column, 'lte', value),
  between: (table, column, [first, last]) =>
    allOf([compare(table, column, 'gte', first), compare(table, column, 'lte', last)]),
  in: isIn,
  notIn: isNotIn,
  isNull,
  contains: (table, column, text) => matchesText(table, column, 'contains', text),
  startsWith: (table, column, text) => matchesText(table, column, 'startsWith', text),
  endsWith: (table, column, text) => matchesText(table, column, 'endsWith', text)
}

const readTerm = (term: Term, operator: Operator, value: unknown): Condition => {
  const operand = readOperand[operators[operator].operand](term, value)
  // TypeScript cannot relate the operand to the operator when both vary. This is the boundary function.
  return (makeCondition[operator] as MakeCondition<Operator>)(term.compared.table, term.column, operand as never)
}

const OPERATORS = Object.keys(operators)
const isOperator = (name: string): name is Operator => Object.hasOwn(operators, name)

/** Returns the hint for a part of a filter, if it is short enough to be shown. */
const toUse = (part: object | undefined) => {
  const text = part && jsonText(part)
  return text && text.length <= MAX_SHOWN_LENGTH ? `Use ${text}.` : undefined
}

const conditionHint = (value: unknown) =>
  ['A condition has an operator.', toUse(suggestCondition(value)) ?? []].flat().join(' ')

const unknownKey = (path: string, name: string, what: string, hint: string | undefined) =>
  fail(path + pointer(excerpt(name)), { code: 'unknown', message: `is not ${what}` }, hint)

const unknownOperator = (path: string, name: string, operand: unknown) =>
  unknownKey(
    path,
    name,
    'an operator of a condition',
    toUse(suggestOperator(name, operand)) ?? suggestName(name, OPERATORS)
  )

/** Reads conditions of one request, and counts them. `what`: a column in messages. */
const createReader = (compared: ComparedColumns, what: string) => {
  let conditions = 0

  const countCondition = (path: string) => {
    conditions += 1
    if (conditions > MAX_CONDITIONS) {
      throw fail(path, { code: 'length', message: `exceeds the limit of ${MAX_CONDITIONS} conditions in a filter` })
    }
  }

  /** An empty part counts as a condition: SQLite compiles it, too. */
  const countIfEmpty = (path: string, { length }: readonly unknown[]) => {
    if (length === 0) countCondition(path)
  }

  const entriesOf = (path: string, value: unknown) => {
    const entries = Object.entries(asObject(path, value))
    countIfEmpty(path, entries)
    return entries
  }

  const readField = (path: string, name: string, value: unknown): Condition => {
    const fieldPath = path + pointer(name)
    const own = compared.columns.get(name)
    const joined = own ? undefined : compared.joinField?.(name, fieldPath)
    const column = own ?? joined?.column
    if (!column) throw unknownKey(path, name, what, suggestName(name, compared.columns.keys()))
    if (!isJsonObject(value)) throw notAnObject(fieldPath, conditionHint(value))
    const table = joined ? { name: joined.alias } : compared.table
    const terms = entriesOf(fieldPath, value).map(([operator, operand]) => {
      if (!isOperator(operator)) throw unknownOperator(fieldPath, operator, operand)
      countCondition(path)
      return readTerm({ compared: { ...compared, table }, column, path: `${fieldPath}/${operator}` }, operator, operand)
    })
    return joined ? onJoinedRecord(allOf(terms)) : allOf(terms)
  }

  const readWhere = (path: string, value: unknown): Condition =>
    allOf(entriesOf(path, value).map(([name, condition]) => readField(path, name, condition)))

  const readList = (path: string, value: unknown, depth: number): readonly Condition[] => {
    if (depth === MAX_FILTER_DEPTH) {
      throw fail(path, {
        code: 'depth',
        message: `is nested deeper than ${MAX_FILTER_DEPTH} levels of 'all', 'any' and 'none'`
      })
    }
    const list = asArray(path, value)
    countIfEmpty(path, list)
    return list.map((item, index) => readFilter(`${path}/${index}`, item, depth + 1))
  }

  const readParent = (path: string, fields: string, rule: unknown): Condition => {
    const parent = compared.findParent?.(fields)
    if (!parent) throw unknownKey(path, fields, 'a foreign key of this table', undefined)
    countCondition(path)
    const condition = createReader(parent.compared, what).readFilter(path + pointer(fields), rule, 0)
    return hasParent(compared.table, parent.key, parent.compared.table.name, condition)
  }

  const readVia = (path: string, value: unknown): Condition =>
    allOf(entriesOf(path, value).map(([fields, rule]) => readParent(path, fields, rule)))

  const parts: Readonly<Record<string, (path: string, value: unknown, depth: number) => Condition>> = {
    ...(compared.findParent && { via: readVia }),
    where: readWhere,
    all: (path, value, depth) => allOf(readList(path, value, depth)),
    any: (path, value, depth) => anyOf(readList(path, value, depth)),
    none: (path, value, depth) => noneOf(readList(path, value, depth))
  }

  const unknownPart = (path: string, name: string, part: unknown) => {
    const where = compared.columns.has(name) ? suggestWhere({ [name]: part }) : undefined
    const known = knownPart(name)
    const similar = known ? `Use '${known}', with a list of filters.` : suggestName(name, Object.keys(parts))
    const hint = toUse(where ?? suggestPart(name, part)) ?? similar ?? PART_HINT
    return unknownKey(path, name, 'a part of a filter', hint)
  }

  const readFilter = (path: string, value: unknown, depth: number): Condition => {
    return allOf(
      entriesOf(path, value).map(([name, part]) => {
        const read = Object.hasOwn(parts, name) ? parts[name] : undefined
        if (!read) throw unknownPart(path, name, part)
        return read(`${path}/${name}`, part, depth)
      })
    )
  }

  return { readFilter, readWhere }
}

/**
 * Returns the condition of a filter on the visible fields, and on those of other records if `joinField` is given.
 * @throws VALIDATION_FAILED with the path of the first problem, ACTION_NOT_ALLOWED
 */
export const readFilter = (
  { table, integers, columns }: Access,
  filter: unknown,
  joinField?: Joins['joinField']
): Condition => {
  const compared = { table, integers, columns, ...(joinField && { joinField }) }
  return createReader(compared, 'a field of this table').readFilter('/filter', filter, 0)
}

/** Returns the condition of a rule of a role, whose claims are replaced. @throws VALIDATION_FAILED */
export const readRule = (compared: ComparedColumns, rule: unknown): Condition =>
  createReader(compared, 'a field of this table').readFilter('/rows', rule, 0)

/** Returns the condition of `having`. `compared`: the computed values. @throws VALIDATION_FAILED */
export const readHaving = (compared: ComparedColumns, having: unknown): Condition =>
  createReader(compared, 'a name of `compute`').readWhere('/having', having)
