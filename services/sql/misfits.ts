import { kindOf } from '../model/kinds/kind-of.ts'
import type { Column } from '../model/table.ts'
import type { Dialect } from './dialect.ts'
import { columnRef, identifier } from './identifiers.ts'
import type { Statement } from './statement.ts'

const FINITE = 'BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308'

const ofType = (type: string) => (value: string) => `typeof(${value}) = '${type}'`

type Fits = (value: string, column: Column) => string

/**
 * By the name of a kind: whether a stored value has the JSON type of the kind. Integers beyond 2^53 count as numbers,
 * although JSON shows them as text. The kinds that accept texts and numbers are not here.
 */
const fits: Record<string, Fits> = {
  integer: ofType('integer'),
  real: (value) => `typeof(${value}) = 'real' AND ${value} ${FINITE}`,
  numeric: (value) => `typeof(${value}) IN ('integer', 'real') AND ${value} ${FINITE}`,
  boolean: (value) => `typeof(${value}) = 'integer' AND ${value} IN (0, 1)`,
  text: ofType('text'),
  blob: ofType('blob'),
  json: (value, { jsonType }) =>
    `CASE WHEN typeof(${value}) = 'text' AND json_valid(${value}) THEN json_type(${value}) = '${jsonType}' ELSE 0 END`
}

const isMisfit = (table: string, column: Column) => {
  const value = columnRef(table, column.name)
  const fit = fits[kindOf(column).name] as Fits
  return `max(CASE WHEN ${value} IS NULL OR (${fit(value, column)}) THEN 0 ELSE 1 END)`
}

/**
 * Selects, in one scan, whether each column has a value that does not fit its kind: 1 if so, else 0 or null, as `c0`,
 * `c1`, … in the order of the columns. NULL fits every kind.
 */
export const findMisfits = (
  table: string,
  columns: readonly Column[],
  rowid: string | null,
  dialect: Dialect
): Statement => {
  const selected = columns.map((column, index) => `${isMisfit(table, column)} AS c${index}`)
  const guard = dialect.scanGuard(rowid === null ? null : columnRef(table, rowid))
  return { sql: `SELECT ${selected.join(', ')} FROM ${identifier(table)} WHERE ${guard}`, params: [] }
}
