import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { queryClient } from '../api/query-client.ts'
import type { components } from '../api/schema.d.ts'
import { accountQuery } from '../session/account.ts'

export type Admin = components['schemas']['AdminAccount']
export type Session = components['schemas']['AdminSession']
type NewAdmin = components['schemas']['AdminAccountCreate']
type AdminChanges = components['schemas']['AdminAccountUpdate']

export const adminsQuery = queryOptions({
  queryKey: ['admins'],
  queryFn: () => dataOf(api.GET('/admin/admins'))
})

const refresh = () => queryClient.invalidateQueries({ queryKey: adminsQuery.queryKey })

export const createAdmin = async (body: NewAdmin) => {
  await dataOf(api.POST('/admin/admins', { body }))
  await refresh()
}

export const changeAdmin = async (id: number, body: AdminChanges) => {
  await dataOf(api.PUT('/admin/admins/{id}', { params: { path: { id } }, body }))
  await Promise.all([refresh(), queryClient.invalidateQueries({ queryKey: accountQuery.queryKey })])
}

export const deleteAdmin = async (id: number) => {
  await dataOf(api.DELETE('/admin/admins/{id}', { params: { path: { id } } }))
}

/** After the delete of the own account, there is no session to read the list with. */
export const refreshAdmins = refresh

/** The sessions of one's own account. */
export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: () => dataOf(api.GET('/auth/sessions'))
})

export const endSession = async (id: string) => {
  await dataOf(api.DELETE('/auth/sessions/{id}', { params: { path: { id } } }))
  await queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey })
}
