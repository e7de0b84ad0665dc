import type { JsonType } from '../../schemas/table.ts'
import { kindOf } from '../model/kinds/kind-of.ts'
import type { Column, Structure } from '../model/table.ts'
import { type Dialect, tableGuard } from './dialect.ts'
import { columnRef, identifier } from './identifiers.ts'
import { type Statement, statement } from './statement.ts'

const FINITE = 'BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308'

const ofType = (type: string) => (value: string) => `typeof(${value}) = '${type}'`

const isJson = (value: string, type: string) =>
  `CASE WHEN typeof(${value}) = 'text' AND json_valid(${value}) THEN json_type(${value}) = '${type}' ELSE 0 END`

type KindCondition = (value: string, column: Column) => string

/**
 * By the name of a kind: whether a stored value has the JSON type of the kind. Integers beyond 2^53 count as numbers,
 * although JSON shows them as text. The kinds that accept texts and numbers are not here.
 */
const IS_OF_KIND: Record<string, KindCondition> = {
  integer: ofType('integer'),
  real: (value) => `typeof(${value}) = 'real' AND ${value} ${FINITE}`,
  numeric: (value) => `typeof(${value}) IN ('integer', 'real') AND ${value} ${FINITE}`,
  boolean: (value) => `typeof(${value}) = 'integer' AND ${value} IN (0, 1)`,
  text: ofType('text'),
  blob: ofType('blob'),
  json: (value, { jsonType }) => isJson(value, jsonType)
}

const isInteger = (value: string) =>
  `CASE typeof(${value}) WHEN 'integer' THEN 1
    WHEN 'real' THEN ${value} = CAST(${value} AS INTEGER) AND abs(${value}) <= 9007199254740991
    WHEN 'text' THEN CAST(CAST(${value} AS INTEGER) AS TEXT) = ${value} ELSE 0 END`

/** JSON has the syntax of numbers that SQL reads, too. */
const isReal = (value: string) =>
  `CASE typeof(${value}) WHEN 'real' THEN 1
    WHEN 'integer' THEN ${value} BETWEEN -9007199254740991 AND 9007199254740991
    WHEN 'text' THEN CASE WHEN json_valid(${value}) THEN abs(CAST(${value} AS REAL)) <=
      CASE json_type(${value}) WHEN 'integer' THEN 9007199254740991 WHEN 'real' THEN 1.7976931348623157e308 END END
    END IS 1`

/** By JSON type: whether a stored value can be converted to it without a loss. */
const IS_CONVERTIBLE_TO: Record<JsonType, (value: string) => string> = {
  integer: isInteger,
  number: isReal,
  boolean: (value) => `${value} IN (0, 1)`,
  string: (value) =>
    `CASE typeof(${value}) WHEN 'real' THEN CAST(CAST(${value} AS TEXT) AS REAL) = ${value} ELSE typeof(${value}) IN ('text', 'integer') END`,
  object: (value) => isJson(value, 'object'),
  array: (value) => isJson(value, 'array')
}

/**
 * Selects, in one scan, whether each column has a value that does not fit its kind: 1 if so, else 0 or null, as `c0`,
 * `c1`, … in the order of the columns. NULL fits every kind.
 */
export const findMisfitColumns = (
  table: string,
  columns: readonly Column[],
  rowid: string | null,
  dialect: Dialect
): Statement => {
  const selected = columns.map((column, index) => {
    const value = columnRef(table, column.name)
    const isOfKind = IS_OF_KIND[kindOf(column).name] as KindCondition
    return `max(CASE WHEN ${value} IS NULL OR (${isOfKind(value, column)}) THEN 0 ELSE 1 END) AS c${index}`
  })
  return statement(`SELECT ${selected.join(', ')} FROM ${identifier(table)} WHERE ${tableGuard(table, rowid, dialect)}`)
}

/** Characters of a value in a message. */
const MAX_SHOWN = 100

/** Returns an expression for a value as an SQL literal. */
const shownAs = (value: string) =>
  `quote(CASE WHEN typeof(${value}) IN ('text', 'blob') THEN substr(${value}, 1, ${MAX_SHOWN}) ELSE ${value} END)`

interface Searched extends Pick<Structure, 'key' | 'rowid'> {
  readonly name: string
}

const selectExample = (
  { name, key, rowid }: Searched,
  column: string,
  dialect: Dialect,
  isMisfit: (value: string) => string
): Statement => {
  const value = columnRef(name, column)
  const shown = key.map((part, index) => `${shownAs(columnRef(name, part))} AS k${index}`)
  return statement(
    `SELECT ${[...shown, `${shownAs(value)} AS value`].join(', ')} FROM ${identifier(name)}
    WHERE ${tableGuard(name, rowid, dialect)} AND (${isMisfit(value)}) LIMIT 1`
  )
}

/** Selects one record whose value does not fit the type: its key as `k0`, `k1`, …, and the `value`, as SQL literals. */
export const findMisfit = (table: Searched, column: string, jsonType: JsonType, dialect: Dialect): Statement =>
  selectExample(
    table,
    column,
    dialect,
    (value) => `${value} IS NOT NULL AND NOT (${IS_CONVERTIBLE_TO[jsonType](value)})`
  )

/** Selects one record without a value. */
export const findNull = (table: Searched, column: string, dialect: Dialect): Statement =>
  selectExample(table, column, dialect, (value) => `${value} IS NULL`)
