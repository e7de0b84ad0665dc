import { texts } from '../texts/backups.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { formatTime } from '../ui/time.tsx'
import { notify } from '../ui/toast.tsx'
import { type Backup, deleteBackup } from './queries.ts'
import { RestoreDialog } from './restore-dialog.tsx'
import { UploadDialog } from './upload-dialog.tsx'

/** What the page does at the moment, in a dialog. */
export type BackupTask =
  | { readonly kind: 'upload' }
  | { readonly kind: 'restore'; readonly backup: Backup }
  | { readonly kind: 'delete'; readonly backup: Backup }

interface BackupDialogProps {
  readonly backup: Backup
  readonly onClose: () => void
}

const DeleteDialog = ({ backup: { name, createdAt, bytes }, onClose }: BackupDialogProps) => (
  <ConfirmDialog
    title={texts.deleteTitle(formatTime(createdAt))}
    hint={texts.deleteHint(name, bytes)}
    action={texts.deleteDo}
    run={() => deleteBackup(name)}
    onDone={() => notify({ title: texts.deleted(name) })}
    onClose={onClose}
  />
)

export const BackupDialogs = ({ task, onClose }: { readonly task: BackupTask; readonly onClose: () => void }) => {
  if (task.kind === 'upload') return <UploadDialog onClose={onClose} />
  if (task.kind === 'restore') return <RestoreDialog backup={task.backup} onClose={onClose} />
  return <DeleteDialog backup={task.backup} onClose={onClose} />
}
