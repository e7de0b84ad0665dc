import type { BackupKind } from '../../schemas/backup.ts'
import { BACKUP_NAME_PATTERN } from '../../schemas/patterns.ts'

const NAME = new RegExp(BACKUP_NAME_PATTERN)

export interface NameParts {
  readonly kind: BackupKind
  /** Epoch milliseconds, a whole second. */
  readonly createdAt: number
}

/** Returns a name such as `2026-11-26T03-00-00Z-scheduled.db`. */
export const nameOf = ({ kind, createdAt }: NameParts) => {
  const time = new Date(createdAt).toISOString().slice(0, 19).replaceAll(':', '-')
  return `${time}Z-${kind}.db`
}

/** Returns the parts of a name, or null if it is not the name of a backup. */
export const parseName = (name: string): NameParts | null => {
  if (!NAME.test(name)) return null
  const createdAt = Date.parse(`${name.slice(0, 10)}T${name.slice(11, 19).replaceAll('-', ':')}Z`)
  // The boundary where the pattern gives the text its type.
  const kind = name.slice(21, -'.db'.length) as BackupKind
  return Number.isNaN(createdAt) ? null : { kind, createdAt }
}
