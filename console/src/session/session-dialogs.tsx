import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { tablesQuery } from '../tables/queries.ts'
import { texts } from '../texts/session.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import type { Account } from './account.ts'
import { changePasswordLater, isPasswordLater } from './later.ts'
import { useOtherTabs } from './other-tabs.ts'
import { PasswordForm } from './password-form.tsx'
import { RenewalDialog } from './renewal-dialog.tsx'
import { SwitchDialog } from './switch-dialog.tsx'

const PasswordDialog = ({ id }: Account) => {
  const [isLater, setLater] = useState(() => isPasswordLater(id))
  // With REQUIRE_PASSWORD_CHANGE, the service refuses this call until the password is changed.
  const { isSuccess: mayWait } = useQuery(tablesQuery)
  const wait = () => {
    changePasswordLater(id)
    setLater(true)
  }
  if (isLater && mayWait) return null
  return (
    <Dialog title={texts.changeTitle} hint={texts.changeHint}>
      <PasswordForm>
        {mayWait && (
          <Button variant="quiet" onClick={wait}>
            {texts.later}
          </Button>
        )}
      </PasswordForm>
    </Dialog>
  )
}

/** What an administrator has to decide about the own account before the page is used. */
export const SessionDialogs = ({ account }: { readonly account: Account }) => {
  /** The administrator who uses this page. A login in another tab may change `account`. */
  const [owner, setOwner] = useState(account)
  useOtherTabs(owner.id)
  if (account.id !== owner.id) return <SwitchDialog from={owner} to={account} onGoOn={() => setOwner(account)} />
  return (
    <>
      {account.mustChangePassword && <PasswordDialog key={account.id} {...account} />}
      <RenewalDialog name={owner.name} />
    </>
  )
}
