import type { RecordReader } from './csv-records.ts'
import { decodeUtf8, MAX_OBJECT_BYTES, type OnObject, parseObject, unreadable } from './json-objects.ts'
import { createUnreadBytes } from './unread-bytes.ts'

const LF = 0x0a

/** Calls `onObject` for each line of an NDJSON file that is not empty. */
export const createNdjsonReader = (onObject: OnObject): RecordReader => {
  const unread = createUnreadBytes()
  let line = 0

  const readLine = (bytes: Buffer) => {
    line += 1
    const decoded = decodeUtf8(bytes, line)
    const text = (line === 1 ? decoded.replace(/^\ufeff/, '') : decoded).trim()
    if (text !== '') onObject(line, parseObject({ line, noun: 'line', bytes, text }))
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
      if (unread.length() > MAX_OBJECT_BYTES)
        throw unreadable(line + 1, 'length', `A line has more than ${MAX_OBJECT_BYTES} bytes.`)
    },
    end: async () => {
      if (unread.length() > 0) readLine(unread.add(new Uint8Array()))
    }
  }
}
