import type { Row } from '../../model/sql-value.ts'
import type { Scan } from '../database.ts'
import { type Connection, openConnection } from '../shared/connection.ts'
import { engineStopped, type PlainError, toPlainError } from '../shared/plain-error.ts'

export interface ReaderOptions {
  readonly file: string
  readonly cacheSize: number
  /** Set to 1 to stop whatever runs: a running statement cannot be interrupted from outside its thread. */
  readonly stop: Int32Array
}

export type ScanOutcome = { readonly rows: readonly Row[] } | { readonly error: PlainError }

const SCAN_LIMIT_MS = 30_000
const BUSY_TIMEOUT_MS = 2000

const timeout: PlainError = { code: 'SCAN_TIMEOUT', message: 'The search took longer than 30 s and was stopped.' }

const fail = ({ code, message }: PlainError): never => {
  throw Object.assign(new Error(message), { code })
}

/** Characters from which a text is worth a place, and from which no stream takes another before it has left. */
const LARGE = 128 * 1024
const encoder = new TextEncoder()

/** Puts a large `text` into the place, and its length in bytes into the row; leaves it where it does not fit. */
const putText = (row: Row, place: SharedArrayBuffer): Row => {
  const { text } = row
  if (typeof text !== 'string' || text.length < LARGE) return row
  const { read, written } = encoder.encodeInto(text, new Uint8Array(place))
  return read === text.length ? { ...row, text: written } : row
}

/**
 * Runs unbounded statements, each for 30 s at most. For a thread of its own, which it blocks meanwhile. The file is
 * opened by the first: where that fails, it is the answer to the scan, and the next one tries again.
 */
export const createScan = ({ file, cacheSize, stop }: ReaderOptions, clock = () => performance.now()) => {
  let connection: Connection | undefined
  let deadline = 0

  /** The guard that every scan asks now and then: see `sqlite-dialect.ts`. */
  const alive = () => {
    if (Atomics.load(stop, 0) === 1) fail(engineStopped)
    if (clock() > deadline) fail(timeout)
    return 1
  }

  const open = () => {
    const opened = openConnection({ file, readonly: true, busyTimeout: BUSY_TIMEOUT_MS, cacheSize })
    opened.raw.function('alive', { deterministic: false }, alive)
    return opened
  }

  return ({ sql, params, place }: Scan): ScanOutcome => {
    deadline = clock() + SCAN_LIMIT_MS
    try {
      connection ??= open()
      const { rows } = connection.run(sql, params)
      return { rows: place ? rows.map((row) => putText(row, place)) : rows }
    } catch (error) {
      return { error: toPlainError(error) }
    }
  }
}
