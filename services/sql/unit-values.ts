import { columnRef, identifier } from './identifiers.ts'
import { tokensOf } from './lexer.ts'
import { createSharedCache } from './shared-cache.ts'
import { isValue, type Param, type RowCondition, type Statement, type Unit, type UnitValue } from './statement.ts'

/** The table with values that later statements of the same unit use. It is empty after each unit. */
const TABLE = '_rowhouse_unit_values'

/** A field of a record that a unit stores for its later statements. */
export interface UsedField {
  readonly name: string
  readonly value: UnitValue
}

/** Stores the value of an SQL expression. */
export const storeValue = (stores: UnitValue, expression: string, params: readonly Param[] = []): Statement<Param> => ({
  sql: `INSERT INTO ${TABLE} (part, value) SELECT ?, ${expression}`,
  params,
  expect: 1,
  stores
})

/** Stores the value of a field. Fails if there is no such record. */
export const storeField = (
  { name, value }: UsedField,
  table: string,
  { where, params }: RowCondition
): Statement<Param> => ({
  sql: `INSERT INTO ${TABLE} (part, value) SELECT ?, ${columnRef(table, name)} FROM ${identifier(table)} WHERE ${where}`,
  params,
  expect: 1,
  stores: value
})

/** As the last statement of a unit. */
export const DELETE_UNIT_VALUES: Statement = { sql: `DELETE FROM ${TABLE}`, params: [] }

/** The plus removes the affinity of the column: a comparison then uses that of the other side, as for a parameter. */
const READ_VALUE = `(SELECT +value FROM ${TABLE} WHERE part = ?)`

/** Each combination of parameters that are stored values has a text of its own. */
const texts = createSharedCache<string>({
  max: 100,
  maxSize: 2 ** 18,
  sizeCalculation: (text, key) => text.length + key.length
})

/** Returns the text, in which a subquery replaces each parameter that is a stored value. */
const composeText = (sql: string, params: readonly Param[]) => {
  const pieces: string[] = []
  let start = 0
  const marks = tokensOf(sql).filter(({ text }) => text === '?')
  for (const [position, { index }] of marks.entries()) {
    if (isValue(params[position] as Param)) continue
    pieces.push(sql.slice(start, index), READ_VALUE)
    start = index + 1
  }
  return pieces.join('') + sql.slice(start)
}

const textOf = (sql: string, params: readonly Param[]) => {
  if (params.every(isValue)) return sql
  const shape = params.map((param) => (isValue(param) ? ' ' : '?')).join('') + sql
  const known = texts.get(shape)
  if (known !== undefined) return known
  const text = composeText(sql, params)
  texts.set(shape, text)
  return text
}

const hasValues = (statement: Statement<Param>): statement is Statement =>
  statement.stores === undefined && statement.params.every(isValue)

/** Returns the unit with values only: statements read what earlier ones have stored. */
export const toUnit = (statements: Unit<Param>): Unit => {
  if (statements.every(hasValues)) return statements
  const numbers = new Map<UnitValue, bigint>()
  const toValue = (param: Param) => (isValue(param) ? param : (numbers.get(param as UnitValue) as bigint))
  const unit = statements.map(({ stores, ...statement }): Statement => {
    if (stores) numbers.set(stores, BigInt(numbers.size))
    const params = stores ? [numbers.get(stores) as bigint, ...statement.params] : statement.params
    return { ...statement, sql: textOf(statement.sql, params), params: params.map(toValue) }
  })
  return [...unit, DELETE_UNIT_VALUES]
}
