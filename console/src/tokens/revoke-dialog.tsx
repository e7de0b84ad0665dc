import { texts } from '../texts/tokens.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { notify } from '../ui/toast.tsx'
import { revokeToken, type Token } from './queries.ts'

interface RevokeDialogProps {
  readonly token: Token
  readonly leave?: () => void
  readonly onClose: () => void
}

export const RevokeDialog = ({ token: { id, name, token_prefix }, leave, onClose }: RevokeDialogProps) => (
  <ConfirmDialog
    title={texts.revokeTitle(name)}
    hint={texts.revokeHint(token_prefix)}
    action={texts.revokeDo(name)}
    run={() => revokeToken(id)}
    onDone={() => notify({ title: texts.revoked(name) })}
    {...(leave && { leave })}
    onClose={onClose}
  />
)
