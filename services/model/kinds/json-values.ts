import type { JsonContext } from './kind.ts'

/** Integers beyond ±(2^53−1) become decimal text, because many JSON parsers would round them. */
export const integerJson = (value: string, { integers }: JsonContext) =>
  integers === 'number'
    ? value
    : `CASE WHEN ${value} BETWEEN -9007199254740991 AND 9007199254740991 THEN ${value} ELSE CAST(${value} AS TEXT) END`

/** JSON has no infinity: it becomes NULL. */
export const finiteReal = (value: string) => `CASE WHEN abs(${value}) <= 1.7976931348623157e308 THEN ${value} END`

/** A value of any type: a table that is not STRICT can store any type in any column. */
export const anyJson = (value: string, context: JsonContext, integer = integerJson(value, context)) =>
  `CASE typeof(${value}) WHEN 'integer' THEN ${integer} WHEN 'real' THEN ${finiteReal(value)} WHEN 'blob' THEN ${context.base64(value)} ELSE ${value} END`
