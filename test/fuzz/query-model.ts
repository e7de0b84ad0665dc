import { looksNumeric } from '../../services/model/literals.ts'
import type { Stored } from '../sqlite-oracle.ts'

export type Collation = 'BINARY' | 'NOCASE' | 'RTRIM'

/** What the comparisons of a column depend on. */
export interface ModelColumn {
  readonly name: string
  readonly affinity: 'INTEGER' | 'REAL' | 'NUMERIC' | 'TEXT' | 'BLOB'
  readonly collation: Collation
}

export type ModelRow = ReadonlyMap<string, Stored>

/** A filter in the form of the API, whose values are stored values. */
export interface ModelFilter {
  readonly where?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly all?: readonly ModelFilter[]
  readonly any?: readonly ModelFilter[]
  readonly none?: readonly ModelFilter[]
}

export interface ModelOrder {
  readonly column: ModelColumn
  readonly descending: boolean
}

const fold = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** Folds each character that has one lower and one upper form. */
const foldLetters = (text: string) =>
  Array.from(text, (character) => {
    const [lower, upper] = [character.toLowerCase(), character.toUpperCase()]
    const isLetter = lower.toUpperCase() === upper && upper.toLowerCase() === lower && [...upper].length === 1
    return isLetter && (character === lower || character === upper) ? lower : character
  }).join('')

const collate: Record<Collation, (text: string) => string> = {
  BINARY: (text) => text,
  NOCASE: fold,
  RTRIM: (text) => text.replace(/ +$/, '')
}

/** NULL, numbers, text, BLOBs: https://sqlite.org/datatype3.html#comparison_expressions */
const classOf = (value: Stored) => {
  if (value === null) return 0
  if (typeof value === 'bigint' || typeof value === 'number') return 1
  return typeof value === 'string' ? 2 : 3
}

/** JavaScript compares a bigint with a number exactly. */
const compareNumbers = (a: bigint | number, b: bigint | number) => (a < b ? -1 : Number(a > b))

/** Compares two stored values in the order of SQLite. */
export const compareStored = ({ collation }: ModelColumn, a: Stored, b: Stored): number => {
  const classes = classOf(a) - classOf(b)
  if (classes !== 0) return classes
  if (a === null || b === null) return 0
  if (typeof a === 'string') {
    const [left, right] = [a, String(b)].map((text) => Buffer.from(collate[collation](text)))
    return Buffer.compare(left as Buffer, right as Buffer)
  }
  if (typeof a === 'object') return Buffer.compare(a, b as Buffer)
  return compareNumbers(a, b as bigint | number)
}

/** A numeric column converts text that looks like a number before it compares. */
const withAffinity = ({ affinity }: ModelColumn, value: Stored): Stored =>
  typeof value === 'string' && affinity !== 'TEXT' && affinity !== 'BLOB' && looksNumeric(value) ? Number(value) : value

const textOf = (value: Stored) => (value === null || typeof value === 'object' ? null : foldLetters(String(value)))

type Test = (column: ModelColumn, stored: Stored, operand: never) => boolean

/** A condition that is NULL in SQL is false here, except where the rules include NULL. */
const whenComparable =
  (test: (result: number) => boolean): Test =>
  (column, stored, operand) =>
    stored !== null && test(compareStored(column, stored, withAffinity(column, operand)))

const whenText =
  (test: (text: string, part: string) => boolean): Test =>
  (_, stored, operand) => {
    const text = textOf(stored)
    return text !== null && test(text, foldLetters(operand))
  }

const isEqual = whenComparable((result) => result === 0)
const isAmong = (column: ModelColumn, stored: Stored, list: readonly Stored[]) =>
  list.some((item) => isEqual(column, stored, item as never))

const tests: Readonly<Record<string, Test>> = {
  eq: isEqual,
  ne: (column, stored, operand) => !isEqual(column, stored, operand),
  gt: whenComparable((result) => result > 0),
  gte: whenComparable((result) => result >= 0),
  lt: whenComparable((result) => result < 0),
  lte: whenComparable((result) => result <= 0),
  between: (column, stored, [first, last]: readonly [Stored, Stored]) =>
    whenComparable((result) => result >= 0)(column, stored, first as never) &&
    whenComparable((result) => result <= 0)(column, stored, last as never),
  in: isAmong,
  notIn: (column, stored, operand) => !isAmong(column, stored, operand),
  isNull: (_, stored, operand) => (stored === null) === operand,
  contains: whenText((text, part) => text.includes(part)),
  startsWith: whenText((text, part) => text.startsWith(part)),
  endsWith: whenText((text, part) => text.endsWith(part))
}

/** Whether a row matches, in two-valued logic. */
export const matches = (columns: ReadonlyMap<string, ModelColumn>, filter: ModelFilter, row: ModelRow): boolean => {
  const { where = {}, all = [], any, none = [] } = filter
  const isMatch = (part: ModelFilter) => matches(columns, part, row)
  const holds = Object.entries(where).every(([name, condition]) =>
    Object.entries(condition).every(([operator, operand]) =>
      tests[operator]?.(columns.get(name) as ModelColumn, row.get(name) as Stored, operand as never)
    )
  )
  return holds && all.every(isMatch) && (any === undefined || any.some(isMatch)) && !none.some(isMatch)
}

/** Compares two rows, or a row and a position, by an order. */
export const compareRows = (order: readonly ModelOrder[], a: ModelRow, b: ModelRow): number => {
  for (const { column, descending } of order) {
    const result = compareStored(column, a.get(column.name) as Stored, b.get(column.name) as Stored)
    if (result !== 0) return descending ? -result : result
  }
  return 0
}
