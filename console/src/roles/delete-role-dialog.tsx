import { texts } from '../texts/roles.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { notify } from '../ui/toast.tsx'
import { deleteRole, type Role } from './queries.ts'

interface DeleteRoleDialogProps {
  readonly role: Role
  readonly leave?: () => void
  readonly onClose: () => void
}

export const DeleteRoleDialog = ({ role: { id, name, tokens }, leave, onClose }: DeleteRoleDialogProps) => (
  <ConfirmDialog
    title={texts.deleteTitle(name)}
    hint={texts.deleteHint(tokens)}
    action={texts.deleteDo(name)}
    run={() => deleteRole(id)}
    onDone={() => notify({ title: texts.deleted(name) })}
    {...(leave && { leave })}
    onClose={onClose}
  />
)
