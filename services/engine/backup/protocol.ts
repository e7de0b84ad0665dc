import type { Statement } from '../../sql/statement.ts'
import type { BackupProgress } from '../database.ts'
import type { PlainError } from '../shared/plain-error.ts'

/** Checks a file of an unknown source. */
interface CheckTask {
  readonly kind: 'check'
  readonly uploaded: string
}

/** Copies the served file into `target`, which is an empty file. */
export interface CopyTask {
  readonly kind: 'copy'
  readonly source: string
  readonly target: string
  /** Copies without the pauses that leave the disk to requests. */
  readonly isUrgent: boolean
}

/** Copies a backup into a staged file, and checks it. */
export interface StageTask {
  readonly kind: 'stage'
  readonly backup: string
  readonly staged: string
  readonly served: string
}

/** Copies a staged backup into the served file. */
export interface RestoreTask {
  readonly kind: 'restore'
  readonly staged: string
  readonly served: string
  /** As in `RestoreOptions`. */
  readonly includesAccess: boolean
  /** Adds the row of the audit. */
  readonly audited: Statement
}

/** What the process does. */
export type BackupTask = CheckTask | CopyTask | StageTask | RestoreTask

/** A restore sends `isLocked` when no other program can write any more, and waits for `release`. */
export type BackupMessage =
  | { readonly progress: BackupProgress }
  | { readonly isLocked: true }
  | { readonly error: PlainError }
  | { readonly isDone: true }
export type BackupRequest = BackupTask | 'release'
