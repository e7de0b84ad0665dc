import type { JsonType, SqliteType } from '../../../schemas/table.ts'
import type { PlainField } from '../../../services/model/table.ts'
import { isOnCluster } from '../../rqlite/cluster.ts'
import { refuse } from './model.ts'
import { compare, fold, isInt64, type Stored, toJson } from './values.ts'

export interface Column {
  readonly name: string
  readonly sqliteType: SqliteType
  readonly notNull: boolean
  readonly defaultValue: Stored
}

export type Row = Map<string, Stored>

export interface StoredIndex {
  readonly name: string
  readonly fields: readonly string[]
  readonly isUnique: boolean
  readonly isOurs: boolean
}

/** A table in the file, registered or not. */
export interface StoredTable {
  readonly name: string
  readonly columns: Column[]
  readonly key: readonly string[]
  /** An integer key that SQLite generates. */
  readonly isRowidKey: boolean
  readonly isAutoIncrement: boolean
  readonly isView: boolean
  readonly indexes: StoredIndex[]
  rows: Row[]
  /** The largest key that the table has ever had. AUTOINCREMENT continues from here. */
  sequence: bigint
}

const JSON_TYPES: Partial<Record<SqliteType, JsonType>> = { INTEGER: 'integer', REAL: 'number', TEXT: 'string' }

/** Returns the field that an import makes of a column. */
export const describe = ({ key, isAutoIncrement, isView }: StoredTable, column: Column): PlainField => {
  const jsonType = JSON_TYPES[column.sqliteType] as JsonType
  const isPrimary = key.includes(column.name)
  return {
    name: column.name,
    label: column.name,
    sqliteType: column.sqliteType,
    jsonType,
    nullable: !column.notNull,
    defaultValue: toJson(jsonType, column.defaultValue),
    isPrimary,
    isAutoIncrement: isPrimary && isAutoIncrement,
    isHidden: false,
    isReadonly: isView
  }
}

/** SQLite makes an index for a key that is not the rowid. */
export const newIndexes = ({
  name,
  key,
  isRowidKey
}: Pick<StoredTable, 'name' | 'key' | 'isRowidKey'>): StoredIndex[] =>
  isRowidKey ? [] : [{ name: `sqlite_autoindex_${name}_1`, fields: key, isUnique: true, isOurs: false }]

const valuesOf = (row: Row, names: readonly string[]) => names.map((name) => row.get(name) ?? null)

export const keyOf = ({ key }: { readonly key: readonly string[] }, row: Row) => valuesOf(row, key)

/** Whether two rows have the same values. NULL is never the same. */
export const isSame = (a: Row, b: Row, names: readonly string[]) =>
  names.every((name) => a.get(name) !== null && compare(a.get(name) ?? null, b.get(name) ?? null) === 0)

/** Whether a row other than `replaced` has the key of `row`, or the same values in a unique index. */
export const isTaken = ({ rows, key, indexes }: StoredTable, row: Row, replaced?: Row) => {
  const uniques = [key, ...indexes.filter(({ isUnique }) => isUnique).map(({ fields }) => fields)]
  return rows.some((other) => other !== replaced && uniques.some((names) => isSame(row, other, names)))
}

/**
 * Returns the largest key plus one. After the largest 64-bit integer, AUTOINCREMENT fails with SQLITE_FULL. Without it,
 * SQLite chooses random keys until one is unused: https://sqlite.org/autoinc.html
 */
const nextKey = ({ rows, key: [name = ''], isAutoIncrement, sequence }: StoredTable, randomKey: () => bigint) => {
  const keys = rows.map((row) => row.get(name) as bigint)
  if (isAutoIncrement) keys.push(sequence)
  const next = keys.length === 0 ? 1n : keys.reduce((max, key) => (key > max ? key : max)) + 1n
  if (isInt64(next)) return next
  return isAutoIncrement ? refuse(507, 'DISK_FULL') : randomKey()
}

const advance = (table: StoredTable, row: Row) => {
  const key = row.get(String(table.key[0])) as bigint
  if (table.isRowidKey && key > table.sequence) table.sequence = key
}

interface InsertOptions {
  readonly randomKey: () => bigint
  /** true: ON CONFLICT DO NOTHING. AUTOINCREMENT does not use the key of an ignored row again. */
  readonly ignoresConflict?: boolean
}

/** Returns the row that an INSERT of these values stores, or undefined if the key or a unique value exists. */
export const insert = (
  table: StoredTable,
  values: ReadonlyMap<string, Stored>,
  { randomKey, ignoresConflict = false }: InsertOptions
): Row | undefined => {
  const row: Row = new Map(table.columns.map(({ name, defaultValue }) => [name, values.get(name) ?? defaultValue]))
  for (const [name, value] of values) if (value === null) row.set(name, null)
  const [key = ''] = table.key
  if (table.isRowidKey && row.get(key) === null) row.set(key, nextKey(table, randomKey))
  const isRefused = isTaken(table, row)
  if (!isRefused || ignoresConflict) advance(table, row)
  if (isRefused) return undefined
  table.rows.push(row)
  return row
}

export const addColumn = (table: StoredTable, column: Column) => {
  table.columns.push(column)
  for (const row of table.rows) row.set(column.name, column.defaultValue)
}

export const findColumn = ({ columns }: StoredTable, name: string) =>
  columns.find((column) => fold(column.name) === fold(name))

const column = (name: string, sqliteType: SqliteType, rules: Partial<Column> = {}): Column => ({
  name,
  sqliteType,
  notNull: false,
  defaultValue: null,
  ...rules
})

/** Tables that another program creates: the SQL and its meaning. */
const templates = [
  {
    sql: "(id INTEGER PRIMARY KEY, t TEXT DEFAULT 'it''s', i INTEGER DEFAULT 7, r REAL NOT NULL DEFAULT 0.5)",
    key: ['id'],
    isRowidKey: true,
    columns: [
      column('id', 'INTEGER'),
      column('t', 'TEXT', { defaultValue: "it's" }),
      column('i', 'INTEGER', { defaultValue: 7n }),
      column('r', 'REAL', { defaultValue: 0.5, notNull: true })
    ]
  },
  {
    sql: '(v INTEGER, code TEXT PRIMARY KEY NOT NULL)',
    key: ['code'],
    isRowidKey: false,
    columns: [column('v', 'INTEGER'), column('code', 'TEXT', { notNull: true })]
  },
  {
    sql: '(a TEXT NOT NULL, b INTEGER NOT NULL, v TEXT, PRIMARY KEY (b, a)) WITHOUT ROWID',
    key: ['b', 'a'],
    isRowidKey: false,
    columns: [column('a', 'TEXT', { notNull: true }), column('b', 'INTEGER', { notNull: true }), column('v', 'TEXT')]
  },
  {
    sql: '(line TEXT, "select" REAL)',
    key: ['rowid'],
    isRowidKey: true,
    columns: [column('rowid', 'INTEGER'), column('line', 'TEXT'), column('select', 'REAL')]
  }
]

/** A cluster does not change tables whose key is no column. */
const used = templates.filter(({ key }) => !(isOnCluster && key[0] === 'rowid'))

export const externalTable = (name: string, template: number): { sql: string; table: StoredTable } => {
  const { sql, columns, ...rest } = used[template % used.length] as (typeof templates)[number]
  const indexes = newIndexes({ name, ...rest })
  const unused = { isAutoIncrement: false, isView: false, rows: [], sequence: 0n }
  const table = { name, ...rest, columns: [...columns], indexes, ...unused }
  return { sql: `CREATE TABLE "${name}" ${sql}`, table }
}
