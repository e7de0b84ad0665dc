import type { JsonType, SqliteType } from '../../schemas/table.ts'

/** The stored type of each JSON type, in tables that Rowhouse creates. */
export const storedTypeOf: Record<JsonType, SqliteType> = {
  integer: 'INTEGER',
  number: 'REAL',
  string: 'TEXT',
  boolean: 'INTEGER',
  object: 'TEXT',
  array: 'TEXT'
}

/** Returns the stored types that a declaration may name for a JSON type. BLOB: bytes, which JSON shows as base64 text. */
export const declarableTypesOf = (jsonType: JsonType): readonly SqliteType[] =>
  jsonType === 'string' ? ['TEXT', 'BLOB'] : [storedTypeOf[jsonType]]

/** Affinity by SQLite's rules, in their order: https://sqlite.org/datatype3.html#determination_of_column_affinity */
export const affinityOf = (declaredType: string, isStrict: boolean): SqliteType => {
  const type = declaredType.toUpperCase()
  if (type.includes('INT')) return 'INTEGER'
  if (/CHAR|CLOB|TEXT/.test(type)) return 'TEXT'
  if (type === '' || type.includes('BLOB')) return 'BLOB'
  if (/REAL|FLOA|DOUB/.test(type)) return 'REAL'
  // ANY stores every value unchanged in a STRICT table; in any other table it is an unknown name.
  return isStrict && type === 'ANY' ? 'BLOB' : 'NUMERIC'
}

/** Declared types that mean numbers and have NUMERIC affinity. Other such types, such as DATE, UUID and JSON, mean texts. */
const NUMERIC_TYPES =
  /\b(?:NUM|DEC|FIXED|YEAR|(?:BIT|BYTE|SHORT|LONG|SINGLE|COUNTER|UNSIGNED)\b)|MONEY|CURRENCY|SERIAL/i

/** Returns the JSON type of a column that another program has declared. */
export const jsonTypeOf = (declaredType: string, sqliteType: SqliteType): JsonType => {
  if (/BOOL/i.test(declaredType)) return 'boolean'
  if (sqliteType === 'INTEGER') return 'integer'
  if (sqliteType === 'TEXT' || sqliteType === 'BLOB') return 'string'
  return sqliteType === 'REAL' || NUMERIC_TYPES.test(declaredType) ? 'number' : 'string'
}

const jsonTypesOf: Record<SqliteType, readonly JsonType[]> = {
  INTEGER: ['integer', 'boolean'],
  REAL: ['number'],
  TEXT: ['string', 'object', 'array'],
  NUMERIC: ['number', 'boolean', 'string'],
  BLOB: ['string']
}

/** Whether a column of this stored type can have a JSON type that was chosen for it earlier. */
export const isStorableAs = (jsonType: JsonType, sqliteType: SqliteType) => jsonTypesOf[sqliteType].includes(jsonType)
