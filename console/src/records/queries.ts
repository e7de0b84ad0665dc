import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import type { components } from '../api/schema.d.ts'
import type { View } from './view.ts'

export type RecordData = components['schemas']['TableRecord']

/** At most two pages are requested at a time: 60 rows. */
export const PAGE_SIZE = 30

const PAGE_LIFE_MS = 60_000

/** The key of all that is cached of the records of a table. */
export const recordsKey = (tableId: number) => ['records', tableId] as const

const parametersOf = ({ q, filter, order }: View) => ({
  ...(q && { q }),
  ...(filter && { filter }),
  ...(order && { order })
})

/** Number of matching records. */
export const totalQuery = (tableId: number, { q, filter }: View) =>
  queryOptions({
    queryKey: [...recordsKey(tableId), 'total', q, filter],
    queryFn: async ({ signal }) => {
      const query = { ...parametersOf({ q, filter, order: '' }), size: 1 }
      const { total } = await dataOf(
        api.GET('/admin/tables/{id}/data', { params: { path: { id: tableId }, query }, signal })
      )
      return total
    },
    placeholderData: keepPreviousData
  })

/**
 * One page of records, counted from 0. The service caches the count of a whole table, and reads late pages from the end
 * if it is asked for: the last page of 1,000,000 records takes 3 ms instead of 125. Counts of filters are not cached.
 */
export const pageQuery = (tableId: number, view: View, page: number) =>
  queryOptions({
    queryKey: [...recordsKey(tableId), 'page', view, page],
    queryFn: async ({ signal }) => {
      const query = { ...parametersOf(view), page: page + 1, size: PAGE_SIZE, total: !view.q && !view.filter }
      const { rows } = await dataOf(
        api.GET('/admin/tables/{id}/data', { params: { path: { id: tableId }, query }, signal })
      )
      return rows
    },
    gcTime: PAGE_LIFE_MS
  })

export interface ReadRecord {
  readonly record: RecordData
  readonly etag: string
}

/** Reads a record with its ETag, for a change that must not overwrite another one. */
export const readRecord = async (tableId: number, pk: string): Promise<ReadRecord> => {
  const sent = api.GET('/admin/tables/{id}/data/{pk}', { params: { path: { id: tableId, pk } }, cache: 'no-store' })
  const record = await dataOf(sent)
  return { record, etag: (await sent).response.headers.get('etag') ?? '*' }
}
