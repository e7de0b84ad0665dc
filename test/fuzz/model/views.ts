import type { Column, Row, StoredTable } from './stored-tables.ts'
import { compare, type Stored } from './values.ts'

/** A condition on one column. Without `above`, its value must not be NULL. */
interface Condition {
  readonly column: string
  readonly above: Stored
}

/** An SQL view in the file: the columns of a table, and the rows that meet the condition. */
export interface StoredView {
  readonly name: string
  readonly base: StoredTable
  readonly condition: Condition | null
}

/** `SELECT *` does not have the rowid. */
const selectedColumns = ({ columns }: StoredTable) => columns.filter(({ name }) => name !== 'rowid')

const meets = ({ condition }: StoredView, row: Row) => {
  if (!condition) return true
  const value = row.get(condition.column) ?? null
  return value !== null && (condition.above === null || compare(value, condition.above) > 0)
}

const compareKeys =
  ({ base: { key } }: StoredView) =>
  (a: Row, b: Row) => {
    const differences = key.map((name) => compare(a.get(name) ?? null, b.get(name) ?? null))
    return differences.find((one) => one !== 0) ?? 0
  }

/** Returns a table with the columns and rows that the view has now. */
export const deriveTable = (view: StoredView): StoredTable => ({
  name: view.name,
  columns: selectedColumns(view.base).map((column) => ({ ...column, notNull: false, defaultValue: null })),
  key: [],
  isRowidKey: false,
  isAutoIncrement: false,
  isView: true,
  indexes: [],
  rows: view.base.rows.filter((row) => meets(view, row)).toSorted(compareKeys(view)),
  sequence: 0n
})

const quote = (name: string) => `"${name}"`

const LIMITS: Readonly<Record<string, { readonly value: Stored; readonly sql: string }>> = {
  INTEGER: { value: 1n, sql: '1' },
  REAL: { value: 0.5, sql: '0.5' },
  TEXT: { value: 'B', sql: "'B'" }
}

const conditionOn = ({ name, sqliteType }: Column, n: number): { condition: Condition; sql: string } => {
  const limit = LIMITS[sqliteType]
  if (n % 2 === 0 || !limit) return { condition: { column: name, above: null }, sql: `${quote(name)} IS NOT NULL` }
  return { condition: { column: name, above: limit.value }, sql: `${quote(name)} > ${limit.sql}` }
}

/**
 * Returns a view on a table: the SQL and its meaning. The order is ascending; `test/routes/views` has a descending one.
 */
export const viewOn = (base: StoredTable, name: string, n: number): { sql: string; view: StoredView } => {
  const columns = selectedColumns(base)
  const column = columns[(n >> 3) % columns.length]
  const { condition, sql } = n % 4 === 0 || !column ? { condition: null, sql: 'true' } : conditionOn(column, n >> 2)
  const order = base.key.map(quote)
  return {
    sql: `CREATE VIEW ${quote(name)} AS SELECT * FROM ${quote(base.name)} WHERE ${sql} ORDER BY ${order}`,
    view: { name, base, condition }
  }
}
