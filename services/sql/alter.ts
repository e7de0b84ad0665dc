import { identifier } from './identifiers.ts'
import { type Statement, statement, type Unit } from './statement.ts'

/** The name of a table inside a transaction that renames or rebuilds it. */
export const TEMPORARY_NAME = '_rowhouse_temporary'

export const renameTable = (from: string, to: string): Statement =>
  statement(`ALTER TABLE ${identifier(from)} RENAME TO ${identifier(to)}`)

/** Renames in two steps: SQLite refuses a name that differs from the old one only in case. */
export const changeCaseOfName = (from: string, to: string): Unit => [
  renameTable(from, TEMPORARY_NAME),
  renameTable(TEMPORARY_NAME, to)
]

/** Fails because there is no such column, unless SQLite takes the word for a keyword or a value, such as TRUE. */
export const selectWord = (word: string): Statement => statement(`SELECT ${word} AS ${word}`)

/**
 * `isPlain`: the new name needs no quotes. SQLite writes them into indexes, triggers and views if the statement has them;
 * another SQLite takes a name in double quotes for a text when the column is gone.
 */
export const renameColumn = (table: string, from: string, to: string, isPlain: boolean): Statement =>
  statement(`ALTER TABLE ${identifier(table)} RENAME COLUMN ${identifier(from)} TO ${isPlain ? to : identifier(to)}`)

export const dropColumn = (table: string, column: string): Statement =>
  statement(`ALTER TABLE ${identifier(table)} DROP COLUMN ${identifier(column)}`)

/** Fails if a stored value is null. Since SQLite 3.53. */
export const setNotNull = (table: string, column: string, isNotNull: boolean): Statement =>
  statement(
    `ALTER TABLE ${identifier(table)} ALTER COLUMN ${identifier(column)} ${isNotNull ? 'SET' : 'DROP'} NOT NULL`
  )

export const dropTable = (table: string): Statement => statement(`DROP TABLE ${identifier(table)}`)

/** Selects the columns that refer to the table. `target` is null for its key. */
export const selectReferring = (table: string): Statement => ({
  sql: `SELECT s.name AS name, f."from" AS field, f."to" AS target
    FROM main.sqlite_schema AS s, temp.pragma_foreign_key_list(s.name) AS f
    WHERE s.type = 'table' AND f."table" = ? COLLATE NOCASE`,
  params: [table]
})

/**
 * Selects all declarations of the file as one JSON text. ANALYZE creates tables that no declaration names. By name: VACUUM
 * changes the order of the rows, and each node of a cluster runs it when it wants.
 */
export const selectAllDeclarations: Statement = statement(
  `SELECT json_group_array(json_array(type, name, tbl_name, sql) ORDER BY type, name) AS text FROM main.sqlite_schema
    WHERE name NOT GLOB 'sqlite_stat*'`
)

const COMPARE_DECLARATIONS = `SELECT 1 WHERE (${selectAllDeclarations.sql}) = ?`

export const comparesDeclarations = (statement: Pick<Statement, 'sql'> | undefined) =>
  statement?.sql === COMPARE_DECLARATIONS

/** Expects that the file has these declarations. */
export const expectDeclarations = (declarations: string): Statement => ({
  sql: COMPARE_DECLARATIONS,
  params: [declarations],
  expect: 1
})

/** Selects the views of the file, and the triggers of all tables but one. */
export const selectDependents = (table: string): Statement => ({
  sql: `SELECT type, name, tbl_name, sql FROM main.sqlite_schema
    WHERE type = 'view' OR (type = 'trigger' AND tbl_name <> ? COLLATE NOCASE)`,
  params: [table]
})
