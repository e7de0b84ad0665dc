import type { AggregateUnit } from '../../schemas/aggregate.ts'
import { finite } from '../model/kinds/json-values.ts'
import { kindOf } from '../model/kinds/kind-of.ts'
import type { Column, ColumnType } from '../model/table.ts'
import { boundedText, LIST } from './bounded-text.ts'
import type { Condition } from './conditions.ts'
import { columnRef, textLiteral } from './identifiers.ts'
import { MAX_PAGE_BYTES } from './pages.ts'
import type { RecordShape } from './record-shape.ts'
import { guardOf, type OrderItem, type RowSelection, selectedParams, selectedRows } from './selections.ts'
import type { Statement } from './statement.ts'
import { joinTerms } from './terms.ts'

type TableShape = Omit<RecordShape, 'columns'>

/** A value of each row. */
export interface Output {
  readonly name: string
  /** An SQL expression over the records of a group. */
  readonly sql: string
  /** Returns an SQL expression for the value in `json_object`. */
  json(value: string): string
}

/** A value that is the same for all records of a group. */
export interface Group extends Output {
  /** An SQL expression over one record. */
  readonly key: string
}

/** A value that is computed from the records of a group. */
export interface Computed extends Output {
  /** The type of the values with which it is compared. */
  readonly type: ColumnType
}

export interface Aggregation {
  readonly selection: RowSelection
  readonly groups: readonly Group[]
  readonly computed: readonly Computed[]
  /** The condition of the groups to return, on the columns of `GROUPS`. null: all groups. */
  readonly having: Condition | null
  /** Names of groups and computed values. */
  readonly order: readonly OrderItem[]
  /** Maximum number of rows. */
  readonly limit: number
}

const asItIs = (value: string) => value

/** Shows a value as records show the column. */
const showAs =
  ({ isStrict, integers, dialect }: TableShape, column: Column) =>
  (value: string) =>
    kindOf(column).json(value, { isStrict, integers, base64: dialect.base64 })

/** Groups by the collation of the column. Of texts that are equal under it, the first one is shown. */
export const fieldGroup = (shape: TableShape, column: Column): Group => {
  const key = columnRef(shape.tableName, column.name)
  return { name: column.name, key, sql: `min(${key} COLLATE BINARY)`, json: showAs(shape, column) }
}

const timeText = (format: string) => (time: string) => `strftime(${textLiteral(format)}, ${time})`

/** The text of the period of a time, which is the list of the arguments of `strftime`. */
const periodTexts: Readonly<Record<AggregateUnit, (time: string) => string>> = {
  day: timeText('%Y-%m-%d'),
  week: timeText('%G-W%V'),
  month: timeText('%Y-%m'),
  quarter: (time) => `strftime('%Y-Q', ${time}) || ((strftime('%m', ${time}) + 2) / 3)`,
  year: timeText('%Y')
}

/**
 * Groups by a period in UTC; NULL for a value that is no date. SQLite would also read 'now', times without a date, and
 * days that a month does not have.
 */
export const periodGroup = ({ tableName }: TableShape, { name }: Column, unit: AggregateUnit): Group => {
  const value = columnRef(tableName, name)
  const textOf = periodTexts[unit]
  const day = `substr(${value}, 1, 10)`
  // Divides and rounds down. SQLite rounds towards zero.
  const seconds = `${value} / 1000 - (${value} % 1000 < 0)`
  const key = `CASE typeof(${value})
    WHEN 'integer' THEN ${textOf(`${seconds}, 'unixepoch'`)}
    WHEN 'text' THEN CASE WHEN date(${day}) = ${day} THEN ${textOf(value)} END END`
  return { name, key, sql: key, json: asItIs }
}

/** Counts and averages are numbers in JSON for each format of integers. */
const NUMBER: ColumnType = { jsonType: 'number', sqliteType: 'NUMERIC', declaredType: 'NUMERIC' }

export const countOfRecords = (name: string): Computed => ({ name, sql: 'count(*)', type: NUMBER, json: asItIs })

const functions = {
  sum: (value: string) => `sum(${value})`,
  avg: (value: string) => `avg(${value})`,
  min: (value: string) => `min(${value})`,
  max: (value: string) => `max(${value})`,
  countDistinct: (value: string) => `count(DISTINCT ${value})`
}

export type FunctionName = keyof typeof functions

const typeOf = (column: Column, name: FunctionName): ColumnType =>
  name === 'countDistinct' || name === 'avg' ? NUMBER : column

const jsonOf = (shape: TableShape, column: Column, name: FunctionName): Output['json'] => {
  if (name === 'countDistinct') return asItIs
  return name === 'avg' ? finite : showAs(shape, column)
}

/** A sum fails if it exceeds 64 bits while SQLite adds integers. */
export const functionOf = (shape: TableShape, name: string, call: FunctionName, column: Column): Computed => ({
  name,
  sql: functions[call](columnRef(shape.tableName, column.name)),
  type: typeOf(column, call),
  json: jsonOf(shape, column, call)
})

/**
 * Groups break ties: no two rows have the same ones. `+` has no effect on values. Without it, SQLite 3.53 takes the order of
 * `SELECT … FROM view GROUP BY id ORDER BY id` from the ORDER BY of the view.
 */
const orderTerms = ({ selection, groups, computed, order }: Aggregation) => {
  const prefix = selection.table.structure.isView ? '+' : ''
  const position = (index: number) => String(groups.length + index + 1)
  const terms = new Map([
    ...groups.map(({ name, key }) => [name, prefix + key] as const),
    ...computed.map(({ name }, index) => [name, position(index)] as const)
  ])
  const rest = groups.filter(({ name }) => order.every((item) => item.name !== name))
  const items = [...order, ...rest.map(({ name }) => ({ name, descending: false }))]
  return items.map(({ name, descending }) => `${terms.get(name)}${descending ? ' DESC' : ''}`)
}

/** SQLite sorts the rows to group them. The guard of the scan is not called after that: 0.4 to 4 s for a million rows. */
const guardAfterSort = ({ selection, groups }: Aggregation) =>
  groups.length === 0 ? [] : [`count(*) FILTER (WHERE ${guardOf(selection)}) AS guarded`]

const clause = (keyword: string, terms: readonly string[]) =>
  terms.length === 0 ? '' : `${keyword} ${terms.join(', ')}`

/** Their prefix is reserved, so they hide no served table. */
const ROWS = '_rowhouse_rows'
/** The groups, whose values are its columns: see `outputColumn`. */
export const GROUPS = '_rowhouse_groups'

/** Returns the name of the column with an output. `position`: of the output among the groups and the computed values. */
export const outputColumn = (position: number) => `o${position}`

const rowText = (outputs: readonly Output[]) => {
  const values = outputs.map((output, index) => ({ ...output, value: `${ROWS}.${outputColumn(index)}` }))
  const pairs = values.map(({ name, value, json }) => `${textLiteral(name)}, ${json(value)}`)
  const names = outputs.reduce((sum, { name }) => sum + Buffer.byteLength(name), 0)
  const lengths = values.map(({ value }) => `ifnull(octet_length(${value}), 0)`)
  return { text: `json_object(${pairs.join(', ')})`, width: joinTerms([String(names), ...lengths], '+'), params: [] }
}

/** Selects the rows as `text`, the elements of a JSON array. Null if they are too large. Runs in a reader thread. */
export const aggregateRows = (aggregation: Aggregation): Statement => {
  const { selection, groups, computed, having, limit } = aggregation
  const outputs = [...groups, ...computed]
  const columns = outputs
    .map(({ sql }, index) => `${sql} AS ${outputColumn(index)}`)
    .concat(guardAfterSort(aggregation))
  const groupBy = clause(
    'GROUP BY',
    groups.map(({ key }) => key)
  )
  const orderBy = clause('ORDER BY', orderTerms(aggregation))
  const all = `SELECT ${columns.join(', ')} ${selectedRows(selection)} ${groupBy} ${orderBy}`
  // With a LIMIT, SQLite keeps the order of the rows.
  const rows = having ? `SELECT * FROM (${all} LIMIT -1) AS ${GROUPS} WHERE ${having.sql}` : all
  const select = (expression: string) => `SELECT ${expression} AS value FROM ${ROWS} LIMIT -1`
  const joined = boundedText({ select, params: (first) => first }, rowText(outputs), {
    join: LIST,
    maxBytes: MAX_PAGE_BYTES
  })
  return {
    sql: `WITH ${ROWS} AS MATERIALIZED (${rows} LIMIT ?) ${joined.sql}`,
    params: [...selectedParams(selection), ...(having?.params ?? []), BigInt(limit), ...joined.params]
  }
}
