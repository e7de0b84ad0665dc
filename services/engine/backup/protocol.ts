import type { PlainError } from '../shared/plain-error.ts'

/** Bytes. */
export interface BackupProgress {
  readonly copied: number
  readonly total: number
}

/** What the thread does: it copies the served file into `target`, which is an empty file, or checks an uploaded file. */
export type BackupTask = { readonly source: string; readonly target: string } | { readonly uploaded: string }

export interface BackupThreadData {
  readonly task: BackupTask
  /** Not 0: the service is stopping. */
  readonly stop: Int32Array
}

export type BackupMessage =
  | { readonly progress: BackupProgress }
  | { readonly error: PlainError }
  | { readonly isDone: true }
