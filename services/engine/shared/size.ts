import type { Param } from '../../sql/statement.ts'

/** The approximate size of values in a message: characters of texts, bytes of BLOBs. All others count as 0. */
export const sizeOf = (values: readonly Param[]) => {
  let size = 0
  for (const value of values) {
    if (typeof value === 'string') size += value.length
    else if (value instanceof Uint8Array) size += value.byteLength
  }
  return size
}
