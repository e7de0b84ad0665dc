import type { NewField, OnDelete } from './draft.ts'

const STORED = { integer: 'INTEGER', number: 'REAL', string: 'TEXT', boolean: 'INTEGER', object: 'TEXT', array: 'TEXT' }

const ON_DELETE: Record<OnDelete, string> = {
  cascade: ' ON DELETE CASCADE',
  restrict: ' ON DELETE RESTRICT',
  setNull: ' ON DELETE SET NULL',
  noAction: ''
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

const literal = (value: unknown, type: string) => {
  if (type === 'BLOB') return `x'…'`
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (type !== 'TEXT') return String(value)
  return `'${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll("'", "''")}'`
}

const checksOf = ({ name, check = {} }: NewField, type: string) => {
  const column = quoted(name)
  const { minimum, maximum, minLength, maxLength, enum: allowed } = check
  return [
    minimum !== undefined && `${column} >= ${minimum}`,
    maximum !== undefined && `${column} <= ${maximum}`,
    minLength !== undefined && `length(${column}) >= ${minLength}`,
    maxLength !== undefined && `length(${column}) <= ${maxLength}`,
    allowed && `${column} IN (${allowed.map((value) => literal(value, type)).join(', ')})`
  ].flatMap((condition) => (condition ? [` CHECK (${condition})`] : []))
}

const keyClause = ({ isAutoIncrement }: NewField, type: string) => {
  if (type !== 'INTEGER') return ' PRIMARY KEY NOT NULL'
  return isAutoIncrement ? ' PRIMARY KEY AUTOINCREMENT' : ' PRIMARY KEY'
}

const columnSql = (field: NewField, isOnlyKey: boolean) => {
  const { name, jsonType, sqliteType, nullable = true, defaultValue, references, isPrimary = false } = field
  const type = sqliteType ?? STORED[jsonType]
  const key = isOnlyKey ? keyClause(field, type) : ''
  const notNull = !isOnlyKey && (isPrimary || !nullable) ? ' NOT NULL' : ''
  const fallback = defaultValue === undefined ? '' : ` DEFAULT ${literal(defaultValue, type)}`
  const target = references
    ? ` REFERENCES ${quoted(references.table)} (${quoted(references.field)})${ON_DELETE[references.onDelete ?? 'noAction']}`
    : ''
  return `${quoted(name)} ${type}${key}${notNull}${fallback}${checksOf(field, type).join('')}${target}`
}

const withKey = (fields: readonly NewField[]): readonly NewField[] => {
  if (fields.some(({ isPrimary }) => isPrimary)) return fields
  const key = { isPrimary: true, isAutoIncrement: true }
  const isId = ({ name }: NewField) => name.toLowerCase() === 'id'
  if (fields.some(isId)) return fields.map((field) => (isId(field) ? { ...field, ...key } : field))
  return [{ name: 'id', jsonType: 'integer', ...key }, ...fields]
}

const timestamp = (name: string): NewField => ({ name, jsonType: 'integer' })

const indexSql = (table: string, { name, isUnique = false }: NewField) =>
  `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX "_rowhouse_${table}_${name}_…" ON ${quoted(table)} (${quoted(name)});`

/** Returns the SQL that the service will run for a new table, as far as the console can know it. */
export const previewSql = (table: string, sent: readonly NewField[], autoTimestamps: boolean): string => {
  const fields = [...withKey(sent), ...(autoTimestamps ? ['created_at', 'updated_at'].map(timestamp) : [])]
  const key = fields.filter(({ isPrimary }) => isPrimary)
  const columns = fields.map((field) => columnSql(field, key.length === 1 && field === key[0]))
  const composite = key.length > 1 ? [`PRIMARY KEY (${key.map(({ name }) => quoted(name)).join(', ')})`] : []
  const indexes = fields.filter(
    (field) => (field.isUnique || field.isIndexed) && !(key.length === 1 && field === key[0])
  )
  const body = [...columns, ...composite].map((line) => `  ${line}`).join(',\n')
  return [
    `CREATE TABLE ${quoted(table)} (\n${body}\n) STRICT;`,
    ...indexes.map((field) => indexSql(table, field))
  ].join('\n')
}
