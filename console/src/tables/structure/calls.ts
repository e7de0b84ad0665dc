import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import type { components } from '../../api/schema.d.ts'
import { readAllTokens } from '../../tokens/queries.ts'
import { type Table, tableChanged } from '../queries.ts'

type Schemas = components['schemas']
export type TableUpdate = Schemas['TableUpdate']
export type FieldUpdate = Schemas['AdminTableFieldUpdate']
export type TableIndex = Schemas['TableIndex']

const confirmed = { confirm: true } as const

export const indexesQuery = (id: number) =>
  queryOptions({
    queryKey: ['tables', id, 'indexes'],
    queryFn: () => dataOf(api.GET('/admin/tables/{id}/indexes', { params: { path: { id } } }))
  })

/** The tokens whose permissions name the table. */
export const namingTokensQuery = (name: string) =>
  queryOptions({
    queryKey: ['tokens', 'naming', name],
    queryFn: async () =>
      (await readAllTokens()).filter(({ permissions }) =>
        permissions.tables.some((named) => named.toLowerCase() === name.toLowerCase())
      )
  })

const shown = async (sent: Promise<Table>) => {
  const table = await sent
  await tableChanged(table)
  return table
}

export const updateTable = ({ id }: Table, body: TableUpdate) =>
  shown(dataOf(api.PUT('/admin/tables/{id}', { params: { path: { id } }, body })))

export const updateField = ({ id }: Table, name: string, body: FieldUpdate) =>
  shown(dataOf(api.PUT('/admin/tables/{id}/fields/{name}', { params: { path: { id, name } }, body })))

export const addField = ({ id }: Table, field: Schemas['AdminTableFieldCreate']) =>
  shown(dataOf(api.POST('/admin/tables/{id}/fields', { params: { path: { id } }, body: { field } })))

export const dropField = ({ id }: Table, name: string) =>
  shown(dataOf(api.DELETE('/admin/tables/{id}/fields/{name}', { params: { path: { id, name }, query: confirmed } })))

export const refreshTable = ({ id }: Table) =>
  shown(dataOf(api.POST('/admin/tables/{id}/refresh', { params: { path: { id } } })))

const indexesChanged = (id: number) => queryClient.invalidateQueries({ queryKey: ['tables', id] })

export const createIndex = async ({ id }: Table, fields: string[], isUnique: boolean) => {
  await dataOf(api.POST('/admin/tables/{id}/indexes', { params: { path: { id } }, body: { fields, isUnique } }))
  await indexesChanged(id)
}

export const dropIndex = async ({ id }: Table, name: string) => {
  await dataOf(api.DELETE('/admin/tables/{id}/indexes/{name}', { params: { path: { id, name } } }))
  await indexesChanged(id)
}

/** `drop`: also deletes the rows. */
export const removeTable = (id: number, drop: boolean) =>
  dataOf(
    api.DELETE('/admin/tables/{id}', { params: { path: { id }, query: { ...confirmed, ...(drop && { drop: true }) } } })
  )
