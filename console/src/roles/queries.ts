import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { queryClient } from '../api/query-client.ts'
import type { components } from '../api/schema.d.ts'

export type Role = components['schemas']['TokenRole']
export type Grant = components['schemas']['TokenRoleGrant']
export type Rule = components['schemas']['TokenRoleRows']
type NewRole = components['schemas']['TokenRoleCreate']
type RoleChanges = components['schemas']['TokenRoleUpdate']

export const rolesQuery = queryOptions({
  queryKey: ['roles'],
  queryFn: () => dataOf(api.GET('/admin/roles'))
})

/** Tokens show the name of their role. */
const refresh = () => Promise.all(['roles', 'tokens'].map((key) => queryClient.invalidateQueries({ queryKey: [key] })))

export const createRole = async (body: NewRole) => {
  const role = await dataOf(api.POST('/admin/roles', { body }))
  await refresh()
  return role
}

export const changeRole = async (id: number, body: RoleChanges) => {
  const role = await dataOf(api.PUT('/admin/roles/{id}', { params: { path: { id } }, body }))
  await refresh()
  return role
}

export const deleteRole = async (id: number) => {
  await dataOf(api.DELETE('/admin/roles/{id}', { params: { path: { id } } }))
  await refresh()
}
