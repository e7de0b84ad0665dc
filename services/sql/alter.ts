import { identifier } from './identifiers.ts'
import type { Statement, Unit } from './statement.ts'

const statement = (sql: string): Statement => ({ sql, params: [] })

/** A name that exists only inside a transaction. */
export const TEMPORARY_NAME = '_rowhouse_passing'

export const renameTable = (from: string, to: string): Statement =>
  statement(`ALTER TABLE ${identifier(from)} RENAME TO ${identifier(to)}`)

/** Renames in two steps: SQLite refuses a name that differs from the old one only in case. */
export const changeCaseOfName = (from: string, to: string): Unit => [
  renameTable(from, TEMPORARY_NAME),
  renameTable(TEMPORARY_NAME, to)
]

export const renameColumn = (table: string, from: string, to: string): Statement =>
  statement(`ALTER TABLE ${identifier(table)} RENAME COLUMN ${identifier(from)} TO ${identifier(to)}`)

export const dropColumn = (table: string, column: string): Statement =>
  statement(`ALTER TABLE ${identifier(table)} DROP COLUMN ${identifier(column)}`)

/** Fails if a stored value is null. Since SQLite 3.53. */
export const setNotNull = (table: string, column: string, isNotNull: boolean): Statement =>
  statement(
    `ALTER TABLE ${identifier(table)} ALTER COLUMN ${identifier(column)} ${isNotNull ? 'SET' : 'DROP'} NOT NULL`
  )

/**
 * As the first statement of a unit: the writer runs the unit in a transaction of its own, without foreign keys, and
 * without changing the names of the table in other declarations. Otherwise DROP TABLE would first delete each row, with
 * the actions of the foreign keys that refer to it. https://sqlite.org/lang_altertable.html#otheralter
 */
export const FOREIGN_KEYS_OFF: Statement = statement('PRAGMA foreign_keys = OFF')

export const dropTable = (table: string): Statement => statement(`DROP TABLE ${identifier(table)}`)

const REFERRING = `SELECT s.name AS name, f."from" AS field, f."to" AS target
  FROM main.sqlite_schema AS s, temp.pragma_foreign_key_list(s.name) AS f
  WHERE s.type = 'table' AND f."table" = ? COLLATE NOCASE`

/** Selects the columns that refer to the table. `target` is null for its key. */
export const selectReferring = (table: string): Statement => ({ sql: REFERRING, params: [table] })

/** Expects that no other table refers to the table. */
export const expectUnreferred = (table: string): Statement => ({
  sql: `${REFERRING} AND s.name <> ? COLLATE NOCASE`,
  params: [table, table],
  expect: 0
})

/** Expects that no column refers to the column of the table, which is not its key. */
export const expectUnreferredColumn = (table: string, column: string): Statement => ({
  sql: `${REFERRING} AND f."to" = ? COLLATE NOCASE`,
  params: [table, column],
  expect: 0
})

export const selectSchemaVersion: Statement = statement('SELECT schema_version FROM temp.pragma_schema_version')

/** Expects that no table, index, trigger or view has changed since the version was read. */
export const expectSchemaVersion = (version: number): Statement => ({
  sql: `${selectSchemaVersion.sql} WHERE schema_version = ?`,
  params: [BigInt(version)],
  expect: 1
})

/** Selects the views of the file, and the triggers of all tables but one. */
export const selectDependents = (table: string): Statement => ({
  sql: `SELECT type, name, tbl_name, sql FROM main.sqlite_schema
    WHERE type = 'view' OR (type = 'trigger' AND tbl_name <> ? COLLATE NOCASE)`,
  params: [table]
})

/** Fails with SQLite's reason if the view cannot be compiled. Does not run it. */
export const compileView = (view: string): Statement => ({
  sql: 'SELECT count(*) FROM temp.pragma_table_xinfo(?)',
  params: [view]
})
