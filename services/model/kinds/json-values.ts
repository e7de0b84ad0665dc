import type { JsonContext } from './kind.ts'

const MAX_REAL = '1.7976931348623157e308'

/**
 * For comparisons by storage class: NULL, then numbers, then text, then BLOBs. The affinity of the column would convert
 * the other operand, and its collation may be unknown here.
 */
const stored = (value: string) => `+${value} COLLATE BINARY`

/** A comparison takes 13 ns, `typeof` 35. Both are NULL for NULL, so NULL takes the ELSE branch of a CASE. */
export const isBlob = (value: string) => `${stored(value)} >= x''`
/** For values that are not BLOBs. */
export const isNumber = (value: string) => `${stored(value)} <= 9e999`

const isExact = (value: string) => `${stored(value)} BETWEEN -9007199254740991 AND 9007199254740991`

/** Integers beyond ±(2^53−1) become decimal text, because many JSON parsers would round them. */
export const integerJson = (value: string, { integers }: JsonContext) =>
  integers === 'number' ? value : `CASE WHEN ${isExact(value)} THEN ${value} ELSE CAST(${value} AS TEXT) END`

/** JSON has no infinity: it becomes NULL. */
export const finite = (value: string) =>
  `CASE WHEN ${stored(value)} BETWEEN -${MAX_REAL} AND ${MAX_REAL} THEN ${value} END`

const exactNumber = (value: string, context: JsonContext) =>
  `CASE WHEN typeof(${value}) = 'integer' THEN ${integerJson(value, context)} ELSE ${finite(value)} END`

/** A value of any type: a table that is not STRICT can store any type in any column. */
export const anyJson = (value: string, context: JsonContext) =>
  `CASE WHEN ${isBlob(value)} THEN ${context.base64(value)} WHEN ${isNumber(value)} THEN ${exactNumber(value, context)} ELSE ${value} END`

/** Like `anyJson`, and faster where most values are numbers. */
export const mostlyNumberJson = (value: string, context: JsonContext) =>
  `CASE WHEN NOT ${isExact(value)} THEN ${anyJson(value, context)} ELSE ${value} END`
