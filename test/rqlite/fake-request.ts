import { isInteger, isLosslessNumber, LosslessNumber, parse } from 'lossless-json'

/** A value as it is bound: rqlite binds integers as integers, and all other numbers as doubles. */
export type BoundValue = bigint | number | string | Uint8Array | null

export interface FakeStatement {
  readonly sql: string
  readonly params: readonly BoundValue[]
}

/** A request that rqlite refuses with status 400 and this text. */
export class BadRequest extends Error {}

const MAX_INTEGER = 2n ** 63n - 1n

const toNumber = (text: string) => {
  const integer = isInteger(text) ? BigInt(text) : null
  if (integer !== null && integer >= -MAX_INTEGER - 1n && integer <= MAX_INTEGER) return integer
  const double = Number(text)
  if (!Number.isFinite(double)) throw new BadRequest(`invalid number ${text}`)
  return double
}

const HEX = /^\s*[xX]'((?:[0-9a-fA-F]{2})*)'\s*$/

/** Returns bytes for a text of the form `x'41'`. */
const toTextOrBytes = (text: string) => {
  const hex = HEX.exec(text)?.[1]
  return hex === undefined ? text : Buffer.from(hex, 'hex')
}

/** The name of a JSON value's type in Go, as the error contains it. */
const goType = (value: unknown) => {
  if (value === null) return '<nil>'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'
}

const toByte = (value: unknown) => {
  if (!isLosslessNumber(value)) throw new BadRequest(`unsupported type ${goType(value)}`)
  const byte = isInteger(value.value) ? Number(value.value) : -1
  if (byte < 0 || byte > 255) throw new BadRequest(`unsupported type ${value.value}`)
  return byte
}

const toValue = (value: unknown): BoundValue => {
  if (value === null) return null
  if (typeof value === 'string') return toTextOrBytes(value)
  if (typeof value === 'boolean') return value ? 1n : 0n
  if (isLosslessNumber(value)) return toNumber(value.value)
  if (Array.isArray(value)) return Uint8Array.from(value, toByte)
  throw new BadRequest('The fake of rqlite has no named parameters. Send a list.')
}

const toStatement = (item: unknown): FakeStatement => {
  if (typeof item === 'string') return { sql: item, params: [] }
  const [sql, ...params] = Array.isArray(item) ? item : []
  if (typeof sql !== 'string') throw new BadRequest('invalid request')
  return { sql, params: params.map(toValue) }
}

const parseJson = (body: string): unknown => {
  try {
    return parse(body, null, (text) => new LosslessNumber(text))
  } catch {
    throw new BadRequest('invalid JSON body')
  }
}

/** Returns the statements of a body, read as rqlite reads it. @throws {BadRequest} with rqlite's text */
export const readStatements = (body: string): readonly FakeStatement[] => {
  const items = parseJson(body)
  if (!Array.isArray(items)) throw new BadRequest('invalid request')
  if (items.length === 0) throw new BadRequest('no statements')
  return items.map(toStatement)
}
