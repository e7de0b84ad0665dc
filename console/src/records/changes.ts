import { hashKey, type Query } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { queryClient } from '../api/query-client.ts'
import type { Table } from '../tables/queries.ts'
import { texts } from '../texts/records-grid.ts'
import { keyFields, keyOf, wideField } from './keys.ts'
import { restoreRecords, versionQuery } from './panel/queries.ts'
import { type RecordData, readVersion, recordsKey, totalQuery } from './queries.ts'
import { isSameValue } from './values.ts'

/** Tells all that is shown of the records of a table that they have changed. */
export const announce = (tableId: number) => queryClient.invalidateQueries({ queryKey: recordsKey(tableId) })

interface FieldChange {
  readonly table: Table
  readonly pk: string
  readonly field: string
  readonly value: unknown
  readonly etag: string
}

/** Saves one field of a record, if the record still has this ETag. Returns the record. */
export const saveField = async ({ table, pk, field, value, etag }: FieldChange) => {
  const { record } = await dataOf(
    api.PUT('/admin/tables/{id}/data/{pk}', {
      params: { path: { id: table.id, pk }, query: { return: 'record' }, header: { 'If-Match': etag } },
      body: { [field]: value }
    })
  )
  if (record) showSaved(table, pk, record)
  refreshPages(table.id)
  if (record) await renewVersion(table, pk, etag, record)
  return record
}

/**
 * Gives the open panel of a record the new version with its ETag, if nobody else has changed the record: neither before
 * (`etag`) nor after the record was saved. A failure is no failure of the save: the panel then asks.
 */
const renewVersion = async (table: Table, pk: string, etag: string, saved: RecordData) => {
  const { queryKey } = versionQuery(table, pk)
  if (queryClient.getQueryData(queryKey)?.etag !== etag) return
  const version = await readVersion(table.id, pk).catch(() => undefined)
  if (version && isSameValue(version.record, saved)) queryClient.setQueryData(queryKey, version)
}

/** Loads the pages again. A changed value changes how many records match, but not how many the table has. */
const refreshPages = (tableId: number) => {
  const whole = totalQuery(tableId, { q: '', filter: '', order: '' }).queryKey
  const predicate = ({ queryHash }: Query) => queryHash !== hashKey(whole)
  queryClient.invalidateQueries({ queryKey: recordsKey(tableId), predicate })
}

/** Puts a saved record where it is shown, before the pages are loaded again. */
export const showSaved = (table: Table, pk: string, record: RecordData) => {
  queryClient.setQueriesData<readonly RecordData[]>({ queryKey: [...recordsKey(table.id), 'page'] }, (rows) =>
    rows?.map((row) => (keyOf(table, row) === pk ? record : row))
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
  const operations = before.map((record) => ({ op: 'delete', table: table.name, pk: keyOf(table, record) }))
  if (operations.length > 0) await dataOf(api.POST('/admin/batch', { body: { operations } }))
  await announce(table.id)
  const restore = async () => {
    await restoreRecords(table, before)
    await announce(table.id)
  }
  return { count: before.length, restore }
}
