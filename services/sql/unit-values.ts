import { LRUCache } from 'lru-cache'
import { columnRef, identifier } from './identifiers.ts'
import { tokensOf } from './lexer.ts'
import type { Param, Statement, StoredValue, Unit, UnitParam } from './statement.ts'

/** The table with values that later statements of the same unit use. It is empty after each unit. */
const TABLE = '_rowhouse_unit_values'

/** A field of a record that a unit stores for its later statements, and the number of the value. */
export interface UsedField {
  readonly name: string
  readonly part: number
}

/** The fields of a record that later statements use. */
export interface UsedFields {
  readonly fields: readonly UsedField[]
  /** Returns a number that no other value of the unit has. */
  readonly newPart: () => number
}

/** The record that has the fields, as a condition. */
interface StoredRecord {
  readonly table: string
  readonly where: string
  readonly params: readonly Param[]
}

/** Stores the value of an SQL expression. */
export const storeValue = (part: number, expression: string): Statement => ({
  sql: `INSERT INTO ${TABLE} (part, value) SELECT ?, ${expression}`,
  params: [BigInt(part)],
  expect: 1
})

/** Stores the value of a field. Fails if there is no such record. */
export const storeField = ({ name, part }: UsedField, { table, where, params }: StoredRecord): Statement<Param> => ({
  sql: `INSERT INTO ${TABLE} (part, value) SELECT ?, ${columnRef(table, name)} FROM ${identifier(table)} WHERE ${where}`,
  params: [BigInt(part), ...params],
  expect: 1
})

/** As the last statement of a unit. */
export const DELETE_UNIT_VALUES: Statement = { sql: `DELETE FROM ${TABLE}`, params: [] }

/** The plus removes the affinity of the column: a comparison then uses that of the other side, as for a parameter. */
const READ_VALUE = `(SELECT +value FROM ${TABLE} WHERE part = ?)`

/** Each combination of parameters that are stored values has a text of its own. */
const texts = new LRUCache<string, string>({
  max: 100,
  maxSize: 2 ** 18,
  sizeCalculation: (text, key) => text.length + key.length
})

const isStored = (param: Param): param is StoredValue => typeof param === 'object' && param !== null && 'part' in param

const composeText = (sql: string, params: readonly Param[]) => {
  const pieces: string[] = []
  let start = 0
  const marks = tokensOf(sql).filter(({ text }) => text === '?')
  for (const [position, { index }] of marks.entries()) {
    if (!isStored(params[position] as Param)) continue
    pieces.push(sql.slice(start, index), READ_VALUE)
    start = index + 1
  }
  return pieces.join('') + sql.slice(start)
}

const withStoredValues = ({ params, ...statement }: Statement<Param>): Statement<UnitParam> => {
  const shape = params.map((param) => (isStored(param) ? '?' : ' ')).join('') + statement.sql
  const known = texts.get(shape)
  const sql = known ?? composeText(statement.sql, params)
  if (known === undefined) texts.set(shape, sql)
  return { ...statement, sql, params: params.map((param) => (isStored(param) ? BigInt(param.part) : param)) }
}

const isReady = (statement: Statement<Param>): statement is Statement<UnitParam> => !statement.params.some(isStored)

/** Returns the unit, in which statements read the values that earlier ones have stored. */
export const toUnit = (statements: Unit<Param>): Unit => {
  if (statements.every(isReady)) return statements
  return [...statements.map((one) => (isReady(one) ? one : withStoredValues(one))), DELETE_UNIT_VALUES]
}
