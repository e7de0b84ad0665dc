import { openLogin } from '../session/account.ts'
import { texts } from '../texts/admins.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Actions, Dialog } from '../ui/dialog.tsx'
import { notify } from '../ui/toast.tsx'
import styles from './admins.module.css'
import { EditAdminDialog } from './edit-admin-dialog.tsx'
import { NewAdminDialog } from './new-admin-dialog.tsx'
import { type Admin, deleteAdmin, refreshAdmins } from './queries.ts'
import { ResetDialog } from './reset-dialog.tsx'

/** What the page does at the moment, in a dialog. */
export type AdminTask =
  | { readonly kind: 'create' }
  | { readonly kind: 'edit'; readonly admin: Admin }
  | { readonly kind: 'reset'; readonly admin: Admin }
  | { readonly kind: 'delete'; readonly admin: Admin; readonly isOwn: boolean }
  | { readonly kind: 'password'; readonly name: string; readonly password: string }

interface TaskProps {
  readonly onTask: (task: AdminTask | undefined) => void
}

/** Shows a password to the one who has set it, once. */
const PasswordDialog = ({ name, password, onClose }: { name: string; password: string; onClose: () => void }) => (
  <Dialog title={texts.issuedTitle(name)} hint={texts.issuedHint}>
    <code className={styles.secret}>{password}</code>
    <Actions>
      <CopyButton text={password} label={texts.copyPassword} />
      <Button variant="primary" onClick={onClose}>
        {texts.done}
      </Button>
    </Actions>
  </Dialog>
)

const DeleteDialog = ({ admin, isOwn, onTask }: TaskProps & { readonly admin: Admin; readonly isOwn: boolean }) => (
  <ConfirmDialog
    title={texts.deleteTitle(admin.name)}
    hint={isOwn ? texts.deleteOwnHint : texts.deleteHint}
    action={texts.deleteDo(admin.name)}
    run={() => deleteAdmin(admin.id)}
    onDone={() => {
      if (isOwn) return openLogin()
      notify({ title: texts.deleted(admin.name) })
      void refreshAdmins()
    }}
    onClose={() => onTask(undefined)}
  />
)

export const AdminDialogs = ({ task, onTask }: TaskProps & { readonly task: AdminTask }) => {
  const close = () => onTask(undefined)
  const show = (name: string, password: string) => onTask({ kind: 'password', name, password })
  if (task.kind === 'create') return <NewAdminDialog onCreated={show} onClose={close} />
  if (task.kind === 'edit') return <EditAdminDialog admin={task.admin} onClose={close} />
  if (task.kind === 'reset') return <ResetDialog admin={task.admin} onReset={show} onClose={close} />
  if (task.kind === 'delete') return <DeleteDialog admin={task.admin} isOwn={task.isOwn} onTask={onTask} />
  return <PasswordDialog name={task.name} password={task.password} onClose={close} />
}
