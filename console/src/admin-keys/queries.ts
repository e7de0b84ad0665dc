import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { queryClient } from '../api/query-client.ts'
import type { components } from '../api/schema.d.ts'

export type AdminKey = components['schemas']['AdminKey']
export type AdminScope = components['schemas']['AdminScope']
export type IssuedAdminKey = components['schemas']['IssuedAdminKey']
type NewAdminKey = components['schemas']['AdminKeyCreate']

export const adminKeysQuery = queryOptions({
  queryKey: ['admin-keys'],
  queryFn: () => dataOf(api.GET('/admin/keys'))
})

const refresh = () => queryClient.invalidateQueries({ queryKey: adminKeysQuery.queryKey })

/** Returns the key with its secret, which no other call returns. */
export const issueAdminKey = async (body: NewAdminKey) => {
  const issued = await dataOf(api.POST('/admin/keys', { body }))
  await refresh()
  return issued
}

export const revokeAdminKey = async (id: number) => {
  await dataOf(api.DELETE('/admin/keys/{id}', { params: { path: { id } } }))
  await refresh()
}
