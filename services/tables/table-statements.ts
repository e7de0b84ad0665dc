import type { SqlValue } from '../model/sql-value.ts'
import type { Choices, RegisteredTable } from '../model/table.ts'
import { describeEach } from '../sql/introspection.ts'
import type { Statement } from '../sql/statement.ts'
import { writeChoices } from './choices.ts'

/** The columns of `_rowhouse_tables` that make a registration. */
const COLUMNS = ['id', 'name', 'label', 'note', 'choices', 'is_published', 'is_editable', 'created_at', 'updated_at']
const RETURNING = `RETURNING ${COLUMNS.join(', ')}`

export const selectRegistrations: Statement = { sql: `SELECT ${COLUMNS.join(', ')} FROM _rowhouse_tables`, params: [] }

/** The registrations, each with what SQLite knows of the stored table. */
export const describeRegistrations: Statement = {
  sql: describeEach('_rowhouse_tables', COLUMNS.map((column) => `source.${column}, `).join('')),
  params: []
}

interface NewRegistration {
  readonly name: string
  readonly label: string
  readonly note: string | null
  readonly choices: Choices
}

/** Adds a table to the registry, published and editable. `now`: epoch milliseconds. */
export const insertTable = ({ name, label, note, choices }: NewRegistration, now: number): Statement => ({
  sql: `INSERT INTO _rowhouse_tables (name, label, note, choices, is_published, is_editable, created_at, updated_at)
    VALUES (?, ?, ?, ?, 1, 1, ?, ?) ${RETURNING}`,
  params: [name, label, note, writeChoices(choices), BigInt(now), BigInt(now)]
})

const updateTable = (seen: RegisteredTable, now: number, set: string, params: readonly SqlValue[]): Statement => ({
  sql: `UPDATE _rowhouse_tables SET ${set}, updated_at = max(?, updated_at + 1)
    WHERE id = ? AND updated_at = ? ${RETURNING}`,
  params: [...params, BigInt(now), BigInt(seen.id), BigInt(seen.updatedAt)],
  expect: 1
})

/** Everything that an administrator may set. */
type Metadata = Pick<RegisteredTable, 'label' | 'note' | 'isPublished' | 'isEditable' | 'choices'>

/** Changes a row of the registry; fails with `UnexpectedChanges` if the row has changed since it was read. */
export const updateMetadata = (seen: RegisteredTable, metadata: Metadata, now: number): Statement => {
  const { label, note, isPublished, isEditable, choices } = metadata
  const flags = [isPublished, isEditable].map((flag) => (flag ? 1n : 0n))
  const set = 'label = ?, note = ?, choices = ?, is_published = ?, is_editable = ?'
  return updateTable(seen, now, set, [label, note, writeChoices(choices), ...flags])
}

/** The same for the choices alone. */
export const updateChoices = (seen: RegisteredTable, choices: Choices, now: number): Statement =>
  updateTable(seen, now, 'choices = ?', [writeChoices(choices)])

export const deleteTable = (id: number): Statement => ({
  sql: 'DELETE FROM _rowhouse_tables WHERE id = ?',
  params: [BigInt(id)]
})

/** The table, index, view or trigger that has the name. */
export const selectNamed = (name: string): Statement => ({
  sql: 'SELECT name, type FROM sqlite_schema WHERE name = ? COLLATE NOCASE',
  params: [name]
})
