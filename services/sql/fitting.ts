import type { JsonType } from '../../schemas/table.ts'
import type { Structure } from '../model/table.ts'
import type { Dialect } from './dialect.ts'
import { columnRef, identifier } from './identifiers.ts'
import type { Statement } from './statement.ts'
import { joinTerms } from './terms.ts'

const isJson = (value: string, type: string) =>
  `CASE WHEN typeof(${value}) = 'text' AND json_valid(${value}) THEN json_type(${value}) = '${type}' ELSE 0 END`

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

/** By JSON type: whether a stored value can have it without a loss. */
const FITS: Record<JsonType, (value: string) => string> = {
  integer: isInteger,
  number: isReal,
  boolean: (value) => `${value} IN (0, 1)`,
  string: (value) =>
    `CASE typeof(${value}) WHEN 'real' THEN CAST(CAST(${value} AS TEXT) AS REAL) = ${value} ELSE typeof(${value}) IN ('text', 'integer') END`,
  object: (value) => isJson(value, 'object'),
  array: (value) => isJson(value, 'array')
}

/** Characters of a value in a message. */
const MAX_SHOWN = 100

/** Returns an expression for a value as an SQL literal. */
const shownAs = (value: string) =>
  `quote(CASE WHEN typeof(${value}) IN ('text', 'blob') THEN substr(${value}, 1, ${MAX_SHOWN}) ELSE ${value} END)`

const selectExample = (
  table: string,
  { key, rowid }: Pick<Structure, 'key' | 'rowid'>,
  dialect: Dialect,
  column: string,
  isMisfit: string
): Statement => {
  const shown = key.map((name, index) => `${shownAs(columnRef(table, name))} AS k${index}`)
  const value = `${shownAs(columnRef(table, column))} AS value`
  const guard = dialect.scanGuard(rowid === null ? null : columnRef(table, rowid))
  return {
    sql: `SELECT ${[...shown, value].join(', ')} FROM ${identifier(table)} WHERE ${guard} AND (${isMisfit}) LIMIT 1`,
    params: []
  }
}

interface Searched extends Pick<Structure, 'key' | 'rowid'> {
  readonly name: string
}

/** Selects one record whose value does not fit the type: its key as `k0`, `k1`, …, and the `value`, as SQL literals. */
export const findUnfitting = (table: Searched, column: string, jsonType: JsonType, dialect: Dialect): Statement => {
  const value = columnRef(table.name, column)
  const isMisfit = `${value} IS NOT NULL AND NOT (${FITS[jsonType](value)})`
  return selectExample(table.name, table, dialect, column, isMisfit)
}

/** Selects one record without a value. */
export const findNull = (table: Searched, column: string, dialect: Dialect): Statement =>
  selectExample(table.name, table, dialect, column, `${columnRef(table.name, column)} IS NULL`)

/** Selects the `rows` of a table, and the `bytes` of their values. */
export const weighTable = (
  table: string,
  columns: readonly string[],
  rowid: string | null,
  dialect: Dialect
): Statement => {
  const widths = columns.map((name) => `ifnull(octet_length(${columnRef(table, name)}), 0)`)
  const guard = dialect.scanGuard(rowid === null ? null : columnRef(table, rowid))
  return {
    sql: `SELECT count(*) AS rows, ifnull(sum(${joinTerms(widths, '+')}), 0) AS bytes FROM ${identifier(table)} WHERE ${guard}`,
    params: []
  }
}
