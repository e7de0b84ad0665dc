import { hashKey, type Query } from '@tanstack/react-query'
import { api, dataOf, isServiceError } from '../api/client.ts'
import { ServiceError } from '../api/errors.ts'
import { queryClient } from '../api/query-client.ts'
import { keyFields, type Table } from '../tables/queries.ts'
import { texts } from '../texts/records-grid.ts'
import { keyOf, type Row, wideField } from './keys.ts'
import { restoreRecords, updateRecord, versionQuery } from './panel/queries.ts'
import { type RecordData, readVersion, recordsKey, totalKey, type Version } from './queries.ts'
import { withReferences } from './shape.ts'
import { isSameIn } from './values.ts'

/** Invalidates all cached records of a table. */
export const invalidateRecords = async (tableId: number) => {
  const keys = [recordsKey(tableId), ['choices', tableId]]
  await Promise.all(keys.map((queryKey) => queryClient.invalidateQueries({ queryKey })))
}

/** The record after a save, or the version of somebody else that conflicts with the values. */
export type Outcome = { readonly record: RecordData } | { readonly theirs: Version }

interface Changes {
  readonly table: Table
  readonly pk: string
  readonly values: Row
  /** The version that the user has edited. */
  readonly version: Version
}

const isConflict = (error: unknown) => isServiceError(error) && error.code === 'PRECONDITION_FAILED'

/**
 * Saves fields of a record. If only other fields have changed since the version was read, they keep their new values.
 * Values that are already stored count as saved: the response to an earlier request may have been lost.
 */
export const saveFields = async (changes: Changes, isRetry = false): Promise<Outcome> => {
  const { table, pk, values, version } = changes
  try {
    return { record: await updateRecord(table, pk, version, values) }
  } catch (error) {
    if (!isConflict(error)) throw error
    const theirs = await readVersion(table.id, pk)
    const names = Object.keys(values)
    if (isSameIn(names, theirs.record, values)) return { record: theirs.record }
    if (isRetry || !isSameIn(names, theirs.record, version.record)) return { theirs }
    return saveFields({ ...changes, version: theirs }, true)
  }
}

/** Shows a record that was saved in the grid, also in its panel, and loads the pages again. */
export const showSavedCell = (table: Table, pk: string, record: RecordData) => {
  showSaved(table, pk, record)
  refreshPages(table.id)
  // If this read fails, the save still counts. The next save in the panel may then show a conflict.
  return queryClient.invalidateQueries({ queryKey: versionQuery(table, pk).queryKey })
}

/** Loads the pages again. A changed value changes how many records match, but not how many the table has. */
const refreshPages = (tableId: number) => {
  const whole = totalKey(tableId, { q: '', filter: '' })
  const predicate = ({ queryHash }: Query) => queryHash !== hashKey(whole)
  queryClient.invalidateQueries({ queryKey: recordsKey(tableId), predicate })
}

/** Puts a saved record where it is shown, before the pages are loaded again. */
export const showSaved = (table: Table, pk: string, record: RecordData) => {
  queryClient.setQueriesData<readonly RecordData[]>({ queryKey: [...recordsKey(table.id), 'page'] }, (rows) =>
    rows?.map((row) => (keyOf(table, row) === pk ? withReferences(table, record, row) : row))
  )
}

/** A filter has at most 100 conditions. */
const MAX_CONDITIONS = 90

const readPage = (table: Table, records: readonly RecordData[]) => {
  const names = keyFields(table)
  const toFilter = (record: RecordData) => ({
    where: Object.fromEntries(names.map((name) => [name, { eq: record[name] }]))
  })
  const body = { filter: { any: records.map(toFilter) }, size: records.length }
  return dataOf(api.POST('/admin/tables/{id}/query', { params: { path: { id: table.id } }, body }))
}

/** Reads records again as they are now, so that an undo restores what was deleted. */
const readAgain = async (table: Table, records: readonly RecordData[]) => {
  const found: RecordData[] = []
  let count = Math.max(1, Math.floor(MAX_CONDITIONS / keyFields(table).length))
  for (let first = 0; first < records.length; ) {
    const part = records.slice(first, first + count)
    const { rows, size } = await readPage(table, part)
    // The service has smaller pages: fewer records are read at a time.
    count = Math.min(count, size)
    if (size < part.length) continue
    found.push(...rows)
    first += part.length
  }
  return found
}

/** Returns the error without the number of its operation, which nobody has seen. */
const withoutOperation = (error: unknown) => {
  if (!(error instanceof ServiceError)) return error
  const { status, hint, requestId, details } = error
  const message = details[0]?.message ?? error.message
  return new ServiceError(status, { message, ...(hint && { hint }), ...(requestId && { requestId }) })
}

const deleteAll = async (table: Table, records: readonly RecordData[]) => {
  const operations = records.map((record) => ({ op: 'delete', table: table.name, pk: keyOf(table, record) }))
  try {
    await dataOf(api.POST('/admin/batch', { body: { operations } }))
  } catch (error) {
    throw withoutOperation(error)
  }
}

/**
 * Deletes those of the records that still exist, all or none. Returns their number, and how to create them again, with
 * their keys.
 */
export const deleteRecords = async (table: Table, records: ReadonlyMap<string, RecordData>) => {
  const before = await readAgain(table, [...records.values()])
  // An undo would fail, and the records would be lost.
  for (const record of before) {
    const field = wideField(table, record)
    if (field) throw new Error(texts.notUndoable(keyOf(table, record), field.name))
  }
  if (before.length > 0) await deleteAll(table, before)
  await invalidateRecords(table.id)
  const restore = async () => {
    await restoreRecords(table, before)
    await invalidateRecords(table.id)
  }
  return { count: before.length, restore }
}
