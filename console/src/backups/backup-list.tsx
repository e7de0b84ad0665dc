import { ArchiveRestore, Download, Trash2 } from 'lucide-react'
import { SERVICE_URL } from '../api/client.ts'
import { texts } from '../texts/backups.ts'
import { DownloadLink, IconButton } from '../ui/button.tsx'
import { ListTable } from '../ui/list-table.tsx'
import { formatBytes } from '../ui/size.ts'
import { LocalTime } from '../ui/time.tsx'
import type { BackupTask } from './backup-dialogs.tsx'
import styles from './backups.module.css'
import type { Backup } from './queries.ts'

const COLUMNS = [
  { key: 'time', label: texts.columns.time },
  { key: 'kind', label: texts.columns.kind },
  { key: 'size', label: texts.columns.size },
  { key: 'actions', label: texts.columns.actions, isLabelHidden: true }
]

type OnTask = (task: BackupTask) => void

const RowActions = ({ backup, onTask }: { readonly backup: Backup; readonly onTask: OnTask }) => (
  <div className={styles.actions}>
    <DownloadLink
      href={`${SERVICE_URL}/admin/backups/${backup.name}`}
      variant="quiet"
      label={texts.download(backup.name)}
    >
      <Download size={14} aria-hidden="true" />
    </DownloadLink>
    <IconButton label={texts.restore(backup.name)} onClick={() => onTask({ kind: 'restore', backup })}>
      <ArchiveRestore size={14} aria-hidden="true" />
    </IconButton>
    <IconButton label={texts.delete(backup.name)} onClick={() => onTask({ kind: 'delete', backup })}>
      <Trash2 size={14} aria-hidden="true" />
    </IconButton>
  </div>
)

export const BackupList = ({ backups, onTask }: { readonly backups: readonly Backup[]; readonly onTask: OnTask }) => {
  const cell = (backup: Backup, column: string) => {
    if (column === 'time') return <LocalTime value={backup.createdAt} />
    if (column === 'kind') return <span title={backup.name}>{texts.kindOf(backup.kind)}</span>
    if (column === 'size') return <span className={styles.size}>{formatBytes(backup.bytes)}</span>
    return <RowActions backup={backup} onTask={onTask} />
  }
  return <ListTable label={texts.title} columns={COLUMNS} rows={backups} keyOf={({ name }) => name} cell={cell} />
}
