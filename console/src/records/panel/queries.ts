import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import { upload } from '../../api/upload.ts'
import type { Table } from '../../tables/queries.ts'
import { texts } from '../../texts/record-panel.ts'
import type { Row } from '../keys.ts'
import { type RecordData, readVersion, recordsKey, type Version } from '../queries.ts'
import type { Incoming } from './links.ts'

const pathOf = (table: Table, pk: string) => ({ path: { id: table.id, pk } })

/** Never stale: a record that is read again by itself would change what the user compares with. */
export const versionQuery = (table: Table, pk: string) =>
  queryOptions({
    queryKey: ['record', table.id, pk],
    queryFn: () => readVersion(table.id, pk),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0
  })

/** How many records of a list of linked records the panel shows. */
const MAX_LINKED = 3

/** Some of the records that refer to a record: their keys and labels. */
export const linkedQuery = ({ table, filter }: Incoming) =>
  queryOptions({
    queryKey: [...recordsKey(table.id), 'linked', filter],
    queryFn: async ({ signal }) => {
      const fields = table.labelField === null ? [] : [table.labelField]
      const body = { filter: JSON.parse(filter), fields, size: MAX_LINKED }
      const { rows } = await dataOf(
        api.POST('/admin/tables/{id}/query', { params: { path: { id: table.id } }, body, signal })
      )
      return rows
    }
  })

const changeOf = (table: Table, pk: string, { etag }: Version) => ({
  ...pathOf(table, pk),
  header: { 'If-Match': etag },
  query: { return: 'record' as const }
})

/** The request has `return=record`. */
const recordOf = ({ record }: { readonly record?: RecordData }) => {
  if (!record) throw new Error(texts.noRecord)
  return record
}

/**
 * Changes fields of a record and returns it. @throws ServiceError with status 412 if the record is no longer the version
 */
export const updateRecord = async (table: Table, pk: string, version: Version, values: Row) => {
  const params = changeOf(table, pk, version)
  return recordOf(await dataOf(api.PUT('/admin/tables/{id}/data/{pk}', { params, body: values })))
}

/** Creates a record. `key`: its Idempotency-Key. */
export const createRecord = (table: Table, values: Row, key: string): Promise<Row> =>
  dataOf(
    api.POST('/admin/tables/{id}/data', {
      params: { path: { id: table.id }, header: { 'Idempotency-Key': key } },
      body: values
    })
  )

/** Deletes a record and returns it. @throws ServiceError with status 412 if the record is no longer the version */
export const deleteRecord = async (table: Table, pk: string, version: Version) => {
  const params = changeOf(table, pk, version)
  return recordOf(await dataOf(api.DELETE('/admin/tables/{id}/data/{pk}', { params })))
}

/** Creates deleted records again, with their keys. Only an import can set read-only fields. */
export const restoreRecords = (table: Table, records: readonly Row[]) =>
  upload({
    method: 'POST',
    path: `/admin/tables/${table.id}/import`,
    body: new Blob(records.map((record) => `${JSON.stringify(record)}\n`)),
    format: 'ndjson'
  })
