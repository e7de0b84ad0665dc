import { parseExactJson } from '../services/model/exact-json.ts'
import type { RegisteredTable } from '../services/model/table.ts'

const pathOf = (url: string) => {
  const [path = ''] = url.split('?', 1)
  return path
}

/** Returns the last segment of a path as it was sent, without percent-decoding. */
const lastSegment = (url: string) => {
  const path = pathOf(url)
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Returns the path without its last segment, as it was sent. */
export const parentPath = (url: string) => {
  const path = pathOf(url)
  return path.slice(0, path.lastIndexOf('/'))
}

/** Decodes a part, and encodes only its characters `,` and `%` again. */
const toKeyText = (part: string) => decodeURIComponent(part).replace(/[,%]/g, encodeURIComponent)

/**
 * Returns the text of the key in a path. `pk`: the last segment, decoded. In the path of a composite key, a comma that is
 * not percent-encoded separates the parts: `/records/1,a%2Cb` has the parts `1` and `a,b`. Without such a comma, the
 * decoded text has the same form: `/records/1%2Ca%252Cb` has these parts too.
 */
export const pathKey = ({ structure }: RegisteredTable, pk: string, url: string) => {
  if (structure.key.length === 1) return pk
  const segment = lastSegment(url)
  return segment.includes(',') ? segment.split(',').map(toKeyText).join(',') : pk
}

/** Clients remove the segments `.` and `..` from a path, also if they are percent-encoded. */
const UNREACHABLE = ['', '.', '..']

/** A longer header may be too large for a client or a proxy, which would then fail although the record is stored. */
const MAX_PATH_LENGTH = 2048

const isRounded = (value: unknown) => Number.isInteger(value) && !Number.isSafeInteger(value)

/** Returns the values of a key in the JSON text of a record. An integer that a double would round is a `bigint`. */
const keyValues = (key: readonly string[], record: string) => {
  const valuesIn = (fields: unknown) => key.map((name) => (fields as Readonly<Record<string, unknown>>)[name])
  const values = valuesIn(JSON.parse(record))
  return values.some(isRounded) ? valuesIn(parseExactJson(record)) : values
}

/**
 * Returns the path of a record: the inverse of `pathKey`. Returns undefined if a part of its key is null or an object,
 * and if a client could not use the path. `record`: JSON text.
 */
export const recordPath = (recordsPath: string, { structure }: RegisteredTable, record: string): string | undefined => {
  const values = keyValues(structure.key, record)
  if (values.some((value) => typeof value === 'object')) return undefined
  const segment = values.map((value) => encodeURIComponent(String(value))).join(',')
  const path = `${recordsPath}/${segment}`
  return UNREACHABLE.includes(segment) || path.length > MAX_PATH_LENGTH ? undefined : path
}
