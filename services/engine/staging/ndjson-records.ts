import { isUtf8 } from 'node:buffer'
import { hasWideInteger, parseExactJson } from '../../model/exact-json.ts'
import { hasMoreParts, MAX_PARTS, tooManyParts } from '../../model/json-parts.ts'
import { hasRepeated, repeatedKey } from '../../model/repeated-keys.ts'
import type { RecordReader } from './csv-records.ts'
import { UnreadableFile } from './import-errors.ts'
import { createUnreadBytes } from './unread-bytes.ts'

const LF = 0x0a
/** Maximum number of bytes of one line. */
const MAX_LINE_BYTES = 8 * 2 ** 20

/** A `bigint` in the record is an integer that a JavaScript number may round. */
export type OnObject = (line: number, record: Readonly<Record<string, unknown>>) => void

const unreadable = (line: number, code: string, message: string) =>
  new UnreadableFile({ line, column: null, code, message })

const parseLine = (text: string, line: number): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return hasWideInteger(text) ? parseExactJson(text) : value
  } catch {
    throw unreadable(line, 'syntax', 'The line is not valid JSON.')
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Calls `onObject` for each line of an NDJSON file that is not empty. */
export const createNdjsonReader = (onObject: OnObject): RecordReader => {
  const unread = createUnreadBytes()
  let line = 0

  const readLine = (bytes: Buffer) => {
    line += 1
    if (!isUtf8(bytes)) throw unreadable(line, 'encoding', 'The file is not UTF-8. Save it with the encoding UTF-8.')
    const text = bytes.toString('utf8')
    const content = (line === 1 ? text.replace(/^\ufeff/, '') : text).trim()
    if (content === '') return
    if (hasMoreParts(bytes, MAX_PARTS)) {
      const { code, message } = tooManyParts(MAX_PARTS)
      throw unreadable(line, code, `The line ${message}.`)
    }
    const record = parseLine(content, line)
    if (!isRecord(record)) throw unreadable(line, 'type', 'The line must be a JSON object.')
    const repeated = repeatedKey(bytes, content, record)
    if (repeated !== undefined) {
      const { code, message } = hasRepeated(repeated)
      throw unreadable(line, code, `The line ${message}.`)
    }
    onObject(line, record)
  }

  return {
    write: async (chunk) => {
      const bytes = unread.add(chunk)
      let start = 0
      for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
        readLine(bytes.subarray(start, end))
        start = end + 1
      }
      unread.drop(start)
      if (unread.length() > MAX_LINE_BYTES)
        throw unreadable(line + 1, 'length', `A line has more than ${MAX_LINE_BYTES} bytes.`)
    },
    end: async () => {
      if (unread.length() > 0) readLine(unread.add(new Uint8Array()))
    }
  }
}
