import { kindOf } from '../model/column-kind.ts'
import type { Column } from '../model/table.ts'
import { identifier, textLiteral } from './identifiers.ts'

/** SQLite functions take at most 1,000 arguments in this build, so json_object at most 500 pairs. */
const PAIRS_PER_OBJECT = 500

/** Integers beyond ±(2^53−1) leave as decimal text: JSON parsers would round them. */
const exactInteger = (value: string) =>
  `CASE WHEN ${value} BETWEEN -9007199254740991 AND 9007199254740991 THEN ${value} ELSE CAST(${value} AS TEXT) END`

/** JSON has no infinity. */
export const finiteReal = (value: string) => `CASE WHEN abs(${value}) <= 1.7976931348623157e308 THEN ${value} END`

const truth = (value: string, otherwise: string) =>
  `CASE ${value} WHEN 0 THEN json('false') WHEN 1 THEN json('true') ELSE ${otherwise} END`

/** Columns of tables that are not STRICT hold any type in any row, whatever they declare. */
const whateverIsThere = (value: string) =>
  `CASE typeof(${value}) WHEN 'integer' THEN ${exactInteger(value)} WHEN 'real' THEN ${finiteReal(value)} WHEN 'blob' THEN base64(${value}) ELSE ${value} END`

const embedded = (value: string, otherwise: string) =>
  `CASE WHEN typeof(${value}) = 'text' AND json_valid(${value}) THEN json(${value}) ELSE ${otherwise} END`

const jsonValue = (column: Column, isStrict: boolean): string => {
  const value = identifier(column.name)
  switch (kindOf(column)) {
    case 'boolean':
      return truth(value, whateverIsThere(value))
    case 'json':
      return embedded(value, whateverIsThere(value))
    case 'integer':
      return isStrict ? exactInteger(value) : whateverIsThere(value)
    case 'real':
      return isStrict ? finiteReal(value) : whateverIsThere(value)
    case 'text':
      return isStrict ? value : whateverIsThere(value)
    default:
      return whateverIsThere(value)
  }
}

/** Joins objects as text: `{a}` and `{b}` become `{a,b}`. (`json_patch` would drop nulls.) */
const joinObjects = (objects: readonly string[]) => {
  if (objects.length === 1) return String(objects[0])
  const members = objects.map((object) => `substr(${object}, 2, length(${object}) - 2)`)
  return `'{' || ${members.join(" || ',' || ")} || '}'`
}

/** An expression for a record as JSON text, exact for 64-bit integers and doubles (SQLite 3.53 or newer). */
export const recordJson = (columns: readonly Column[], isStrict: boolean): string => {
  const pairs = columns.map((column) => `${textLiteral(column.name)}, ${jsonValue(column, isStrict)}`)
  const objects: string[] = []
  for (let start = 0; start < pairs.length; start += PAIRS_PER_OBJECT) {
    objects.push(`json_object(${pairs.slice(start, start + PAIRS_PER_OBJECT).join(', ')})`)
  }
  return joinObjects(objects)
}
