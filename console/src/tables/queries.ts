import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { queryClient } from '../api/query-client.ts'
import type { components } from '../api/schema.d.ts'

export type Table = components['schemas']['Table']
export type TableField = components['schemas']['TableField']
export type TableForeignKey = components['schemas']['TableForeignKey']

const KEY = 'tables'

/** All registered tables, with their fields. */
export const tablesQuery = queryOptions({
  queryKey: [KEY],
  queryFn: () => dataOf(api.GET('/admin/tables'))
})

export const tableQuery = (id: number) =>
  queryOptions({
    queryKey: [KEY, id],
    queryFn: () => dataOf(api.GET('/admin/tables/{id}', { params: { path: { id } } }))
  })

/** Reads the tables again, after their structure has changed. */
export const tablesChanged = () => queryClient.invalidateQueries({ queryKey: [KEY] })

/** Shows a table as a response has it, and reads the others again: names and references may have changed. */
export const tableChanged = (table: Table) => {
  queryClient.setQueryData(tableQuery(table.id).queryKey, table)
  return tablesChanged()
}

/** Removes a table that is no longer registered. */
export const tableRemoved = (id: number) => {
  queryClient.removeQueries({ queryKey: [KEY, id] })
  return queryClient.invalidateQueries({ queryKey: [KEY], exact: true })
}

/** The name for display. */
export const titleOf = ({ label, name }: Pick<Table, 'label' | 'name'>) => label || name
