import { queryOptions } from '@tanstack/react-query'
import { dataOf, isServiceError, sessionApi } from '../api/client.ts'
import { queryClient } from '../api/query-client.ts'
import type { components } from '../api/schema.d.ts'
import { texts } from '../texts/session.ts'
import { askBeforeLeaving } from '../ui/leave-guard.ts'
import { notifyError } from '../ui/toast.tsx'
import { announceSession } from './channel.ts'
import { forgetPasswordLater } from './later.ts'

export type Account = components['schemas']['Admin']

/** The administrator of the session. Fails with status 401 without a session. */
export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: () => dataOf(sessionApi.GET('/auth/me')),
  staleTime: Number.POSITIVE_INFINITY
})

export const logIn = async (name: string, password: string) => {
  const { admin } = await dataOf(sessionApi.POST('/auth/login', { body: { name, password } }))
  queryClient.setQueryData(accountQuery.queryKey, admin)
  announceSession()
  return admin
}

const endSession = async () => {
  try {
    await dataOf(sessionApi.POST('/auth/logout'))
  } catch (error) {
    // The session has ended already.
    if (!(isServiceError(error) && error.status === 401)) return notifyError(texts.notLoggedOut, error)
  }
  forgetPasswordLater()
  announceSession()
  openLogin()
}

export const logOut = () => askBeforeLeaving(endSession)

/** Loads the login page. Keeps the cache: if something is not saved, the browser asks, and the user may stay. */
export const openLogin = () => window.location.assign(new URL('./', document.baseURI))

export const changePassword = async (oldPassword: string, newPassword: string) => {
  await dataOf(sessionApi.PUT('/auth/password', { body: { oldPassword, newPassword } }))
  // Before, the service may have refused everything else.
  await queryClient.invalidateQueries()
}
