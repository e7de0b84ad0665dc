import type { SqlValue } from '../model/sql-value.ts'
import type { RegisteredTable, Structure } from '../model/table.ts'
import type { Statement } from '../sql/statement.ts'
import { REGISTRY_COLUMNS } from './registry.ts'

interface NewRegistration {
  readonly name: string
  readonly label: string
  readonly note: string | null
  readonly structure: Structure
}

/** Enters a table into the registry; it is published and editable. `now`: epoch milliseconds. */
export const insertTable = ({ name, label, note, structure }: NewRegistration, now: number): Statement => ({
  sql: `INSERT INTO _rowhouse_tables (name, label, note, structure, is_published, is_editable, created_at, updated_at)
    VALUES (?, ?, ?, ?, 1, 1, ?, ?) RETURNING ${REGISTRY_COLUMNS}`,
  params: [name, label, note, JSON.stringify(structure), BigInt(now), BigInt(now)]
})

const updateTable = (seen: RegisteredTable, now: number, set: string, params: readonly SqlValue[]): Statement => ({
  sql: `UPDATE _rowhouse_tables SET ${set}, updated_at = max(?, updated_at + 1)
    WHERE id = ? AND updated_at = ? RETURNING ${REGISTRY_COLUMNS}`,
  params: [...params, BigInt(now), BigInt(seen.id), BigInt(seen.updatedAt)],
  expect: 1
})

/** What an administrator may set, all of it. */
type Metadata = Pick<RegisteredTable, 'label' | 'note' | 'isPublished' | 'isEditable' | 'structure'>

/** Changes a row of the registry; misses its expectation where the row is no longer as it was seen. */
export const updateMetadata = (seen: RegisteredTable, metadata: Metadata, now: number): Statement => {
  const { label, note, isPublished, isEditable, structure } = metadata
  const flags = [isPublished, isEditable].map((flag) => (flag ? 1n : 0n))
  const set = 'label = ?, note = ?, structure = ?, is_published = ?, is_editable = ?'
  return updateTable(seen, now, set, [label, note, JSON.stringify(structure), ...flags])
}

/** The same for the structure alone. */
export const updateStructure = (seen: RegisteredTable, structure: Structure, now: number): Statement =>
  updateTable(seen, now, 'structure = ?', [JSON.stringify(structure)])

export const deleteTable = (id: number): Statement => ({
  sql: 'DELETE FROM _rowhouse_tables WHERE id = ?',
  params: [BigInt(id)]
})

/** Whatever has the name already: table, index, view or trigger. */
export const selectNamed = (name: string): Statement => ({
  sql: 'SELECT name, type FROM sqlite_schema WHERE name = ? COLLATE NOCASE',
  params: [name]
})
