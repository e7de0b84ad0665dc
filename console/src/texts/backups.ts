import { formatBytes } from '../ui/size.ts'

const KINDS: Readonly<Record<string, string>> = {
  scheduled: 'By schedule',
  manual: 'By hand',
  upload: 'Upload',
  'before-restore': 'Before a restore',
  'before-upgrade': 'Before an upgrade'
}

/** A newer service may have further kinds. */
const kindOf = (kind: string) => KINDS[kind] ?? kind

export const texts = {
  title: 'Backups',
  emptyTitle: 'There is no backup yet.',
  empty:
    'A backup is one SQLite file with all tables, tokens and administrators. While it is made, reads and writes go on.',
  schedule: 'To make backups at fixed times, start the service with a cron expression in BACKUPS, such as:',
  scheduleExample: 'BACKUPS="0 3 * * *"',
  scheduleHint: 'This makes a backup each night at 3:00. BACKUP_KEEP says which of them are kept.',
  listHint: 'A backup has the hashes of all passwords. Keep it private, and keep a copy on another machine.',
  columns: { time: 'Time', kind: 'Kind', size: 'Size', actions: 'Actions' },
  kindOf,
  make: 'Back up now',
  starting: 'The backup begins …',
  running: (kind: string, copied: number, total: number) =>
    `${kindOf(kind)}: ${formatBytes(copied)} of ${formatBytes(total)}`,
  made: (bytes: number) => `The backup is made: ${formatBytes(bytes)}`,
  notMade: 'The backup was not made.',
  goesOn: 'The connection broke. The backup goes on, and appears in the list.',
  download: (name: string) => `Download ${name}`,
  upload: 'Upload a backup',
  uploadHint:
    'A backup that was downloaded before, also from another service. The service checks the file. Upload only files that you trust.',
  choose: 'Choose a backup, or drop it here',
  uploadDo: 'Upload',
  sending: (part: number) => `${Math.round(part * 100)} % sent`,
  checking: 'The service checks the file. If you close this window, a notice shows the result.',
  notUploaded: 'The backup was not stored.',
  uploaded: (name: string) => `The backup is stored as ${name}`,
  restore: (name: string) => `Restore ${name}`,
  restoreTitle: (time: string) => `Restore the backup of ${time}?`,
  restoreHint: (time: string) =>
    `All tables go back to ${time}. Changes since then are only in the backup that is made first. Administrators, sessions, tokens, settings and the audit stay.`,
  restoreAllHint: (time: string) =>
    `All tables, administrators and tokens go back to ${time}. Changes since then are only in the backup that is made first. The audit stays.`,
  includeAccess: 'Also take administrators and tokens of the backup',
  includeAccessHint:
    'All sessions end, and all tokens are switched off. Log in again with a name and a password of the backup.',
  restoreDo: 'Restore the backup',
  restoring: 'Until the backup is restored, reads go on, and changes are refused.',
  restored: (time: string) => `The tables are back at ${time}`,
  stateBefore: (name: string) => `The state before is in ${name}.`,
  restoreGoesOn: 'The connection broke. The restore goes on, and appears in the audit when it is done.',
  delete: (name: string) => `Delete ${name}`,
  deleteTitle: (time: string) => `Delete the backup of ${time}?`,
  deleteHint: (name: string, bytes: number) =>
    `The file ${name} (${formatBytes(bytes)}) is deleted from the disk of the service. This cannot be undone.`,
  deleteDo: 'Delete the backup',
  deleted: (name: string) => `${name} is deleted.`
}
