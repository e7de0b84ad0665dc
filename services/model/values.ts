import { type ColumnKind, kindOf } from './column-kind.ts'
import { excerpt, type Fault, pointer } from './errors.ts'
import { parseBase64, parseInteger } from './literals.ts'
import type { SqlValue } from './sql-value.ts'
import type { Column } from './table.ts'

/** Either what SQLite stores or what is wrong. */
export type Checked = { readonly value: SqlValue } | { readonly fault: Fault }

const stored = (value: SqlValue): Checked => ({ value })
const fault = (code: string, message: string): Checked => ({ fault: { code, message } })

const WIDE_INTEGER = 'must be an integer; beyond ±(2^53−1) send it as decimal text, such as "9007199254740993"'

/** Exact integers: a JSON number where it is exact, decimal text of 64 bits where a number would be rounded. */
const checkInteger = (value: unknown): Checked => {
  if (typeof value === 'number' && Number.isInteger(value)) {
    return Number.isSafeInteger(value) ? stored(BigInt(value)) : fault('range', WIDE_INTEGER)
  }
  if (typeof value !== 'string') return fault('type', WIDE_INTEGER)
  const integer = parseInteger(value)
  const isWide = integer !== undefined && !Number.isSafeInteger(Number(integer))
  return isWide ? stored(integer) : fault('type', WIDE_INTEGER)
}

const checkReal = (value: unknown): Checked =>
  typeof value === 'number' ? stored(value) : fault('type', 'must be a number')

/** Numeric affinity keeps integers of 64 bits exact, so they come and go as text beyond 2^53. */
const checkNumeric = (value: unknown): Checked => (typeof value === 'string' ? checkInteger(value) : checkReal(value))

const checkText = (value: unknown): Checked =>
  typeof value === 'string' ? stored(value) : fault('type', 'must be a string')

const checkBoolean = (value: unknown): Checked =>
  typeof value === 'boolean' ? stored(value ? 1n : 0n) : fault('type', 'must be true or false')

const checkBlob = (value: unknown): Checked => {
  const bytes = typeof value === 'string' ? parseBase64(value) : undefined
  return bytes ? stored(bytes) : fault('format', 'must be base64 text')
}

/** Text, or a number: an integer stays one. */
const checkLoose = (value: unknown): Checked => {
  if (typeof value === 'string') return stored(value)
  if (typeof value !== 'number') return fault('type', 'must be a string or a number')
  return stored(Number.isSafeInteger(value) ? BigInt(value) : value)
}

const checks: Record<Exclude<ColumnKind, 'json'>, (value: unknown) => Checked> = {
  integer: checkInteger,
  real: checkReal,
  numeric: checkNumeric,
  text: checkText,
  boolean: checkBoolean,
  blob: checkBlob,
  loose: checkLoose
}

/** Where a JSON value holds an integer that has been rounded on its way here, or may have been. */
const findRounded = (value: unknown): string | undefined => {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value) ? '' : undefined
  if (typeof value !== 'object' || value === null) return undefined
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  for (let index = 0; index < members.length; index += 1) {
    const below = findRounded(members[index])
    if (below !== undefined) return pointer(excerpt(String(Object.keys(value)[index]))) + below
  }
  return undefined
}

const ROUNDED = 'is beyond the integers that a JSON number holds exactly, ±(2^53−1); send it as a string'

const checkJson = (value: unknown, jsonType: string): Checked => {
  const matches = typeof value === 'object' && value !== null && Array.isArray(value) === (jsonType === 'array')
  if (!matches) return fault('type', `must be an ${jsonType}`)
  const below = findRounded(value)
  if (below === undefined) return stored(JSON.stringify(value))
  return { fault: { code: 'range', message: ROUNDED, below } }
}

/** A JSON value other than null as SQLite stores it in this column, without any coercion. */
export const checkValue = (column: Column, value: unknown): Checked => {
  const kind = kindOf(column)
  return kind === 'json' ? checkJson(value, column.jsonType) : checks[kind](value)
}

/** An increment's `count`: whole for integer fields, any number elsewhere. */
export const checkCount = (column: Column, count: number | string): Checked => {
  if (kindOf(column) === 'integer' || typeof count === 'string') return checkInteger(count)
  return checkLoose(count)
}
