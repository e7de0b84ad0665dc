import type { SqlValue } from '../model/sql-value.ts'
import type { RecordText } from './record-text.ts'
import type { Statement } from './statement.ts'

/** Bytes that are made into text on the event loop at once, as it stands still meanwhile. */
export const MAX_BYTES_ON_LOOP = 1024 * 1024

/** Rows in SQL, whatever is asked of them. */
export interface Rows {
  /** Selects an expression of each row as `value`. A LIMIT keeps their order where they are joined. */
  select(expression: string): string
  readonly params: readonly SqlValue[]
}

interface Joining {
  /** An aggregate over `value`, the texts of rows. */
  readonly join: string
  readonly maxBytes: number
  /** Further aggregates, over the widths of the rows. */
  readonly beside?: readonly string[]
}

/**
 * The `text` of rows, or null where it would have more than so many bytes, which is known before any of it is made. A
 * single row is always given.
 */
export const boundedText = (rows: Rows, { text, width }: RecordText, joining: Joining): Statement => {
  const { join, maxBytes, beside = [] } = joining
  const joined = `CASE WHEN count(value) < 2 OR sum(value) <= ? THEN (SELECT ${join} FROM (${rows.select(text)})) END AS text`
  return {
    sql: `SELECT ${[joined, ...beside].join(', ')} FROM (${rows.select(width)})`,
    params: [BigInt(maxBytes), ...rows.params, ...rows.params]
  }
}

/**
 * The `text` of rows in one pass, or null where one of them is wider than so many bytes, which is known before its text
 * is made. For short pages that costs half of what adding up does.
 */
export const narrowText = (rows: Rows, { text, width }: RecordText, join: string, widest: number): Statement => ({
  sql: `SELECT CASE WHEN count(value) = count(*) THEN ${join} END AS text
    FROM (${rows.select(`CASE WHEN ${width} <= ? THEN ${text} END`)})`,
  params: [BigInt(widest), ...rows.params]
})
