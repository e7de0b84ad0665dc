import { useState } from 'react'
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
  const wait = () => {
    changePasswordLater(id)
    setLater(true)
  }
  if (isLater) return null
  return (
    <Dialog title={texts.changeTitle} hint={texts.changeHint}>
      <PasswordForm>
        <Button variant="quiet" onClick={wait}>
          {texts.later}
        </Button>
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
