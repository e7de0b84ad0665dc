import type { RecordReader } from './csv-records.ts'
import { decodeUtf8, MAX_OBJECT_BYTES, type OnObject, parseObject, unreadable } from './json-objects.ts'
import { createUnreadBytes } from './unread-bytes.ts'

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [ARRAY_START, ARRAY_END, OBJECT_START, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d]
const SPACES: readonly number[] = [0x20, 0x0a, 0x0d, 0x09]
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/** The characters that may follow in the file outside of records. */
interface Expected {
  /** The state after each of these characters. null: the character begins a record. */
  readonly next: ReadonlyMap<number, Expected | null>
  /** The error if another character follows. */
  readonly code: string
  readonly message: string
}

const NOT_AN_OBJECT = { code: 'type', message: 'The record must be a JSON object.' }

const NOTHING: Expected = {
  next: new Map(),
  code: 'syntax',
  message: 'The file goes on after the `]` of its array.'
}
const RECORD: Expected = { next: new Map([[OBJECT_START, null]]), ...NOT_AN_OBJECT }
const COMMA_OR_END: Expected = {
  next: new Map([
    [COMMA, RECORD],
    [ARRAY_END, NOTHING]
  ]),
  code: 'syntax',
  message: 'The record must follow a comma.'
}
const RECORD_OR_END: Expected = {
  next: new Map([
    [OBJECT_START, null],
    [ARRAY_END, NOTHING]
  ]),
  ...NOT_AN_OBJECT
}
const ARRAY: Expected = {
  next: new Map([[ARRAY_START, RECORD_OR_END]]),
  code: 'type',
  message: 'The file must be a JSON array of objects, in UTF-8.'
}

/** Finds the ends of objects in bytes that arrive one after the other. */
const createObjectEnds = () => {
  let depth = 0
  let isInString = false
  let isEscaped = false
  const scanString = (byte: number) => {
    if (isEscaped) isEscaped = false
    else if (byte === BACKSLASH) isEscaped = true
    else if (byte === QUOTE) isInString = false
  }
  /** Returns the position after the object, or -1 if its end has not arrived. `start`: where the scan goes on. */
  return (bytes: Buffer, start: number) => {
    for (let index = start; index < bytes.length; index += 1) {
      const byte = bytes[index] as number
      if (isInString) scanString(byte)
      else if (byte === QUOTE) isInString = true
      else if (byte === OBJECT_START) depth += 1
      else if (byte === OBJECT_END) {
        depth -= 1
        if (depth === 0) return index + 1
      }
    }
    return -1
  }
}

/**
 * Calls `onObject` for each object of a JSON array, with its number, from 1. Only the ends of the objects are searched here:
 * `JSON.parse` reads their texts.
 */
export const createJsonArrayReader = (onObject: OnObject): RecordReader => {
  const unread = createUnreadBytes()
  const endOfObject = createObjectEnds()
  /** null: the unread bytes are the start of a record. */
  let expected: Expected | null = ARRAY
  let count = 0
  /** Bytes of the file before the unread ones. */
  let offset = 0
  /** Bytes of the byte order mark that have been read. */
  let markBytes = 0
  /** Unread bytes of a record that have been scanned. */
  let scanned = 0

  const fail = (code: string, message: string) => unreadable(count + 1, code, message)

  /** Reads the next byte of a byte order mark at the start of the file. */
  const readMark = (byte: number, position: number) => {
    if (offset + position !== markBytes || BYTE_ORDER_MARK[markBytes] !== byte) return false
    markBytes += 1
    return true
  }

  /** Returns the position of the next record, or the end of the bytes. */
  const readBetween = (bytes: Buffer, start: number, first: Expected) => {
    let current = first
    for (let position = start; position < bytes.length; position += 1) {
      const byte = bytes[position] as number
      if (SPACES.includes(byte) || readMark(byte, position)) continue
      const hasWholeMark = markBytes % BYTE_ORDER_MARK.length === 0
      const next = hasWholeMark ? current.next.get(byte) : undefined
      if (next === undefined) throw fail(current.code, current.message)
      expected = next
      if (next === null) return position
      current = next
    }
    return bytes.length
  }

  const readRecord = (bytes: Buffer) => {
    count += 1
    const text = decodeUtf8(bytes, count)
    onObject(count, parseObject({ line: count, noun: 'record', bytes, text }))
    expected = COMMA_OR_END
    scanned = 0
  }

  /** Returns the position of the first byte that is not read. */
  const readAll = (bytes: Buffer) => {
    let position = 0
    while (position < bytes.length) {
      if (expected) position = readBetween(bytes, position, expected)
      if (expected) continue
      const end = endOfObject(bytes, position + scanned)
      if (end === -1) {
        scanned = bytes.length - position
        break
      }
      readRecord(bytes.subarray(position, end))
      position = end
    }
    return position
  }

  return {
    write: async (chunk) => {
      const position = readAll(unread.add(chunk))
      unread.drop(position)
      offset += position
      if (unread.length() > MAX_OBJECT_BYTES)
        throw fail('length', `The record has more than ${MAX_OBJECT_BYTES} bytes.`)
    },
    end: async () => {
      if (expected !== NOTHING) throw fail('syntax', 'The file ends before the `]` of its array.')
    }
  }
}
