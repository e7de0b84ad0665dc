import type { SqlValue } from '../model/sql-value.ts'
import type { RecordText } from './record-text.ts'
import type { Statement } from './statement.ts'

/** Joins records as the elements of a JSON array, without its brackets. */
export const LIST = "coalesce(group_concat(value, ','), '')"

/** Maximum bytes of text that one statement makes on the event loop, which it blocks. */
export const MAX_BYTES_ON_LOOP = 1024 * 1024

/** A query for rows, without its result columns. */
export interface Rows {
  /** Returns SQL that selects the expression for each row as `value`. A LIMIT keeps the order when rows are joined. */
  select(expression: string): string
  /** Returns the parameters of `select`. `first`: those of the expression, once for each place where the SQL has it. */
  params(first: readonly SqlValue[]): readonly SqlValue[]
}

/** Expressions for the text of a row, and for its width in bytes. */
type Texts = Pick<RecordText, 'text' | 'width' | 'params'>

interface Joining {
  /** An aggregate over `value`, the texts of the rows. */
  readonly join: string
  readonly maxBytes: number
  /** Further aggregates, over the widths of the rows. */
  readonly aggregates?: readonly string[]
}

/**
 * Selects the `text` of rows, or null if it would be longer than `maxBytes`, which is computed before the text is made.
 * A single row has no limit.
 */
export const boundedText = (rows: Rows, { text, width, params }: Texts, joining: Joining): Statement => {
  const { join, maxBytes, aggregates = [] } = joining
  const joined = `CASE WHEN count(value) < 2 OR sum(value) <= ? THEN (SELECT ${join} FROM (${rows.select(text)})) END AS text`
  return {
    sql: `SELECT ${[joined, ...aggregates].join(', ')} FROM (${rows.select(width)})`,
    params: [BigInt(maxBytes), ...rows.params(params), ...rows.params(params)]
  }
}

/**
 * Returns SQL that selects the `text` of rows in one pass, or null if one row is too wide, which is computed before its
 * text is made. For short pages this costs half of `boundedText`. Binds `narrowParams` first.
 */
export const narrowText = (select: Rows['select'], { text, width }: Texts, join: string) =>
  `SELECT CASE WHEN count(value) = count(*) THEN ${join} END AS text
    FROM (${select(`CASE WHEN ${width} <= ? THEN ${text} END`)})`

/** Returns the first parameters of `narrowText`. */
export const narrowParams = ({ params }: Texts, maxRowBytes: number): readonly SqlValue[] => [
  ...params,
  BigInt(maxRowBytes),
  ...params
]
