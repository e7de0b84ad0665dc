import { type ColumnKind, kindOf } from '../model/column-kind.ts'
import { parseBase64, parseInteger } from '../model/literals.ts'
import type { SqlValue } from '../model/sql-value.ts'
import type { Column, Structure } from '../model/table.ts'
import { identifier } from './identifiers.ts'

/** Characters, decoded: a longer key could not be put into a path. */
export const MAX_KEY_LENGTH = 8192

/** What numeric affinity turns into a number: https://sqlite.org/datatype3.html#type_affinity */
export const looksNumeric = (text: string) =>
  /^[ \t-\r]*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?[ \t-\r]*$/i.test(text)

/** The shortest spelling of a double, which beyond 2^53 is not that of the integer it is. */
const parseReal = (text: string): SqlValue | undefined => {
  const number = Number(text)
  if (Number.isFinite(number) && String(number) === text) return number
  return looksNumeric(text) ? undefined : text
}

/** Numeric affinity would find 1 for '01' and '1.0'; a key has one spelling, the one that JSON shows. */
const parseNumeric = (text: string): SqlValue | undefined => {
  const integer = parseInteger(text)
  return integer === undefined ? parseReal(text) : integer
}

/** JSON shows 1 and 0 as `true` and `false`, and whatever else a boolean column holds as it is. */
const parseBoolean = (text: string): SqlValue | undefined => {
  if (text === 'true') return 1n
  if (text === 'false') return 0n
  return text === '0' || text === '1' ? undefined : parseNumeric(text)
}

/** What a text may stand for in an untyped column, where bytes are shown as base64. */
export const textOrBytes = (text: string): readonly SqlValue[] => [text, parseBase64(text) ?? text]

const parseUntyped = (text: string): readonly SqlValue[] => {
  const value = parseNumeric(text)
  return value === undefined || value === text ? textOrBytes(text) : [value, text]
}

const asItIs = (text: string) => text

const parsers: Record<ColumnKind, (text: string) => SqlValue | undefined> = {
  integer: parseNumeric,
  real: parseReal,
  numeric: parseNumeric,
  boolean: parseBoolean,
  loose: parseNumeric,
  text: asItIs,
  json: asItIs,
  blob: parseBase64
}

/**
 * Without an affinity, the number 5 and the text '5' are different keys with the same spelling, and so may bytes be.
 */
export const isUntyped = (column: Column) => kindOf(column) === 'loose' && column.sqliteType === 'BLOB'

/**
 * An index serves only comparisons in its own collation, which need not be the column's and which no pragma tells of a
 * column. What is the same in BINARY is the same in each, so a condition in all of them lets whichever index there is
 * lead to the row, and holds for the exact value alone. https://sqlite.org/datatype3.html#collation
 */
const COLLATIONS = ['BINARY', 'NOCASE', 'RTRIM']

const inEachCollation = (condition: (collation: string) => string) => COLLATIONS.map(condition).join(' AND ')

/** The parameters of a condition in each collation. */
export const forEachCollation = (values: readonly SqlValue[]) => COLLATIONS.flatMap(() => values)

/** A condition for exactly this value. `value`: an expression; where it is a parameter, see `forEachCollation`. */
export const isExactly = (name: string, value: string) =>
  inEachCollation((collation) => `${identifier(name)} = ${value} COLLATE ${collation}`)

const parsePart = (column: Column, structure: Structure, text: string): readonly SqlValue[] | undefined => {
  if (structure.isRowidKey) {
    const integer = parseInteger(text)
    return integer === undefined ? undefined : [integer]
  }
  if (isUntyped(column)) return forEachCollation(parseUntyped(text))
  const value = parsers[kindOf(column)](text)
  return value === undefined ? undefined : forEachCollation([value])
}

const decodePart = (part: string) => {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

const partsOf = (text: string, count: number) => {
  if (count === 1) return [text]
  const parts = text.split(',').map(decodePart)
  return parts.length === count ? parts : []
}

/** The columns of the key, in its order. */
const keyColumns = ({ key, columns }: Structure) =>
  key.map((name) => columns.find((column) => column.name === name) as Column)

/** How the text of a key spells each of its parts, by the column's name. */
export const keyTexts = ({ key }: Structure, text: string): ReadonlyMap<string, string | undefined> => {
  const parts = partsOf(text, key.length)
  return new Map(key.map((name, index) => [name, parts[index]]))
}

/** Makes the parameters for `keyMatch` of a text, or undefined where it is no spelling of any key of this table. */
export const keyParser = (structure: Structure) => {
  const columns = keyColumns(structure)
  return (text: string): readonly SqlValue[] | undefined => {
    const parts = partsOf(text, columns.length)
    const values: SqlValue[] = []
    for (const [index, column] of columns.entries()) {
      const part = parts[index]
      const value = part === undefined ? undefined : parsePart(column, structure, part)
      if (value === undefined) return undefined
      values.push(...value)
    }
    return values
  }
}

const partMatch = (column: Column, { isRowidKey }: Structure) => {
  const name = identifier(column.name)
  if (isRowidKey) return `${name} = ?`
  if (!isUntyped(column)) return isExactly(column.name, '?')
  return inEachCollation((collation) => `${name} COLLATE ${collation} IN (?, ?)`)
}

/** A condition that holds for the one row with the key. */
export const keyMatch = (structure: Structure) =>
  keyColumns(structure)
    .map((column) => partMatch(column, structure))
    .join(' AND ')
