import type { NewTableIndex, TableIndex } from '../../../schemas/table-index.ts'
import { CONFIRMED, findStored, invalid, type Model, type Registered, refuse, remove } from './model.ts'
import { isSame, type StoredIndex, type StoredTable } from './stored-tables.ts'
import { fold } from './values.ts'

const toTableIndex = ({ name, fields, isUnique, isOurs }: StoredIndex): TableIndex => ({
  name,
  fields: [...fields],
  isUnique,
  isPartial: false,
  hasExpressions: false,
  isOurs
})

/** A table that is gone has no indexes. */
const indexesOf = (model: Model, { name }: Registered) => findStored(model, name)?.indexes ?? []

/** By name, in the order of its bytes. */
export const listIndexes = (model: Model, table: Registered) =>
  indexesOf(model, table)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(toTableIndex)

const hasDuplicates = ({ rows }: StoredTable, fields: readonly string[]) =>
  rows.some((row, index) => rows.slice(0, index).some((other) => isSame(row, other, fields)))

const covers =
  ({ fields, isUnique = false }: NewTableIndex) =>
  (index: StoredIndex) =>
    (index.isUnique || !isUnique) && index.fields.join() === fields.join()

/** `name` is that of the response. */
export const createIndex = (model: Model, table: Registered, sent: NewTableIndex, name: string): TableIndex => {
  if (table.kind === 'view') refuse(403, 'TABLE_READ_ONLY')
  const stored = findStored(model, table.name) ?? refuse(409, 'STRUCTURE_CHANGED')
  const { fields, isUnique = false } = sent
  const names = table.fields.map((field) => field.name)
  if (fields.some((field, index) => !names.includes(field) || fields.indexOf(field) < index)) invalid()
  if (fields.includes('rowid')) invalid()
  if (stored.indexes.some(covers(sent))) refuse(409, 'INDEX_EXISTS')
  if (isUnique && hasDuplicates(stored, fields)) refuse(409, 'UNIQUE_VIOLATION')
  const index = { name, fields, isUnique, isOurs: true }
  stored.indexes.push(index)
  return toTableIndex(index)
}

export const deleteIndex = (model: Model, table: Registered, name: string) => {
  const indexes = indexesOf(model, table)
  const index = indexes.find((candidate) => fold(candidate.name) === fold(name)) ?? refuse(404, 'INDEX_NOT_FOUND')
  if (!index.isOurs) refuse(409, 'INDEX_NOT_OURS')
  remove(indexes, index)
  return CONFIRMED
}
