import { DomainError } from '../model/errors.ts'

export const backupNotFound = (name: string) =>
  new DomainError('BACKUP_NOT_FOUND', `There is no backup '${name}'.`, {
    hint: 'GET /admin/backups lists all backups.'
  })

export const backupRunning = () =>
  new DomainError('BACKUP_RUNNING', 'Another backup is being made.', {
    hint: 'GET /admin/backups shows its progress. Wait until it is in the list.'
  })

/** `needed`, `free`: bytes. */
export const noSpace = (needed: number, free: number) => {
  const mebibytes = (bytes: number) => Math.ceil(bytes / 2 ** 20)
  return new DomainError(
    'DISK_FULL',
    `The disk of the backups has ${mebibytes(free)} MiB free, and the backup needs ${mebibytes(needed)} MiB. Nothing was changed.`,
    {
      hint: 'Delete old backups, or set BACKUP_DIR to a directory on another disk.'
    }
  )
}
