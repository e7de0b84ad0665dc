import { isUtf8 } from 'node:buffer'
import { hasWideInteger, parseExactJson } from '../../model/exact-json.ts'
import { isJsonObject, type JsonObject } from '../../model/json-object.ts'
import { hasMoreParts, MAX_PARTS, tooManyParts } from '../../model/json-parts.ts'
import { hasRepeated, repeatedKey } from '../../model/repeated-keys.ts'
import { UnreadableFile } from './import-errors.ts'

/** Maximum number of bytes of the JSON text of one record. */
export const MAX_OBJECT_BYTES = 8 * 2 ** 20

/** A `bigint` in the record is an integer that a JavaScript number may round. */
export type OnObject = (line: number, record: JsonObject) => void

/** The JSON text of one record. `line`: see `ImportError`. */
interface ObjectText {
  readonly line: number
  /** How messages name the text. */
  readonly noun: 'line' | 'record'
  readonly bytes: Buffer
  readonly text: string
}

export const unreadable = (line: number, code: string, message: string) =>
  new UnreadableFile({ line, column: null, code, message })

/** @throws UnreadableFile */
export const decodeUtf8 = (bytes: Buffer, line: number) => {
  if (!isUtf8(bytes)) throw unreadable(line, 'encoding', 'The file is not UTF-8. Save it with the encoding UTF-8.')
  return bytes.toString('utf8')
}

const parse = ({ line, noun, text }: ObjectText): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return hasWideInteger(text) ? parseExactJson(text) : value
  } catch {
    throw unreadable(line, 'syntax', `The ${noun} is not valid JSON.`)
  }
}

/** Returns the record of a JSON text. @throws UnreadableFile */
export const parseObject = (source: ObjectText): JsonObject => {
  const { line, noun, bytes, text } = source
  if (hasMoreParts(bytes, MAX_PARTS)) {
    const { code, message } = tooManyParts(MAX_PARTS)
    throw unreadable(line, code, `The ${noun} ${message}.`)
  }
  const record = parse(source)
  if (!isJsonObject(record)) throw unreadable(line, 'type', `The ${noun} must be a JSON object.`)
  const repeated = repeatedKey(bytes, text, record)
  if (repeated !== undefined) {
    const { code, message } = hasRepeated(repeated)
    throw unreadable(line, code, `The ${noun} ${message}.`)
  }
  return record
}
