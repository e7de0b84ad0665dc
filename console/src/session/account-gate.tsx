import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ServiceError } from '../api/errors.ts'
import { Problem } from '../ui/page.tsx'
import { accountQuery } from './account.ts'
import { LoginPage } from './login-page.tsx'
import { SessionDialogs } from './session-dialogs.tsx'

/** Shows the page to an administrator, and the login to everybody else. */
export const AccountGate = ({ children }: { readonly children: ReactNode }) => {
  const account = useQuery(accountQuery)
  // A failed refetch keeps the page: a form may be open.
  if (!account.data) {
    if (account.error instanceof ServiceError && account.error.status === 401) return <LoginPage />
    return account.isError && <Problem error={account.error} onRetry={() => account.refetch()} />
  }
  return (
    <>
      {children}
      <SessionDialogs account={account.data} />
    </>
  )
}
