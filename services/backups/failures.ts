import { DomainError } from '../model/errors.ts'

export const backupNotFound = (name: string) =>
  new DomainError('BACKUP_NOT_FOUND', `There is no backup '${name}'.`, {
    hint: 'GET /admin/backups lists all backups.'
  })

export const backupRunning = () =>
  new DomainError('BACKUP_RUNNING', 'Another backup is being made or restored.', {
    hint: 'GET /admin/backups shows its progress. Wait until this is done.'
  })

export const importRunning = () =>
  new DomainError(
    'IMPORT_RUNNING',
    'A file is being imported. After a restore, the rest of it would be stored into the restored tables.',
    {
      hint: 'Wait until GET /admin/imports shows that it is done.'
    }
  )

export const accessNotForKeys = () =>
  new DomainError('ADMIN_KEY_NOT_ALLOWED', 'An admin key cannot restore administrators and tokens.', {
    hint: "Send the request without 'include=access', or log in as an administrator: POST /auth/login."
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

/** Codes of a directory that was removed, or that this user cannot change. */
const UNUSABLE = new Set(['EACCES', 'ENOENT', 'ENOTDIR', 'EPERM', 'EROFS'])

/** Returns a domain error for a failure of the directory, and any other error unchanged. The log gets its cause. */
export const explainDirectory = (error: unknown) => {
  const { code, message } = error as NodeJS.ErrnoException
  if (!UNUSABLE.has(String(code))) return error
  const unusable = new DomainError('STORAGE_UNAVAILABLE', 'The directory of the backups cannot be used.', {
    hint: 'Make BACKUP_DIR a directory in which the service can write.'
  })
  return Object.assign(unusable, { cause: message })
}
