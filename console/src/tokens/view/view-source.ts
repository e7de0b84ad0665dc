import { queryOptions } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import type { RecordSource } from '../../records/source.ts'
import type { Table } from '../../tables/queries.ts'
import { createViewApi, dropView } from './view-client.ts'

const keyOf = (id: number) => ['view', id] as const

/** The names of the tables that a token can use. */
export const viewedTablesQuery = (id: number) =>
  queryOptions({
    queryKey: [...keyOf(id), 'names'],
    queryFn: async () => (await dataOf(createViewApi(id).GET('/data/_me'))).tables
  })

const referencedBy = ({ name, fields }: Table) =>
  [...new Set(fields.flatMap(({ references }) => references?.table ?? []))].filter((other) => other !== name)

/** Reads a table, and those to which its records refer, as the token sees them. */
const readTables = async (api: ReturnType<typeof createViewApi>, name: string): Promise<readonly Table[]> => {
  const read = (table: string) => dataOf(api.GET('/data/{table}/schema', { params: { path: { table } } }))
  const shown = await read(name)
  // A reference shows its key if the token cannot read the other table.
  const referenced = await Promise.allSettled(referencedBy(shown).map(read))
  return [shown, ...referenced.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))]
}

/** The records of a table as a token sees them. The first one of `tables` is the table itself. */
export const createViewSource = (id: number, name: string): RecordSource => {
  const api = createViewApi(id)
  return {
    key: keyOf(id),
    canOpen: false,
    tables: { queryKey: [...keyOf(id), 'tables', name], queryFn: () => readTables(api, name) },
    list: (table, query, signal) =>
      dataOf(api.GET('/data/{table}', { params: { path: { table: table.name }, query }, signal })),
    query: (table, body, signal) =>
      dataOf(api.POST('/data/{table}/query', { params: { path: { table: table.name } }, body, signal }))
  }
}

/** Removes the view and all that was read with it from the caches. */
export const leaveView = (id: number) => {
  dropView(id)
  queryClient.removeQueries({ queryKey: keyOf(id) })
}
