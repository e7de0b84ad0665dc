import type { IntegerFormat } from '../../../schemas/token.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import type { Column } from '../../model/table.ts'
import type { StagedColumn } from '../../sql/staged.ts'
import type { StagedSelection } from '../../sql/staged-checks.ts'
import type { PlainError } from '../shared/plain-error.ts'
import type { ImportErrors } from './import-errors.ts'

/** A field that a file may name. */
export interface ImportField {
  readonly column: Column
  readonly mayBeNull: boolean
  /** Why records of the file must not set the field; null if they may. */
  readonly refusal: string | null
  /** SQLite computes the field: its cells are ignored. */
  readonly isComputed: boolean
}

export type ImportFormat =
  | { readonly type: 'csv'; readonly delimiter: string; readonly unescapesFormulas: boolean }
  | { readonly type: 'ndjson' | 'json'; readonly integers: IntegerFormat }

/** What a staging thread needs of the table and of the file. */
export interface StagingRequest {
  readonly table: string
  /** The declaration of the table, then those of its unique indexes. */
  readonly declarations: readonly string[]
  readonly rowid: string | null
  readonly fields: readonly ImportField[]
  /** The fields that the file must have. */
  readonly required: readonly string[]
  /** The names in the file that stand for other fields, or, with null, for none. */
  readonly names: Readonly<Record<string, string | null>>
  /** Values of fields that the file need not have. */
  readonly fallbacks: readonly (readonly [name: string, SqlValue])[]
  readonly format: ImportFormat
  /** A number is refused if its field would not keep each digit. */
  readonly keepsDigits: boolean
  /** The number of first records, in the order of their position, that are not staged. */
  readonly skip: number
  /** Every record must have the same fields. */
  readonly hasFixedFields: boolean
}

export interface StagedFile {
  /** The number of staged records. */
  readonly rows: number
  /** The number of records of the file that are not staged. */
  readonly skipped: number
  /** The fields that the file has. */
  readonly fields: readonly string[]
  /** The bytes of the staging file. */
  readonly bytes: number
  readonly errors: ImportErrors
}

/** A check of staged records, and the error of each one that it selects. */
export interface StagedCheck extends StagedSelection {
  readonly column: string | null
  readonly code: string
  readonly message: string
}

/** Where a step begins, and its limits. */
export interface StepRange {
  /** The last position of the step before; null for the first step. */
  readonly after: SqlValue
  /** The maximum number of records. */
  readonly rows: number
  /** The step ends with the record that reaches this number of bytes. null: no limit. */
  readonly maxBytes: number | null
}

/** A range of staged records, in the order of the position: the rowid, or the line. */
export interface StagedStep {
  readonly last: SqlValue
  readonly rows: number
}

/** Values of the records of a range. */
export interface StagedRows {
  readonly columns: readonly StagedColumn[]
  /** A condition about the file. */
  readonly condition: string
  /** The last position before the range; null for the first one. */
  readonly after: SqlValue
  readonly last: SqlValue
}

export interface StagingThreadOptions extends StagingRequest {
  /** null: checks are about the staging file alone. */
  readonly servedFile: string | null
  readonly stagingFile: string
}

/** Bytes of a file at the start of a memory that moves between the threads. */
export interface FileChunk {
  readonly memory: Uint8Array<ArrayBuffer>
  readonly length: number
}

/** A call of the thread, and its result. */
export interface StagingCalls {
  /** Takes the memory of the chunk, and returns it. */
  write: { readonly argument: FileChunk; readonly result: FileChunk }
  end: { readonly argument: undefined; readonly result: StagedFile }
  check: { readonly argument: readonly StagedCheck[]; readonly result: ImportErrors }
  step: { readonly argument: StepRange; readonly result: StagedStep }
  /** Returns the rows as JSON text: see `json-rows.ts`. */
  rows: { readonly argument: StagedRows; readonly result: string }
}

export type StagingMethod = keyof StagingCalls

/** To the thread. */
export interface StagingMessage {
  readonly method: StagingMethod
  readonly argument: unknown
}

/** From the thread, in the order of the calls. */
export type StagingReply = { readonly result: unknown } | { readonly error: PlainError }
