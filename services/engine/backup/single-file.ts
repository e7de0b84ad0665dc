import { readSync, writeSync } from 'node:fs'

const MAGIC = 'SQLite format 3\0'
/** https://sqlite.org/fileformat.html#file_format_version_numbers */
const VERSIONS_OFFSET = 18
const WITHOUT_WAL = new Uint8Array([1, 1])

/** Whether the file begins like a SQLite database. */
export const isDatabase = (descriptor: number) => {
  const start = Buffer.alloc(MAGIC.length)
  readSync(descriptor, start, 0, start.length, 0)
  return start.equals(Buffer.from(MAGIC))
}

/**
 * Marks a database as one that has no WAL, so that a connection which only reads it creates no other file beside it. The
 * next start of Rowhouse changes it back.
 */
export const markWithoutWal = (descriptor: number) => {
  writeSync(descriptor, WITHOUT_WAL, 0, WITHOUT_WAL.length, VERSIONS_OFFSET)
}
