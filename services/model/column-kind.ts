import type { JsonType, SqliteType } from '../../schemas/table.ts'
import type { Column } from './table.ts'

/**
 * How the values of a column are read, checked and compared. It follows from the JSON type, which says what callers
 * mean, and the stored type, which says what SQLite makes of it. `loose` takes text and numbers: dates, which SQLite
 * gives numeric affinity, and columns without a declared type.
 */
export type ColumnKind = 'integer' | 'real' | 'numeric' | 'text' | 'boolean' | 'json' | 'blob' | 'loose'

type Typed = Pick<Column, 'jsonType' | 'sqliteType' | 'declaredType'>

const ofString = ({ sqliteType, declaredType }: Typed): ColumnKind => {
  if (sqliteType === 'TEXT') return 'text'
  return sqliteType === 'BLOB' && /blob/i.test(declaredType) ? 'blob' : 'loose'
}

export const kindOf = (column: Typed): ColumnKind => {
  switch (column.jsonType) {
    case 'integer':
      return 'integer'
    case 'number':
      return column.sqliteType === 'REAL' ? 'real' : 'numeric'
    case 'boolean':
      return 'boolean'
    case 'object':
    case 'array':
      return 'json'
    case 'string':
      return ofString(column)
  }
}

/** Holds text by its declaration, if not only. */
export const isTextual = (column: Typed) => ['text', 'loose'].includes(kindOf(column))

/** Holds numbers that can be searched for and added to. */
export const isNumeric = (column: Typed) => ['integer', 'real', 'numeric'].includes(kindOf(column))

/** The stored type of each JSON type in tables that are made here. */
export const storedTypeOf: Record<JsonType, SqliteType> = {
  integer: 'INTEGER',
  number: 'REAL',
  string: 'TEXT',
  boolean: 'INTEGER',
  object: 'TEXT',
  array: 'TEXT'
}

/** Affinity by SQLite's rules, in their order: https://sqlite.org/datatype3.html#determination_of_column_affinity */
export const affinityOf = (declaredType: string, isStrict: boolean): SqliteType => {
  const type = declaredType.toUpperCase()
  if (type.includes('INT')) return 'INTEGER'
  if (/CHAR|CLOB|TEXT/.test(type)) return 'TEXT'
  if (type === '' || type.includes('BLOB')) return 'BLOB'
  if (/REAL|FLOA|DOUB/.test(type)) return 'REAL'
  // In a STRICT table ANY keeps every value as it is; elsewhere it is a made-up name.
  return isStrict && type === 'ANY' ? 'BLOB' : 'NUMERIC'
}

/** What the values of a column that somebody else declared mean in JSON. */
export const jsonTypeOf = (declaredType: string, sqliteType: SqliteType): JsonType => {
  if (/BOOL/i.test(declaredType)) return 'boolean'
  if (sqliteType === 'INTEGER') return 'integer'
  if (sqliteType === 'TEXT' || sqliteType === 'BLOB') return 'string'
  return /DATE|TIME/i.test(declaredType) ? 'string' : 'number'
}

const fitting: Record<SqliteType, readonly JsonType[]> = {
  INTEGER: ['integer', 'boolean'],
  REAL: ['number'],
  TEXT: ['string', 'object', 'array'],
  NUMERIC: ['number', 'boolean', 'string'],
  BLOB: ['string']
}

/** Whether a chosen JSON type still makes sense for a column whose stored type was read again. */
export const fits = (jsonType: JsonType, sqliteType: SqliteType) => fitting[sqliteType].includes(jsonType)
