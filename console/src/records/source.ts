import { createContext, useContext } from 'react'
import { api, dataOf } from '../api/client.ts'
import type { components, paths } from '../api/schema.d.ts'
import { readTables, type Table, tablesQuery } from '../tables/queries.ts'

type ListQuery = NonNullable<paths['/admin/tables/{id}/data']['get']['parameters']['query']>
type Page = components['schemas']['TableRecordPage']
type RecordQuery = components['schemas']['TableRecordQuery']
type QueryPage = components['schemas']['TableRecordQueryPage']

/** Whose records the grid shows: all of them, or those that a token sees. */
export interface RecordSource {
  /** The first parts of the keys of all that is cached of the records. */
  readonly key: readonly unknown[]
  /** Whether records open in the panel. Without it, none can be edited. */
  readonly canOpen: boolean
  /** The tables to which records may refer. */
  readonly tables: {
    readonly queryKey: readonly unknown[]
    readonly queryFn: () => Promise<readonly Table[]>
  }
  list(table: Table, query: ListQuery, signal: AbortSignal): Promise<Page>
  query(table: Table, body: RecordQuery, signal: AbortSignal): Promise<QueryPage>
}

/** The records as administrators see them. */
export const adminSource: RecordSource = {
  key: [],
  canOpen: true,
  tables: { queryKey: tablesQuery.queryKey, queryFn: readTables },
  list: ({ id }, query, signal) =>
    dataOf(api.GET('/admin/tables/{id}/data', { params: { path: { id }, query }, signal })),
  query: ({ id }, body, signal) =>
    dataOf(api.POST('/admin/tables/{id}/query', { params: { path: { id } }, body, signal }))
}

const Source = createContext(adminSource)

export const SourceProvider = Source.Provider

export const useSource = () => useContext(Source)

/** Whether the records of a table can be edited here. Those of a view, and records without a key, cannot. */
export const useCanEdit = ({ kind, primaryKey }: Pick<Table, 'kind' | 'primaryKey'>) =>
  useSource().canOpen && kind !== 'view' && primaryKey !== ''
