import type { Row } from '../../model/sql-value.ts'

/** What is wrong with a record of a file. */
export interface ImportError {
  /** The physical line where the record begins; in a JSON array, the number of the record. From 1. */
  readonly line: number
  /** The name in the header, or of the field; null if the whole record is wrong. */
  readonly column: string | null
  readonly code: string
  readonly message: string
}

export interface ImportErrors {
  /** All errors that were found. */
  readonly total: number
  /** The first of them, by line. */
  readonly first: readonly ImportError[]
}

/** Maximum number of errors in a response. */
export const MAX_IMPORT_ERRORS = 100

/** The file cannot be read beyond this error: its quotes, its encoding or its header are wrong. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
  readonly reason: ImportError

  constructor(reason: ImportError) {
    super(reason.message)
    this.reason = reason
  }
}

/** Returns the errors of a check. `rows`: its first `line`s, each with the `total`. */
export const errorsOfRows = (
  { column, code, message }: Omit<ImportError, 'line'>,
  rows: readonly Row[]
): ImportErrors => ({
  total: Math.max(0, ...rows.map(({ total }) => Number(total))),
  first: rows.map(({ line }) => ({ line: Number(line), column, code, message }))
})

export const joinErrors = (parts: readonly ImportErrors[]): ImportErrors => ({
  total: parts.reduce((sum, { total }) => sum + total, 0),
  first: parts
    .flatMap(({ first }) => first)
    .sort((a, b) => a.line - b.line)
    .slice(0, MAX_IMPORT_ERRORS)
})

/** Counts all errors and keeps the first. Errors are added in the order of their lines. */
export const createErrorList = () => {
  const first: ImportError[] = []
  let total = 0
  return {
    add: (error: ImportError) => {
      total += 1
      if (first.length < MAX_IMPORT_ERRORS) first.push(error)
    },
    get: (): ImportErrors => ({ total, first })
  }
}
export type ErrorList = ReturnType<typeof createErrorList>

/** A character that often separates cells: the file has another delimiter than the request. */
const SEPARATOR = /[;,|\t]/

/** Returns why no field of the table has a name in the file. */
export const unknownName = (type: 'csv' | 'ndjson' | 'json', name: string) =>
  type === 'csv' && SEPARATOR.test(name)
    ? 'is not a field of this table. If another character separates the cells, send it as `delimiter`'
    : 'is not a field of this table. Name the field of this column in `map`, or map it to null'
