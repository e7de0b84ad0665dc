import type { SqlValue } from '../model/sql-value.ts'
import { lastingRowid, type RegisteredTable } from '../model/table.ts'
import { type Condition, comparedColumn } from './conditions.ts'
import { type Dialect, tableGuard } from './dialect.ts'
import { columnRef, identifier } from './identifiers.ts'
import { fromClause, type Join, joinParams } from './joins.ts'
import type { Statement } from './statement.ts'
import { joinTerms } from './terms.ts'

export interface OrderItem {
  readonly name: string
  /** The alias of the joined table that has the column. Absent: the selected table. */
  readonly alias?: string
  readonly descending: boolean
  /** Compares texts by their bytes instead of the collation of the column. */
  readonly isBinary?: boolean
}

/** A condition for rows among which are all of the filter. It is for the rowid, so an index finds them. */
export interface Candidates {
  readonly where: string
  readonly params: readonly SqlValue[]
}

/** The rows of a page or an export, and their order. */
export interface Selection {
  readonly table: RegisteredTable
  readonly dialect: Dialect
  readonly order: readonly OrderItem[]
  /** The rows that the caller can read. null: all of them. */
  readonly rows: Condition | null
  /** The condition of the rows, with that of `rows`. null: all rows. */
  readonly filter: Condition | null
  /** The records that the filter and the order need of other tables. */
  readonly joins: readonly Join[]
  /** Absent: all rows of the table. */
  readonly candidates?: Candidates
}

export type RowSelection = Omit<Selection, 'order'>

/** Returns the table of the column of an order: the selected one, or a joined one. */
export const tableOfItem = ({ name }: Pick<RegisteredTable, 'name'>, { alias = name }: OrderItem) => ({ name: alias })

/** Whether an order has this column of the selected table. */
const isOwn = ({ alias, name }: OrderItem, column: string) => alias === undefined && name === column

export const orderBy = ({ table, order }: Pick<Selection, 'table' | 'order'>) =>
  order.map((item) => `${comparedColumn(tableOfItem(table, item), item)}${item.descending ? ' DESC' : ''}`).join(', ')

/**
 * Returns the ORDER BY clause. Without an order it is empty: the rows of a view without a key come in the view's own
 * order.
 */
export const orderClause = (selection: Pick<Selection, 'table' | 'order'>) =>
  selection.order.length === 0 ? '' : `ORDER BY ${orderBy(selection)}`

/**
 * Makes the order total, except for a view without a key. The key breaks ties. The rowid breaks ties between keys that are
 * NULL, and the bytes of a key those between keys that are equal by a collation.
 */
export const totalOrder = (table: RegisteredTable, order: readonly OrderItem[]): readonly OrderItem[] => {
  const { key, hasCollatedKey } = table.structure
  const rowid = lastingRowid(table)
  const last = rowid === null ? key : [...key, rowid]
  const missing = [...new Set(last)].filter((name) => !order.some((item) => isOwn(item, name)))
  const bytes = hasCollatedKey ? key : []
  return [
    ...order,
    ...missing.map((name) => ({ name, descending: false })),
    ...bytes.map((name) => ({ name, descending: false, isBinary: true }))
  ]
}

/** Whether the order begins with the key, so that it usually follows the key's index. Rows in other orders may lie far apart. */
export const followsKey = ({ table, order }: Selection) => {
  const [first] = order
  if (!first || first.alias !== undefined) return false
  if (table.structure.isRowidKey) return first.name === table.structure.key[0]
  return totalOrder(table, []).every(({ name }, index) => order[index]?.name === name && !order[index].descending)
}

/** Whether the order is that of an integer key alone, which is the rowid. */
export const isRowidOrder = ({ table, order }: Selection) => table.structure.isRowidKey && order.length === 1

/**
 * A parameter of LIMIT. SQLite plans a statement with `LIMIT ?` again whenever the parameter is bound, to plan with its
 * value: https://sqlite.org/c3ref/prepare.html, note 3 on sqlite3_prepare_v2. An expression prevents it: a page of 20
 * takes 16 µs instead of 31.
 */
export const STABLE_PARAM = '? + 0'

/** Returns the guard of a full scan. */
export const guardOf = ({ table: { name, structure }, dialect }: Pick<Selection, 'table' | 'dialect'>) =>
  tableGuard(name, structure.rowid, dialect)

/** Bytes of text. A search reads 170 of them in a microsecond. */
const MAX_UNGUARDED_WIDTH = 4096

/** Returns the FROM clause of the table with its joined records. Binds `joinParams`. */
export const fromOf = ({ table, joins }: Pick<RowSelection, 'table' | 'joins'>) => fromClause(table.name, joins)

/** The rows of a selection, or of one with an order. */
type GuardedRows = RowSelection & { readonly order?: readonly OrderItem[] }

/** Returns expressions for the bytes of the values by which rows are sorted, of joined records: many rows may have one text. */
const joinedWidths = (order: readonly OrderItem[]) =>
  order.flatMap(({ alias, name }) =>
    alias === undefined ? [] : [`ifnull(octet_length(${columnRef(alias, name)}), 0)`]
  )

/**
 * Returns the condition of the rows, with the guard of reader threads. A search can take long for one row, and so can a sort
 * by a long text. So the guard runs at every wide row. A guard at every row makes a search of short rows slower by half.
 */
export const guardedCondition = (selection: GuardedRows) => {
  const { filter, dialect, candidates, order = [] } = selection
  const guard = guardOf(selection)
  const widths = [...(filter ? [filter.width] : []), ...joinedWidths(order)]
  if (widths.length === 0) return guard
  const isShort = `${guard} AND ${joinTerms(widths, '+')} < ${MAX_UNGUARDED_WIDTH}`
  const among = candidates ? `${candidates.where} AND ` : ''
  return `${among}(${isShort} OR ${dialect.scanGuard(null)})${filter ? ` AND ${filter.sql}` : ''}`
}

/** Returns the FROM and the WHERE clause of the rows, with the guard of reader threads. */
export const selectedRows = (selection: GuardedRows) => `${fromOf(selection)} WHERE ${guardedCondition(selection)}`

/** The parameters of `selectedRows`. */
export const selectedParams = ({ joins, filter, candidates }: RowSelection): readonly SqlValue[] => [
  ...joinParams(joins),
  ...(candidates?.params ?? []),
  ...(filter?.params ?? [])
]

/** An expression for the bytes of the stored values of a row. SQLite reads them from the header of the row. */
export const storedWidth = ({ name, structure }: RegisteredTable) => {
  const stored = structure.columns.filter(({ isGenerated }) => !isGenerated)
  return joinTerms(['0', ...stored.map((column) => `ifnull(octet_length(${columnRef(name, column.name)}), 0)`)], '+')
}

/**
 * Returns the selection with these candidates, without guards: for the event loop. `where`: a condition that an index serves,
 * and that is true for all rows of the filter. The table has a rowid.
 */
export const amongCandidates = (selection: Selection, { where, params }: Candidates): Selection => {
  const { table, dialect } = selection
  const rowid = columnRef(table.name, String(table.structure.rowid))
  const candidates = { where: `${rowid} IN (SELECT ${rowid} FROM ${identifier(table.name)} WHERE ${where})`, params }
  return { ...selection, dialect: { ...dialect, scanGuard: () => 'TRUE' }, candidates }
}

/** Selects the `total` of rows. The guard reads every row; without it SQLite counts pages, in half the time. */
export const countRows = (selection: RowSelection): Statement => ({
  sql: `SELECT count(*) AS total ${selectedRows(selection)}`,
  params: selectedParams(selection)
})

/** Selects the `total` of rows up to a maximum: bounded work for a table of any size. */
export const countUpTo = ({ name }: RegisteredTable, max: number): Statement => ({
  sql: `SELECT count(*) AS total FROM (SELECT 1 FROM ${identifier(name)} LIMIT ${STABLE_PARAM})`,
  params: [BigInt(max)]
})
