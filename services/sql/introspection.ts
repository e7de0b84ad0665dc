import { affinityOf, jsonTypeOf } from '../model/column-types.ts'
import { looksNumeric } from '../model/literals.ts'
import { foldName } from '../model/names.ts'
import type { Row } from '../model/sql-value.ts'
import type { Column, Structure } from '../model/table.ts'
import { declaresAutoIncrement } from './lexer.ts'
import type { Statement } from './statement.ts'

// Table-valued functions are named in `temp`: in `main` a served table could hide them.

/** Selects whether a name is a table, view, virtual or shadow table, and how it was declared. */
export const describeTable = (name: string): Statement => ({
  sql: `SELECT l.name, l.type, l.wr AS without_rowid, l.strict, s.sql
    FROM temp.pragma_table_list AS l LEFT JOIN sqlite_schema AS s ON s.name = l.name AND s.type IN ('table', 'view')
    WHERE l.schema = 'main' AND l.name = ? COLLATE NOCASE`,
  params: [name]
})

/** Selects the columns of a table. By table_xinfo, because table_info hides generated columns. */
export const describeColumns = (name: string): Statement => ({
  sql: `SELECT name, type, "notnull" AS not_null, dflt_value AS default_sql, pk, hidden
    FROM temp.pragma_table_xinfo(?) ORDER BY cid`,
  params: [name]
})

/** Selects the index that SQLite made for the primary key. A key that is the rowid has none. */
export const describeKeyIndex = (name: string): Statement => ({
  sql: "SELECT name FROM temp.pragma_index_list(?) WHERE origin = 'pk'",
  params: [name]
})

interface Description {
  readonly table: Row
  readonly columns: readonly Row[]
  readonly keyIndex: readonly Row[]
}

const ROWID_NAMES = ['rowid', '_rowid_', 'oid']

const keywordValues: Record<string, string> = { TRUE: '1', FALSE: '0' }

/** In a DEFAULT clause, which cannot contain a name, SQLite accepts double quotes for text, too. */
const unquote = (sql: string) => {
  const [, quote, text] = /^(['"])((?:(?!\1).|\1\1)*)\1$/s.exec(sql) ?? []
  return quote && text?.replaceAll(quote + quote, quote)
}

const asJson = (text: string, jsonType: string): unknown => {
  if (jsonType !== 'object' && jsonType !== 'array') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

type Typed = Pick<Column, 'jsonType' | 'sqliteType'>

/** SQLite reads `01` as 1, and stores an integer as text without a fraction, a real with one. */
const numberAsText = (sql: string) =>
  /^-?\d+$/.test(sql) ? String(BigInt(sql)) : String(Number(sql)).replace(/^-?\d+(?=e|$)/, '$&.0')

const asNumber = (sql: string, { jsonType, sqliteType }: Typed): unknown => {
  if (sqliteType === 'TEXT') return numberAsText(sql)
  const value = Number(sql)
  if (jsonType === 'boolean' && (value === 0 || value === 1)) return value === 1
  if (sqliteType === 'REAL') return value
  return Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(sql) ? sql : value
}

const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

const hexadecimal = (digits: string) => BigInt.asIntN(64, BigInt(digits))

/** Returns a SQL number in a form that JavaScript parses, or undefined if the SQL is not a number. */
const numberIn = (sql: string): string | undefined => {
  const number = (keywordValues[sql.toUpperCase()] ?? sql).replace(/^\+\s*|^(-)\s+/, '$1')
  const [, sign, digits] = /^(-?)(0x[\da-f]+)$/i.exec(number) ?? []
  if (digits) return String(sign ? -hexadecimal(digits) : hexadecimal(digits))
  return NUMBER.test(number) ? number : undefined
}

/** Whether numeric affinity converts the text into a number. */
const isNumericText = (text: string, { sqliteType }: Typed) =>
  ['INTEGER', 'REAL', 'NUMERIC'].includes(sqliteType) && looksNumeric(text)

/**
 * Returns the JSON value of a DEFAULT clause in a new record. An expression such as CURRENT_TIMESTAMP is returned as its
 * SQL text.
 */
export const defaultValueOf = (sql: string | null, column: Typed): unknown => {
  if (sql === null || sql.toUpperCase() === 'NULL') return null
  const text = unquote(sql)
  if (text !== undefined)
    return isNumericText(text, column) ? asNumber(text.trim(), column) : asJson(text, column.jsonType)
  const number = numberIn(sql)
  return number === undefined ? sql : asNumber(number, column)
}

/** Returns the default under a JSON type that was chosen later: a boolean or JSON, which the declaration does not show. */
export const defaultAs = (value: unknown, jsonType: string): unknown => {
  if (typeof value === 'string') return asJson(value, jsonType)
  return jsonType === 'boolean' && (value === 0 || value === 1) ? value === 1 : value
}

const toColumn = (row: Row, isStrict: boolean, isAutoIncrement: boolean): Column => {
  const declaredType = String(row.type)
  const sqliteType = affinityOf(declaredType, isStrict)
  const jsonType = jsonTypeOf(declaredType, sqliteType)
  // `hidden` is 2 and 3 for generated columns: https://sqlite.org/pragma.html#pragma_table_xinfo
  const isGenerated = Number(row.hidden) >= 2
  return {
    name: String(row.name),
    label: String(row.name),
    sqliteType,
    jsonType,
    nullable: row.not_null === 0,
    defaultValue: defaultValueOf(row.default_sql as string | null, { jsonType, sqliteType }),
    isPrimary: row.pk !== 0,
    isAutoIncrement: row.pk !== 0 && isAutoIncrement,
    isHidden: false,
    isReadonly: isGenerated,
    declaredType,
    isGenerated
  }
}

const rowidColumn = (name: string): Column => ({
  name,
  label: name,
  sqliteType: 'INTEGER',
  jsonType: 'integer',
  nullable: true,
  defaultValue: null,
  isPrimary: true,
  isAutoIncrement: false,
  isHidden: false,
  isReadonly: false,
  declaredType: 'INTEGER',
  isGenerated: false
})

/** Returns a name for the rowid that no column hides, or null if columns hide all of them. */
export const reachableRowid = (columns: readonly Column[]) => {
  const taken = new Set(columns.map(({ name }) => foldName(name)))
  return ROWID_NAMES.find((name) => !taken.has(name)) ?? null
}

/**
 * Returns the structure of an ordinary table, or null if its rows cannot be identified: it has no key, and columns hide
 * every name of the rowid.
 */
export const toStructure = ({ table, columns: rows, keyIndex }: Description): Structure | null => {
  const isStrict = table.strict === 1
  const withoutRowid = table.without_rowid === 1
  const isAutoIncrement = declaresAutoIncrement(String(table.sql))
  const columns = rows.map((row) => toColumn(row, isStrict, isAutoIncrement))
  const rowid = withoutRowid ? null : reachableRowid(columns)
  const key = rows
    .filter((row) => row.pk !== 0)
    .sort((a, b) => Number(a.pk) - Number(b.pk))
    .map((row) => String(row.name))

  if (key.length > 0) {
    const isRowidKey = !withoutRowid && keyIndex.length === 0
    return { columns, isStrict, key, isRowidKey, rowid: isRowidKey ? (key[0] as string) : rowid, autoTimestamps: false }
  }
  if (rowid === null) return null
  return {
    columns: [rowidColumn(rowid), ...columns],
    isStrict,
    key: [rowid],
    isRowidKey: true,
    rowid,
    autoTimestamps: false
  }
}
