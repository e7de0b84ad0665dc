import type { Column } from '../model/table.ts'
import { identifier } from './identifiers.ts'
import { recordCsv } from './record-csv.ts'
import { recordJson } from './record-json.ts'
import { joinTerms } from './terms.ts'

/** A record as text that SQLite makes. */
export interface RecordText {
  /** An expression for the text. */
  readonly text: string
  /**
   * An expression for about how many bytes the text has. SQLite finds it in the head of a stored row, without reading
   * the values: 0.4 ms for 1,000 rows of 400 kB.
   */
  readonly width: string
  /** Bytes of work that no record goes below, as the event loop reckons. */
  readonly minCost: number
}

/** The most that SQLite stores of a number. */
const NUMBER = 8
/** `"":,` around a name in JSON. */
const NAME_FRAME = 4
/** `"",` around a text in CSV. */
const CELL_FRAME = 3

/** A BLOB takes the 5 µs in JavaScript in which SQLite makes some hundred bytes of text. */
const BLOB = 64

const costOf = ({ isGenerated, sqliteType }: Column) => {
  // What it computes may be anything, and so may its length, which is computed as well.
  if (isGenerated) return Number.POSITIVE_INFINITY
  return sqliteType === 'BLOB' ? BLOB : 0
}

const isNumber = ({ sqliteType }: Column, isStrict: boolean) =>
  isStrict && (sqliteType === 'INTEGER' || sqliteType === 'REAL')

const widthOf = (columns: readonly Column[], isStrict: boolean, frame: (column: Column) => number) => {
  const fixed = columns.map((column) => frame(column) + (isNumber(column, isStrict) ? NUMBER : 0))
  const leastWidth = fixed.reduce((sum, bytes) => sum + bytes, 0)
  const minCost = columns.reduce((sum, column) => sum + costOf(column), leastWidth)
  const lengths = columns
    .filter((column) => !isNumber(column, isStrict))
    .map(({ name }) => `ifnull(octet_length(${identifier(name)}), 0)`)
  return { width: joinTerms([String(leastWidth), ...lengths], '+'), minCost }
}

export const jsonText = (columns: readonly Column[], isStrict: boolean): RecordText => ({
  text: recordJson(columns, isStrict),
  ...widthOf(columns, isStrict, ({ name }) => Buffer.byteLength(name) + NAME_FRAME)
})

/** `guard`: against formulas. */
export const csvText = (columns: readonly Column[], isStrict: boolean, guard: boolean): RecordText => ({
  text: recordCsv(columns, isStrict, guard),
  ...widthOf(columns, isStrict, () => CELL_FRAME)
})
