import type { SqlValue } from '../../model/sql-value.ts'

/** What values take as they cross between threads: characters of texts, bytes of BLOBs. Numbers are next to nothing. */
export const sizeOf = (values: readonly SqlValue[]) => {
  let size = 0
  for (const value of values) {
    if (typeof value === 'string') size += value.length
    else if (value instanceof Uint8Array) size += value.byteLength
  }
  return size
}
