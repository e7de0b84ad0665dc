import type { SqlValue } from '../../model/sql-value.ts'
import type { Choices, RegisteredTable } from '../../model/table.ts'
import type { Dialect } from '../../sql/dialect.ts'
import { describeEach } from '../../sql/introspection.ts'
import { searchIndexFacts } from '../../sql/search-index.ts'
import type { Statement } from '../../sql/statement.ts'
import { writeChoices } from './choices.ts'

/** The columns of `_rowhouse_tables` that make a registration. */
const COLUMNS = ['id', 'name', 'label', 'note', 'choices', 'is_published', 'is_editable', 'created_at', 'updated_at']
const REGISTRATION = [...COLUMNS, searchIndexFacts('_rowhouse_tables.id')].join(', ')
const RETURNING = `RETURNING ${REGISTRATION}`

export const selectRegistrations: Statement = { sql: `SELECT ${REGISTRATION} FROM _rowhouse_tables`, params: [] }

/** Returns the registration in a unit, by an UPDATE that changes nothing: a unit gets rows from RETURNING only. */
export const returnRegistration = (id: number): Statement => ({
  sql: `UPDATE _rowhouse_tables SET id = id WHERE id = ? ${RETURNING}`,
  params: [BigInt(id)]
})

const schemaVersion = (dialect: Dialect) => `${dialect.schemaVersion} AS schema_version`

export const selectSchemaVersion = (dialect: Dialect): Statement => ({
  sql: `SELECT ${schemaVersion(dialect)}`,
  params: []
})

/** The registrations, each with what SQLite knows of the stored table. */
export const describeRegistrations = (dialect: Dialect): Statement => ({
  sql: describeEach(
    '_rowhouse_tables',
    [...COLUMNS.map((column) => `source.${column}`), searchIndexFacts('source.id'), schemaVersion(dialect), ''].join(
      ', '
    )
  ),
  params: []
})

/** The names of the registrations for which SQLite has a view. */
export const selectRegisteredViews: Statement = {
  sql: `SELECT stored.name FROM sqlite_schema AS stored
    JOIN _rowhouse_tables AS source ON source.name = stored.name COLLATE NOCASE WHERE stored.type = 'view'`,
  params: []
}

/** Everything that an administrator may set. */
type Metadata = Pick<RegisteredTable, 'label' | 'note' | 'isPublished' | 'isEditable' | 'choices'>

/** The values of the columns `METADATA`. */
const metadataParams = ({ label, note, isPublished, isEditable, choices }: Metadata): readonly SqlValue[] => [
  label,
  note,
  writeChoices(choices),
  ...[isPublished, isEditable].map((flag) => (flag ? 1n : 0n))
]

const METADATA = ['label', 'note', 'choices', 'is_published', 'is_editable']

export type NewRegistration = Pick<RegisteredTable, 'name'> & Metadata

/** Adds a table to the registry. `now`: epoch milliseconds. */
export const insertTable = (table: NewRegistration, now: number): Statement => ({
  sql: `INSERT INTO _rowhouse_tables (name, ${METADATA.join(', ')}, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ${RETURNING}`,
  params: [table.name, ...metadataParams(table), BigInt(now), BigInt(now)]
})

/** Expects that the row has not changed since it was read. */
export const expectRegistration = ({ id, updatedAt }: RegisteredTable): Statement => ({
  sql: 'SELECT 1 FROM _rowhouse_tables WHERE id = ? AND updated_at = ?',
  params: [BigInt(id), BigInt(updatedAt)],
  expect: 1
})

const updateTable = (seen: RegisteredTable, now: number, set: string, params: readonly SqlValue[]): Statement => ({
  sql: `UPDATE _rowhouse_tables SET ${set}, updated_at = max(?, updated_at + 1)
    WHERE id = ? AND updated_at = ? ${RETURNING}`,
  params: [...params, BigInt(now), BigInt(seen.id), BigInt(seen.updatedAt)],
  expect: 1
})

/** Changes a row of the registry; fails with `UnexpectedChanges` if the row has changed since it was read. */
export const updateMetadata = (seen: RegisteredTable, metadata: Metadata, now: number): Statement =>
  updateTable(seen, now, METADATA.map((column) => `${column} = ?`).join(', '), metadataParams(metadata))

/** Changes the choices of a table; fails with `UnexpectedChanges` if its row has changed since it was read. */
export const updateChoices = (seen: RegisteredTable, choices: Choices, now: number): Statement =>
  updateTable(seen, now, 'choices = ?', [writeChoices(choices)])

/** To be followed by an update that fails if the row has changed. */
export const renameRegistration = (id: number, name: string): Statement => ({
  sql: 'UPDATE _rowhouse_tables SET name = ? WHERE id = ?',
  params: [name, BigInt(id)]
})

/** Fails its unit if the table is not registered. */
export const deleteTable = (id: number): Statement => ({
  sql: 'DELETE FROM _rowhouse_tables WHERE id = ?',
  params: [BigInt(id)],
  expect: 1
})

/** The names of all tables and views of the file. */
export const selectStoredNames: Statement = {
  sql: "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')",
  params: []
}

/** The table, index, view or trigger that has the name. */
export const selectNamed = (name: string): Statement => ({
  sql: 'SELECT name, type FROM sqlite_schema WHERE name = ? COLLATE NOCASE',
  params: [name]
})
