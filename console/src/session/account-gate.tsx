import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ServiceError } from '../api/errors.ts'
import { texts } from '../texts/session.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Problem } from '../ui/page.tsx'
import { accountQuery } from './account.ts'
import { LoginPage } from './login-page.tsx'
import { PasswordForm } from './password-form.tsx'
import { RenewalDialog } from './renewal-dialog.tsx'

/** Shows the page to an administrator, and the login to everybody else. */
export const AccountGate = ({ children }: { readonly children: ReactNode }) => {
  const account = useQuery(accountQuery)
  const [isLater, setLater] = useState(false)
  // A failed refetch keeps the page: a form may be open.
  if (!account.data) {
    if (account.error instanceof ServiceError && account.error.status === 401) return <LoginPage />
    return account.isError && <Problem error={account.error} onRetry={() => account.refetch()} />
  }
  const { mustChangePassword, name } = account.data
  return (
    <>
      {children}
      {mustChangePassword && !isLater && (
        <Dialog title={texts.changeTitle} hint={texts.changeHint}>
          <PasswordForm>
            <Button variant="quiet" onClick={() => setLater(true)}>
              {texts.later}
            </Button>
          </PasswordForm>
        </Dialog>
      )}
      <RenewalDialog name={name} />
    </>
  )
}
