import { useEffect } from 'react'
import { dataOf, isServiceError, sessionApi } from '../api/client.ts'
import { queryClient } from '../api/query-client.ts'
import { accountQuery } from './account.ts'
import { channel } from './channel.ts'
import { endRenewal, renewSession } from './renewal.ts'

/** Reads the account of the session again, and ends or starts the login over the page. */
const checkSession = async (ownerId: number) => {
  try {
    const account = await dataOf(sessionApi.GET('/auth/me'))
    queryClient.setQueryData(accountQuery.queryKey, account)
    if (account.id === ownerId) endRenewal()
  } catch (error) {
    if (isServiceError(error) && error.status === 401) await renewSession()
  }
}

/** All tabs share the session: another one may log in or out. `ownerId` is the administrator who uses this page. */
export const useOtherTabs = (ownerId: number) => {
  useEffect(() => {
    const check = () => checkSession(ownerId)
    window.addEventListener('focus', check)
    channel.addEventListener('message', check)
    return () => {
      window.removeEventListener('focus', check)
      channel.removeEventListener('message', check)
    }
  }, [ownerId])
}
