import { texts } from '../texts/session.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import type { Account } from './account.ts'
import { CredentialsForm } from './credentials-form.tsx'
import { endRenewal } from './renewal.ts'

interface SwitchDialogProps {
  /** The administrator who has used the page. */
  readonly from: Account
  /** The administrator who has logged in, in another tab. */
  readonly to: Account
  readonly onGoOn: () => void
}

/** Says that another administrator has logged in, so that nobody saves under another name without knowing. */
export const SwitchDialog = ({ from, to, onGoOn }: SwitchDialogProps) => {
  const goOn = () => {
    onGoOn()
    endRenewal()
  }
  return (
    <Dialog title={texts.switched(to.name)} hint={texts.switchedHint(from.name, to.name)}>
      <CredentialsForm fixedName={from.name} onLogIn={endRenewal}>
        <Button variant="quiet" onClick={goOn}>
          {texts.goOnAs(to.name)}
        </Button>
      </CredentialsForm>
    </Dialog>
  )
}
