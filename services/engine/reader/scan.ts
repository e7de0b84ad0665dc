import type { Row } from '../../model/sql-value.ts'
import type { Declared } from '../../sql/declared.ts'
import type { Statement } from '../../sql/statement.ts'
import { CACHED_SQL_OF_READER, type Connection, openConnection } from '../shared/connection.ts'
import { createGarbageCount } from '../shared/garbage.ts'
import { engineStopped, type PlainError, scanAborted, toPlainError } from '../shared/plain-error.ts'
import { sizeOfRows } from '../shared/size.ts'
import { describeDeclaredView, describePreparedView } from './view-description.ts'

export interface ReaderOptions {
  readonly file: string
  /** MiB of database pages. */
  readonly cacheSize: number
  /** Set to 1 to stop every scan: a running statement cannot be interrupted from outside its thread. */
  readonly stop: Int32Array
}

export interface ScanRequest extends Statement {
  /** Memory for a large `text` of a row, as UTF-8. The row then has the length of the text in bytes instead. */
  readonly textBuffer?: SharedArrayBuffer
  /** Shared memory. Set to 1 to stop this scan, because its client has disconnected. */
  readonly abortFlag?: Int32Array | undefined
  /** Describes this SQL view instead of running the statement. */
  readonly view?: string
  /** The declarations of the view, and of all that it reads. Absent: those of the file. */
  readonly declared?: readonly Declared[] | undefined
}

export type ScanOutcome = { readonly rows: readonly Row[] } | { readonly error: PlainError }

export const SCAN_LIMIT_MS = 30_000
const BUSY_TIMEOUT_MS = 2000

const timeout: PlainError = {
  code: 'SCAN_TIMEOUT',
  message: 'The search took longer than 30 s and was stopped. Narrow the search, or add an index on the sorted fields.'
}

const fail = ({ code, message }: PlainError): never => {
  throw Object.assign(new Error(message), { code })
}

/**
 * Characters. A smaller text is copied: a stream queues several small chunks, and a chunk in the buffer could be
 * overwritten before it is sent.
 */
const MIN_BUFFERED_TEXT = 128 * 1024
const encoder = new TextEncoder()

/** Returns the row unchanged if its text is small or does not fit into the buffer. */
const putText = (row: Row, buffer: SharedArrayBuffer): Row => {
  const { text } = row
  if (typeof text !== 'string' || text.length < MIN_BUFFERED_TEXT) return row
  const { read, written } = encoder.encodeInto(text, new Uint8Array(buffer))
  return read === text.length ? { ...row, text: written } : row
}

/**
 * Runs unbounded statements, each for at most 30 s, and blocks its thread. The first scan opens the file; if that
 * fails, the scan fails and the next one opens it again.
 */
export const createScan = ({ file, cacheSize, stop }: ReaderOptions, clock = () => performance.now()) => {
  let connection: Connection | undefined
  let deadline = 0
  let abortFlag: Int32Array | undefined
  /** Characters and bytes of the rows of the last scan, which are garbage when the next one begins. */
  let lastSize = 0
  const countGarbage = createGarbageCount()

  /** SQL function, called by the guard of every scan: see `shared/sqlite-dialect.ts`. */
  const alive = () => {
    if (Atomics.load(stop, 0) === 1) fail(engineStopped)
    if (abortFlag && Atomics.load(abortFlag, 0) === 1) fail(scanAborted)
    if (clock() > deadline) fail(timeout)
    return 1
  }

  const open = () => {
    const options = { file, readonly: true, busyTimeout: BUSY_TIMEOUT_MS, cacheSize, cachedSql: CACHED_SQL_OF_READER }
    const opened = openConnection(options)
    opened.raw.function('alive', { deterministic: false }, alive)
    return opened
  }

  return ({ sql, params, textBuffer, view, declared, ...request }: ScanRequest): ScanOutcome => {
    countGarbage(lastSize)
    lastSize = 0
    deadline = clock() + SCAN_LIMIT_MS
    abortFlag = request.abortFlag
    try {
      if (view !== undefined && declared) return { rows: [describeDeclaredView(declared, view)] }
      connection ??= open()
      if (view !== undefined) return { rows: [describePreparedView(connection, view)] }
      const { rows } = connection.run(sql, params)
      lastSize = sizeOfRows(rows)
      return { rows: textBuffer ? rows.map((row) => putText(row, textBuffer)) : rows }
    } catch (error) {
      return { error: toPlainError(error) }
    }
  }
}
