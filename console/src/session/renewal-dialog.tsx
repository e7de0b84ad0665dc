import { texts } from '../texts/session.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { openLogin } from './account.ts'
import { CredentialsForm } from './credentials-form.tsx'
import { endRenewal, useRenewal } from './renewal.ts'

/** Opens the login over the page when the session has ended. The requests that failed are sent again. */
export const RenewalDialog = ({ name }: { readonly name: string }) => {
  const isNeeded = useRenewal()
  if (!isNeeded) return null
  return (
    <Dialog title={texts.ended} hint={texts.endedHint}>
      <CredentialsForm fixedName={name} onLogIn={endRenewal}>
        <Button variant="quiet" onClick={openLogin}>
          {texts.leave}
        </Button>
      </CredentialsForm>
    </Dialog>
  )
}
