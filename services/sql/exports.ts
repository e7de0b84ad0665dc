import { lastingRowid, type RegisteredTable } from '../model/table.ts'
import { boundedText, type Rows } from './bounded-text.ts'
import { columnRef, identifier } from './identifiers.ts'
import { isExactly } from './keys.ts'
import type { Window } from './page-ranges.ts'
import { pageByReading } from './pages.ts'
import { bindRecord, type RecordText } from './record-text.ts'
import { orderBy, orderClause, type Selection, STABLE_PARAM, selectedParams, selectedRows } from './selections.ts'
import type { RowSource, Statement } from './statement.ts'

/** The records of an export, each as one line. */
export interface RecordLines {
  readonly record: RecordText
  readonly lineEnd: '\r\n' | '\n'
}

const LINE_ENDS = { '\r\n': 'char(13, 10)', '\n': 'char(10)' }

/** Returns an aggregate: the lines, each with its line end; null without rows. */
const joinLines = ({ lineEnd }: RecordLines) => {
  const end = LINE_ENDS[lineEnd]
  return `group_concat(value, ${end}) || ${end}`
}

/** Selects one page as `text`; empty without rows. */
export const exportPage = (selection: Selection, lines: RecordLines, { limit, offset }: Window): Statement => {
  const start = { position: null, offset }
  const page = { selection, record: lines.record, start, limit, needsNext: false }
  return pageByReading(page, { join: `coalesce(${joinLines(lines)}, '')` })
}

/** The limits of one step of an export. `maxBytes` does not apply to a single row. */
interface StepLimits {
  readonly rows: number
  readonly maxBytes: number
}

interface KeyStep extends StepLimits {
  /** The first key of the step. */
  readonly from: bigint
}

export interface CollectedStep extends Pick<StepLimits, 'maxBytes'> {
  /** The rows of the step: the columns `position`, by which they are ordered, and `k0`, `k1`, … as in `selectKeys`. */
  readonly collected: RowSource
}

const SIZE = ['count(value) AS count', 'sum(value) AS bytes']

/** Selects the `text` of a step, or null if it is too large, and its `count` of rows and approximate `bytes`. */
const stepOf = (rows: Rows, lines: RecordLines, maxBytes: number, ...aggregates: readonly string[]) =>
  boundedText(rows, lines.record, { join: joinLines(lines), maxBytes, aggregates: [...SIZE, ...aggregates] })

/** Selects the next rows in the order of an integer key. `last` is the last key as text: it may be beyond 2^53. */
export const exportByKey = (selection: Selection, lines: RecordLines, step: KeyStep): Statement => {
  const { table, order } = selection
  const key = columnRef(table.name, table.structure.key[0] as string)
  const descending = order[0]?.descending === true
  const select = (expression: string) => `SELECT ${expression} AS value, ${key} AS k FROM ${identifier(table.name)}
    WHERE ${key} ${descending ? '<=' : '>='} ? ORDER BY ${orderBy(selection)} LIMIT ${STABLE_PARAM}`
  const last = `CAST(${descending ? 'min(k)' : 'max(k)'} AS TEXT) AS last`
  const params: Rows['params'] = (first) => [...first, step.from, BigInt(step.rows)]
  return stepOf({ select, params }, lines, step.maxBytes, last)
}

/** The columns that identify a row during an export: the rowid, which is never NULL, or the key without a lasting rowid. */
const rowKey = (table: RegisteredTable) => {
  const rowid = lastingRowid(table)
  return rowid === null ? table.structure.key : [rowid]
}

/** The number of columns that `selectKeys` selects. */
export const countKeyColumns = (table: RegisteredTable) => rowKey(table).length

/** Selects the keys of all rows in the order of the export. Sorts and filters in a reader thread. */
export const selectKeys = (selection: Selection): Statement => {
  const { table } = selection
  const keys = rowKey(table).map((name) => columnRef(table.name, name))
  return {
    sql: `SELECT ${keys.join(', ')} ${selectedRows(selection)} ORDER BY ${orderBy(selection)}`,
    params: selectedParams(selection)
  }
}

/** Selects the lines of all rows of an SQL view in the order of the export, which are collected instead of keys. */
export const selectLines = (selection: Selection, { record }: RecordLines): Statement => ({
  sql: `SELECT ${record.text} ${selectedRows(selection)} ${orderClause(selection)}`,
  params: selectedParams(selection)
})

/** An alias for the collected keys that hides no served table. */
const COLLECTED = '_rowhouse_collected'

/** Returns a SELECT of the expression for each collected row, in their order. */
const selectCollected = ({ from }: RowSource, expression: string) =>
  `SELECT ${expression} AS value FROM ${from} AS ${COLLECTED} ORDER BY ${COLLECTED}.position LIMIT -1`

/** Selects the rows of the next collected keys. Leaves out rows that were deleted since, or that the caller can no longer read. */
export const exportCollected = (
  { table, rows: rule }: Selection,
  lines: RecordLines,
  step: CollectedStep
): Statement => {
  const { collected, maxBytes } = step
  const match = rowKey(table).map((name, index) => isExactly(columnRef(table.name, name), `${COLLECTED}.k${index}`))
  if (rule) match.push(rule.sql)
  const select = (expression: string) =>
    selectCollected(collected, `(SELECT ${expression} FROM ${identifier(table.name)} WHERE ${match.join(' AND ')})`)
  const params: Rows['params'] = (first) => [...first, ...(rule?.params ?? []), ...collected.params]
  return stepOf({ select, params }, lines, maxBytes)
}

/** Selects the next collected lines of an SQL view. */
export const exportLines = (lines: RecordLines, { collected, maxBytes }: CollectedStep): Statement => {
  const select = (expression: string) => selectCollected(collected, expression)
  const line = `${COLLECTED}.k0`
  const record = bindRecord({ text: line, width: `octet_length(${line})`, minCost: 0 }, [])
  return stepOf({ select, params: (first) => [...first, ...collected.params] }, { ...lines, record }, maxBytes)
}
