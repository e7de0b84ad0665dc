import { stringify } from 'lossless-json'
import type { BoundValue } from './fake-request.ts'
import { timeOfInteger, timeOfText } from './fake-times.ts'

export interface Column {
  readonly name: string
  /** The type of the column's declaration. Null for an expression. */
  readonly type: string | null
}

export interface FakeRows {
  readonly columns: readonly Column[]
  readonly values: readonly (readonly BoundValue[])[]
}

export interface FakeChanges {
  readonly lastInsertId: bigint
  readonly changes: bigint
}

export type FakeResult = FakeRows | FakeChanges | { readonly error: string }

/** A value that Go's JSON cannot contain: the whole response is lost. */
export class UnsupportedValue extends Error {}

const TIME_TYPES = ['date', 'datetime', 'timestamp']
const TEXT_TYPE = /^(?:text$|json$|$|varchar|varying character|nchar|native character|nvarchar|clob)/

const encodeBlob = (blob: Uint8Array, type: string, isArray: boolean) => {
  if (TEXT_TYPE.test(type)) return Buffer.from(blob).toString('utf8')
  return isArray ? [...blob] : Buffer.from(blob).toString('base64')
}

const encodeInteger = (value: bigint, type: string) => {
  if (type === 'boolean') return value > 0n
  return TIME_TYPES.includes(type) ? timeOfInteger(value) : value
}

const encodeDouble = (value: number) => {
  if (Number.isFinite(value)) return value
  const sign = value > 0 ? '+' : '-'
  throw new UnsupportedValue(
    `json: error calling MarshalJSON for type *http.DBResults: json: unsupported value: ${sign}Inf`
  )
}

const encodeValue = (value: BoundValue, type: string, isArray: boolean) => {
  if (value === null) return null
  if (typeof value === 'bigint') return encodeInteger(value, type)
  if (typeof value === 'number') return encodeDouble(value)
  if (typeof value === 'string') return TIME_TYPES.includes(type) ? timeOfText(value) : value
  return encodeBlob(value, type, isArray)
}

/** The type of a value in the first row, for a column without a declared type. A BLOB counts as a text there. */
const typeOfValue = (value: BoundValue | undefined) => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'bigint') return 'integer'
  return typeof value === 'number' ? 'real' : 'text'
}

const encodeRows = ({ columns, values }: FakeRows, isArray: boolean) => {
  const declared = columns.map(({ type }) => (type ?? '').toLowerCase())
  const types = declared.map((type, i) => type || typeOfValue(values[0]?.[i]))
  const rows = values.map((row, n) =>
    row.map((value, i) => encodeValue(value, String((n === 0 ? declared : types)[i]), isArray))
  )
  return { names: columns.map(({ name }) => name), types, rows }
}

export interface Format {
  readonly isAssociative: boolean
  readonly hasBlobArrays: boolean
  readonly isQuery: boolean
}

const sortedObject = (names: readonly string[], values: readonly unknown[]) =>
  Object.fromEntries(names.map((name, i): [string, unknown] => [name, values[i]]).sort(([a], [b]) => (a < b ? -1 : 1)))

const toRowsJson = (result: FakeRows, { isAssociative, hasBlobArrays }: Format) => {
  const { names, types, rows } = encodeRows(result, hasBlobArrays)
  if (isAssociative) {
    return {
      ...(names.length > 0 && { types: sortedObject(names, types) }),
      rows: rows.map((row) => sortedObject(names, row))
    }
  }
  if (names.length === 0) return {}
  return { columns: names, types, ...(rows.length > 0 && { values: rows }) }
}

const toChangesJson = ({ lastInsertId, changes }: FakeChanges, { isAssociative }: Format) => ({
  ...(lastInsertId !== 0n && { last_insert_id: lastInsertId }),
  ...(changes !== 0n && { rows_affected: changes }),
  ...(isAssociative && { rows: null })
})

const toJson = (result: FakeResult, format: Format) => {
  try {
    if ('columns' in result) return toRowsJson(result, format)
  } catch (error) {
    if (error instanceof RangeError) return { error: error.message }
    throw error
  }
  if (!('error' in result)) return toChangesJson(result, format)
  return format.isQuery && format.isAssociative ? { rows: [], ...result } : result
}

const NEGATIVE_ZERO = [{ test: (value: unknown) => Object.is(value, -0), stringify: () => '-0' }]

/** Returns the body of a response with status 200. @throws {UnsupportedValue} if a value is infinite */
export const toBody = (results: readonly FakeResult[], format: Format, error?: string) =>
  String(
    stringify(
      { results: results.map((result) => toJson(result, format)), ...(error !== undefined && { error }) },
      null,
      undefined,
      NEGATIVE_ZERO
    )
  )
