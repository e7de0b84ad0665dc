import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { queryClient } from '../api/query-client.ts'
import type { components } from '../api/schema.d.ts'

export type Table = components['schemas']['Table']
export type TableField = components['schemas']['TableField']
export type TableForeignKey = components['schemas']['TableForeignKey']

const KEY = 'tables'

export const readTables = () => dataOf(api.GET('/admin/tables'))

/** All registered tables, with their fields. */
export const tablesQuery = queryOptions({ queryKey: [KEY], queryFn: readTables })

export const tableQuery = (id: number) =>
  queryOptions({
    queryKey: [KEY, id],
    queryFn: () => dataOf(api.GET('/admin/tables/{id}', { params: { path: { id } } }))
  })

/** How many records a table has. null: they are not counted. Each change of the records makes it stale. */
export const countQuery = (id: number) =>
  queryOptions({
    queryKey: ['records', id, 'count'],
    queryFn: async () => {
      const params = { path: { id }, query: { size: 1 } }
      const { total } = await dataOf(api.GET('/admin/tables/{id}/data', { params }))
      return total ?? null
    }
  })

/** Reads the tables again, after their structure has changed. */
export const tablesChanged = () => queryClient.invalidateQueries({ queryKey: [KEY] })

/** What is cached of the records of a table: the first parts of the keys. The second part is the id of the table. */
const OF_RECORDS = ['records', 'record', 'choices', 'example']

/** Removes the records as they were read before a change of the structure. What is shown is read again. */
const forgetRecords = (id: number) => {
  for (const key of OF_RECORDS) {
    queryClient.removeQueries({ queryKey: [key, id], type: 'inactive' })
    void queryClient.invalidateQueries({ queryKey: [key, id] })
  }
}

/** Shows a table as a response has it, and reads the others again: names and references may have changed. */
export const tableChanged = (table: Table) => {
  queryClient.setQueryData(tableQuery(table.id).queryKey, table)
  forgetRecords(table.id)
  return tablesChanged()
}

/** Removes all that is cached of a table. `inactive`: only what no page shows. */
export const forgetTable = (id: number, type: 'inactive' | 'all' = 'all') => {
  for (const key of [KEY, ...OF_RECORDS]) queryClient.removeQueries({ queryKey: [key, id], type })
}

/** Leaves a table that is no longer registered out of the lists. Its page may be open still. */
export const tableRemoved = (id: number) => {
  forgetTable(id, 'inactive')
  return queryClient.invalidateQueries({ queryKey: [KEY], exact: true })
}

/** The name for display. */
export const titleOf = ({ label, name }: Pick<Table, 'label' | 'name'>) => label || name

/** Returns the names of the key fields, in the order of the key. Names with commas are in the order of the columns. */
export const keyFields = ({ fields, primaryKey }: Pick<Table, 'fields' | 'primaryKey'>): readonly string[] => {
  const primary = fields.filter(({ isPrimary }) => isPrimary).map(({ name }) => name)
  const listed = primaryKey.split(',')
  return listed.length === primary.length && listed.every((name) => primary.includes(name)) ? listed : primary
}
