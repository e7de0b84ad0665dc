import type { SqlValue } from '../model/sql-value.ts'
import type { Column, Structure } from '../model/table.ts'
import { identifier, textLiteral } from './identifiers.ts'

/** Returns a literal for a DEFAULT clause. SQLite reads a number back with the same bits. */
const literal = (value: NonNullable<SqlValue>): string => {
  if (typeof value === 'string') return textLiteral(value)
  if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString('hex')}'`
  return typeof value === 'bigint' || !Number.isInteger(value) ? String(value) : value.toExponential()
}

const primaryKeyClause = ({ isAutoIncrement, sqliteType }: Column) => {
  if (sqliteType !== 'INTEGER') return ' PRIMARY KEY NOT NULL'
  return isAutoIncrement ? ' PRIMARY KEY AUTOINCREMENT' : ' PRIMARY KEY'
}

/** Returns the declaration of a column. `defaultValue`: the stored form, which differs from JSON for booleans. */
const columnDefinition = (column: Column, defaultValue: SqlValue) => {
  const key = column.isPrimary ? primaryKeyClause(column) : ''
  const notNull = column.nullable || column.isPrimary ? '' : ' NOT NULL'
  const fallback = defaultValue === null ? '' : ` DEFAULT ${literal(defaultValue)}`
  return `${identifier(column.name)} ${column.sqliteType}${key}${notNull}${fallback}`
}

/** `defaults`: the stored default of each column, in the columns' order. */
export const createTableSql = (name: string, { columns }: Structure, defaults: readonly SqlValue[]) => {
  const definitions = columns.map((column, index) => columnDefinition(column, defaults[index] ?? null))
  return `CREATE TABLE ${identifier(name)} (${definitions.join(', ')}) STRICT`
}

export const addColumnSql = (table: string, column: Column, defaultValue: SqlValue) =>
  `ALTER TABLE ${identifier(table)} ADD COLUMN ${columnDefinition(column, defaultValue)}`
