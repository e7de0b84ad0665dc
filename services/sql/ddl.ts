import type { NewReference, OnDelete } from '../../schemas/new-table.ts'
import type { SqlValue } from '../model/sql-value.ts'
import type { Column } from '../model/table.ts'
import { identifier, textLiteral } from './identifiers.ts'
import type { Statement } from './statement.ts'

/** Returns a literal for a DEFAULT clause. SQLite reads a number back with the same bits. */
export const literal = (value: NonNullable<SqlValue>): string => {
  if (typeof value === 'string') return textLiteral(value)
  if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString('hex')}'`
  return typeof value === 'bigint' || !Number.isInteger(value) ? String(value) : value.toExponential()
}

const keyClause = ({ isAutoIncrement, sqliteType }: Column) => {
  if (sqliteType !== 'INTEGER') return ' PRIMARY KEY NOT NULL'
  return isAutoIncrement ? ' PRIMARY KEY AUTOINCREMENT' : ' PRIMARY KEY'
}

const checkLiteral = (value: unknown) => (typeof value === 'string' ? textLiteral(value) : String(value))

/** Returns the conditions that the values of a column must meet, in forms that `columnChecks` reads. */
const conditionsOf = ({ name, checks }: Column): readonly string[] => {
  const { allowedValues, minimum, maximum, minLength, maxLength } = checks
  const column = identifier(name)
  const bounds = [
    [column, '>=', minimum],
    [column, '<=', maximum],
    [`length(${column})`, '>=', minLength],
    [`length(${column})`, '<=', maxLength]
  ] as const
  return [
    ...bounds.flatMap(([subject, operator, limit]) => (limit === undefined ? [] : [`${subject} ${operator} ${limit}`])),
    ...(allowedValues ? [`${column} IN (${allowedValues.map(checkLiteral).join(', ')})`] : [])
  ]
}

const ON_DELETE: Record<OnDelete, string> = {
  cascade: ' ON DELETE CASCADE',
  restrict: ' ON DELETE RESTRICT',
  setNull: ' ON DELETE SET NULL',
  noAction: ''
}

const referenceClause = ({ table, field, onDelete = 'noAction' }: NewReference) =>
  ` REFERENCES ${identifier(table)} (${identifier(field)})${ON_DELETE[onDelete]}`

/** A column, with the default and the foreign key of its declaration. */
export interface ColumnDeclaration {
  readonly column: Column
  /** The stored form, which differs from JSON for booleans. */
  readonly defaultValue: SqlValue
  readonly references?: NewReference | undefined
}

const columnDefinition = ({ column, defaultValue, references }: ColumnDeclaration, isKey: boolean) => {
  const key = isKey ? keyClause(column) : ''
  const notNull = column.isNotNull && !isKey ? ' NOT NULL' : ''
  const fallback = defaultValue === null ? '' : ` DEFAULT ${literal(defaultValue)}`
  const checks = conditionsOf(column).map((condition) => ` CHECK (${condition})`)
  const target = references ? referenceClause(references) : ''
  return `${identifier(column.name)} ${column.sqliteType}${key}${notNull}${fallback}${checks.join('')}${target}`
}

/** `key`: the names of the columns of the key. */
export const createTableSql = (name: string, declarations: readonly ColumnDeclaration[], key: readonly string[]) => {
  const isKey = ({ column }: ColumnDeclaration) => key.length === 1 && column.name === key[0]
  const definitions = declarations.map((declaration) => columnDefinition(declaration, isKey(declaration)))
  const compositeKey = key.length > 1 ? [`PRIMARY KEY (${key.map(identifier).join(', ')})`] : []
  return `CREATE TABLE ${identifier(name)} (${[...definitions, ...compositeKey].join(', ')}) STRICT`
}

export const addColumnSql = (table: string, declaration: ColumnDeclaration) =>
  `ALTER TABLE ${identifier(table)} ADD COLUMN ${columnDefinition(declaration, false)}`

/**
 * Changes nothing. SQLite compiles it only if the target of each foreign key of the table exists and is unique.
 * https://sqlite.org/foreignkeys.html#fk_indexes
 */
export const compileForeignKeys = (table: string, column: string): Statement => ({
  sql: `INSERT INTO ${identifier(table)} (${identifier(column)}) SELECT NULL WHERE 0`,
  params: []
})
