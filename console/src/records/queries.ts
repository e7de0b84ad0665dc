import { keepPreviousData, queryOptions, skipToken } from '@tanstack/react-query'
import { api, dataOf, isServiceError } from '../api/client.ts'
import { etagOf } from '../api/etag.ts'
import { queryClient } from '../api/query-client.ts'
import type { components } from '../api/schema.d.ts'
import type { Table } from '../tables/queries.ts'
import { keyOf } from './keys.ts'
import { type Shape, WHOLE } from './shape.ts'
import type { RecordSource } from './source.ts'
import type { View } from './view.ts'

export type RecordData = components['schemas']['TableRecord']

/** At most two pages are requested at a time: 60 rows. */
export const PAGE_SIZE = 30

/** Records of a page if MAX_PAGE_SIZE of the service is less than `PAGE_SIZE`. The first page that is read states it. */
export const pageSizeQuery = queryOptions<number>({
  queryKey: ['page-size'],
  queryFn: skipToken,
  gcTime: Number.POSITIVE_INFINITY
})

const PAGE_LIFE_MS = 60_000

/** The key of all that is cached of the records of a table. */
export const recordsKey = (tableId: number) => ['records', tableId] as const

const parametersOf = ({ q, filter, order }: View) => ({
  ...(q && { q }),
  ...(filter && { filter }),
  ...(order && { order })
})

/** The key of the number of matching records. */
export const totalKey = (tableId: number, { q, filter }: Pick<View, 'q' | 'filter'>) =>
  [...recordsKey(tableId), 'total', q, filter] as const

/** Number of matching records. */
export const totalQuery = (source: RecordSource, table: Table, { q, filter }: View) =>
  queryOptions({
    queryKey: [...source.key, ...totalKey(table.id, { q, filter })],
    queryFn: async ({ signal }) => {
      const query = { ...parametersOf({ q, filter, order: '' }), size: 1 }
      return (await source.list(table, query, signal)).total
    },
    placeholderData: keepPreviousData
  })

interface PageNumber {
  /** Counted from 0. */
  readonly page: number
  readonly size: number
}

interface PageOptions extends PageNumber {
  readonly source: RecordSource
  readonly table: Table
  readonly view: View
  readonly shape: Shape
  readonly signal: AbortSignal
}

const readPage = ({ source, table, view, shape: { fields, expand }, page, size, signal }: PageOptions) => {
  const part = { ...(fields && { fields }), ...(expand && { expand }) }
  const query = { ...parametersOf(view), ...part, page: page + 1, size, total: !view.q && !view.filter }
  return source.list(table, query, signal)
}

const hasCode = (error: unknown, code: string) => isServiceError(error) && error.code === code

/** Reads the records of a page that is too large for one response one by one. */
const readOneByOne = async (options: PageOptions) => {
  const rows: RecordData[] = []
  for (let index = 0; index < options.size; index += 1) {
    const read = await readPage({ ...options, page: options.page * options.size + index, size: 1 })
    if (read.rows.length === 0) break
    rows.push(...read.rows)
  }
  return rows
}

/** Reads a page that is too large for one response: without the records to which its records refer, then one by one. */
const readLarge = async (options: PageOptions): ReturnType<typeof readPage> => {
  const { page, size, shape } = options
  if (shape.expand !== '') return readAll({ ...options, shape: { ...shape, expand: '' } })
  return { rows: await readOneByOne(options), total: -1, page, size }
}

/** Another administrator has changed the fields, or a table to which the records refer. */
const isOutdated = (error: unknown) => hasCode(error, 'VALIDATION_FAILED') || hasCode(error, 'STRUCTURE_CHANGED')

/** Reads a page, whole records if a field or a reference cannot be read any more. */
const readAll = async (options: PageOptions): ReturnType<typeof readPage> => {
  try {
    return await readPage(options)
  } catch (error) {
    if (hasCode(error, 'RESPONSE_TOO_LARGE')) return readLarge(options)
    if (!isOutdated(error) || options.shape === WHOLE) throw error
    return readAll({ ...options, shape: WHOLE })
  }
}

/**
 * One page of records. The service caches the count of a whole table, and reads late pages from the end
 * if the request needs it: the last page of 1,000,000 records takes 3 ms instead of 125. Counts of filters are not cached.
 */
export const pageQuery = ({ source, table, view, shape, page, size }: Omit<PageOptions, 'signal'>) =>
  queryOptions({
    queryKey: [...source.key, ...recordsKey(table.id), 'page', view, shape, page, size],
    queryFn: async ({ signal }): Promise<readonly RecordData[]> => {
      const read = await readAll({ source, table, view, shape, page, size, signal })
      if (read.size === size) return read.rows
      // The page has other rows than expected. The grid loads pages of the right size.
      queryClient.setQueryData(pageSizeQuery.queryKey, read.size)
      return []
    },
    gcTime: PAGE_LIFE_MS
  })

interface RangeOptions extends Omit<PageOptions, 'page' | 'size'> {
  /** Rows, counted from 0. */
  readonly first: number
  readonly last: number
}

/** Reads the records of a range of rows as they are now, not from the cache. */
export const readRange = async ({ first, last, ...options }: RangeOptions) => {
  const size = queryClient.getQueryData(pageSizeQuery.queryKey) ?? PAGE_SIZE
  const firstPage = Math.floor(first / size)
  const records: RecordData[] = []
  for (let page = firstPage; page * size <= last; page += 1) {
    const { rows } = await readAll({ ...options, page, size })
    records.push(...rows)
  }
  const start = firstPage * size
  return records.slice(first - start, last + 1 - start)
}

/** The loaded records of a view, by key. */
export const loadedRecords = (table: Table, view: View, shape: Shape) => {
  const queryKey = [...recordsKey(table.id), 'page', view, shape]
  const pages = queryClient.getQueriesData<readonly RecordData[]>({ queryKey })
  return new Map(pages.flatMap(([, rows = []]) => rows.map((row) => [keyOf(table, row), row] as const)))
}

/** A record as it was read. */
export interface Version {
  readonly record: RecordData
  readonly etag: string
}

/** Reads a record with its ETag, for a change that must not overwrite another one. */
export const readVersion = async (tableId: number, pk: string): Promise<Version> => {
  const sent = api.GET('/admin/tables/{id}/data/{pk}', { params: { path: { id: tableId, pk } }, cache: 'no-store' })
  const record = await dataOf(sent)
  return { record, etag: etagOf((await sent).response) }
}
