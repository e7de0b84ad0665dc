import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { queryClient } from '../api/query-client.ts'
import type { components } from '../api/schema.d.ts'

export type Token = components['schemas']['Token']
export type IssuedToken = components['schemas']['IssuedToken']
export type RotatedToken = components['schemas']['RotatedToken']
export type Claims = Token['claims']
export type Permissions = components['schemas']['TokenPermissions']
type NewToken = components['schemas']['TokenCreate']
type TokenChanges = components['schemas']['TokenUpdate']

export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: () => dataOf(api.GET('/admin/tokens'))
})

/** Roles show how many tokens they have. */
const refresh = () => Promise.all(['tokens', 'roles'].map((key) => queryClient.invalidateQueries({ queryKey: [key] })))

/** Returns the token with its secret, which no other call returns. */
export const issueToken = async (body: NewToken) => {
  const issued = await dataOf(api.POST('/admin/tokens', { body }))
  await refresh()
  return issued
}

/** Returns warnings about the permissions. */
export const changeToken = async (id: number, body: TokenChanges) => {
  const { warnings = [] } = await dataOf(api.PUT('/admin/tokens/{id}', { params: { path: { id } }, body }))
  await refresh()
  return warnings
}

/** Returns the new secret, which no other call returns. */
export const rotateToken = async (id: number, overlapSeconds: number) => {
  const body = { overlapSeconds }
  const rotated = await dataOf(api.POST('/admin/tokens/{id}/rotate', { params: { path: { id } }, body }))
  await refresh()
  return rotated
}

export const revokeToken = async (id: number) => {
  await dataOf(api.DELETE('/admin/tokens/{id}', { params: { path: { id } } }))
  await refresh()
}
