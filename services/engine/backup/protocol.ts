import type { Statement } from '../../sql/statement.ts'
import type { PlainError } from '../shared/plain-error.ts'

/** Bytes. */
export interface BackupProgress {
  readonly copied: number
  readonly total: number
}

/** Copies the served file into `target`, which is an empty file. */
export interface CopyTask {
  readonly source: string
  readonly target: string
  /** Copies without pauses, which leave the disk to requests. */
  readonly isUrgent: boolean
}

/** Copies a backup into a staged file, and checks it. */
export interface StageTask {
  readonly backup: string
  readonly staged: string
  readonly served: string
}

/** Copies a staged backup into the served file. */
export interface RestoreTask {
  readonly staged: string
  readonly served: string
  /** Takes the administrators and tokens of the backup, without sessions, and with all tokens switched off. */
  readonly includesAccess: boolean
  /** Adds the row of the audit. */
  readonly audited: Statement
}

/** What the process does. `uploaded`: it checks this file. */
export type BackupTask = CopyTask | StageTask | RestoreTask | { readonly uploaded: string }

/** A restore sends `isLocked` when no other program can write any more, and waits for `go`. */
export type BackupMessage =
  | { readonly progress: BackupProgress }
  | { readonly isLocked: true }
  | { readonly error: PlainError }
  | { readonly isDone: true }
export type BackupRequest = BackupTask | 'go'
