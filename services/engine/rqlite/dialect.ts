import type { Dialect } from '../../sql/dialect.ts'
import { textLiteral } from '../../sql/identifiers.ts'
import { RecordTags } from '../../sql/statement.ts'
import { STRUCTURE } from './state.ts'

/**
 * Returns the dialect of rqlite, which has no functions in JavaScript. A BLOB becomes its hexadecimal text after a mark, which
 * `createBlobTexts` replaces by base64: SQL would need 270 ms for 100 kB. rqlite ends a scan after
 * 30 s, so scans need no guard. A change cannot be stopped.
 */
export const createRqliteDialect = (mark: string): Dialect => ({
  base64: (value) => `${textLiteral(mark)} || hex(${value})`,
  // Without the mark: a response would have base64 in its place.
  comparedText: (json) => `replace(${json}, ${textLiteral(mark)}, '')`,
  changeGuard: '',
  computesTags: false,
  tagsParam: (tags, read) => new RecordTags(tags, read()),
  scanGuard: () => 'TRUE',
  schemaVersion: STRUCTURE
})

/** Returns the function that replaces marked BLOBs in the text of a response. */
export const createBlobTexts = (mark: string) => {
  const marked = new RegExp(`${mark}([0-9A-F]*)`, 'g')
  return (text: string) =>
    text.includes(mark) ? text.replace(marked, (_, hex: string) => Buffer.from(hex, 'hex').toString('base64')) : text
}
