import type { Param } from '../../sql/statement.ts'
import type { WriteResult } from '../database.ts'
import type { Outcome } from './message.ts'
import { MIN_COUNTED_CHARACTERS } from './unread-text.ts'

/** Characters and bytes of the rows that the statements of a unit return. A single record may be larger. */
export const MAX_UNIT_RESULTS = 8 * 2 ** 20

/** The approximate size of values in a message: characters of texts, bytes of BLOBs. All others count as 0. */
export const sizeOf = (values: readonly Param[]) => {
  let size = 0
  for (const value of values) {
    if (typeof value === 'string') size += value.length
    else if (value instanceof Uint8Array) size += value.byteLength
  }
  return size
}

export const sizeOfRows = (rows: WriteResult['rows']) => {
  let size = 0
  for (const row of rows) size += sizeOf(Object.values(row))
  return size
}

export const sizeOfOutcome = (outcome: Outcome) =>
  'error' in outcome ? 0 : outcome.reduce((size, result) => size + sizeOfRows(result.rows), 0)

/** Returns the size of the outcomes that count as unread text. */
export const sizeOfLarge = (outcomes: readonly Outcome[]) =>
  outcomes.map(sizeOfOutcome).reduce((sum, size) => (size > MIN_COUNTED_CHARACTERS ? sum + size : sum), 0)
