import { type Operand, operators } from '../../../schemas/query.ts'
import type { PlainField as Field } from '../../../services/model/table.ts'
import { type ModelColumn, type ModelFilter, matches } from '../query-model.ts'
import { type Cursor, invalid, type Model, type Registered, refuse, type Viewer, visibleFields } from './model.ts'
import { type Body, showRow, storedOf } from './records.ts'
import type { Row } from './stored-tables.ts'
import { compare, isFound, isSearched, normalizeCell, type Stored, toCell, toStored } from './values.ts'

export interface OrderItem {
  readonly name: string
  readonly isDescending: boolean
}

/** The records that a request selects, and their order. */
export interface Selection {
  readonly order: readonly OrderItem[]
  readonly q?: string
  readonly filter?: unknown
}

export interface Query extends Selection {
  readonly page?: number
  readonly size?: number
  readonly fields?: readonly string[]
  /** Empty for the first page. */
  readonly cursor?: string
  readonly total?: boolean
}

const operatorsWith = (operand: Operand) =>
  Object.entries(operators).flatMap(([name, declared]) => (declared.operand === operand ? [name] : []))

export const TEXT_OPERATORS = operatorsWith('text')
export const LIST_OPERATORS = operatorsWith('values')
export const COMPARISONS = operatorsWith('value')
export const RANGE_OPERATORS = operatorsWith('range')

const asObject = (value: unknown) => value as Readonly<Record<string, unknown>>

/** Returns the operand of a condition in its stored form. */
const readOperand = ({ jsonType }: Field, operator: string, operand: unknown): unknown => {
  const stored = (value: unknown) => toStored(jsonType, value) ?? invalid()
  if (operator === 'isNull') return typeof operand === 'boolean' ? operand : invalid()
  if (COMPARISONS.includes(operator)) return stored(operand)
  if (RANGE_OPERATORS.includes(operator)) {
    return Array.isArray(operand) && operand.length === 2 ? operand.map(stored) : invalid()
  }
  if (LIST_OPERATORS.includes(operator)) return Array.isArray(operand) ? operand.map(stored) : invalid()
  const isText = TEXT_OPERATORS.includes(operator) && jsonType === 'string'
  return isText && typeof operand === 'string' && operand !== '' ? operand : invalid()
}

const readCondition = (field: Field, condition: unknown) =>
  Object.fromEntries(
    Object.entries(asObject(condition)).map(([operator, operand]) => [operator, readOperand(field, operator, operand)])
  )

/** Returns the filter of a request with stored values. */
export const readFilter = (fields: readonly Field[], filter: unknown): ModelFilter => {
  const { where = {}, ...lists } = asObject(filter)
  const conditions = Object.entries(asObject(where)).map(([name, condition]) => {
    const field = fields.find((candidate) => candidate.name === name) ?? invalid()
    return [name, readCondition(field, condition)]
  })
  const parts = Object.entries(lists).map(([name, list]) => [
    name,
    (list as readonly unknown[]).map((part) => readFilter(fields, part))
  ])
  return { where: Object.fromEntries(conditions), ...Object.fromEntries(parts) }
}

const toColumn = ({ name, sqliteType }: Field): ModelColumn => ({ name, affinity: sqliteType, collation: 'BINARY' })

export const isMatch = (fields: readonly Field[], { filter, q = '' }: Selection) => {
  const columns = new Map(fields.map((field) => [field.name, toColumn(field)]))
  const conditions = filter === undefined ? {} : readFilter(fields, filter)
  return (row: Row) =>
    matches(columns, conditions, row) &&
    (q === '' || fields.some((field) => isFound(q, field, row.get(field.name) ?? null)))
}

/** Returns the matching rows, in the order of the file. */
export const selectRows = (model: Model, table: Registered, viewer: Viewer, selection: Selection): readonly Row[] =>
  storedOf(model, table).rows.filter(isMatch(visibleFields(table, viewer), selection))

/** The key breaks ties. */
const totalOrder = (table: Registered, order: readonly OrderItem[]): readonly OrderItem[] => {
  const missing = table.key.filter((name) => order.every((item) => item.name !== name))
  return [...order, ...missing.map((name) => ({ name, isDescending: false }))]
}

/** Returns a comparison of rows, or of other values by name. */
export const comparison = (order: readonly OrderItem[]) => (a: ReadonlyMap<string, Stored>, b: typeof a) => {
  for (const { name, isDescending } of order) {
    const difference = compare(a.get(name) ?? null, b.get(name) ?? null)
    if (difference !== 0) return isDescending ? -difference : difference
  }
  return 0
}

const select = (model: Model, table: Registered, viewer: Viewer, query: Query): readonly Row[] => {
  const rows = selectRows(model, table, viewer, query)
  const fields = visibleFields(table, viewer)
  if (query.order.some(({ name }) => fields.every((field) => field.name !== name))) invalid()
  return rows.toSorted(comparison(totalOrder(table, query.order)))
}

/** Returns the requested fields and the key, in the order of the table. */
const project = (table: Registered, viewer: Viewer, { fields: names }: Query): readonly Field[] => {
  const fields = visibleFields(table, viewer)
  if (names?.some((name) => fields.every((field) => field.name !== name))) invalid()
  return names ? fields.filter(({ name, isPrimary }) => isPrimary || names.includes(name)) : fields
}

const limitOf = (model: Model, { size = 20 }: Query) => Math.min(size, model.maxPageSize)

const offsetOf = (model: Model, query: Query) => ((query.page ?? 1) - 1) * limitOf(model, query)

/** Returns the visible fields that a search goes through. */
const searchedFields = (table: Registered, viewer: Viewer, { q = '' }: Query) =>
  q === '' ? [] : visibleFields(table, viewer).filter((field) => isSearched(q, field))

/** Returns all that a cursor depends on besides the table. */
const describe = (table: Registered, viewer: Viewer, query: Query) => {
  const searched = searchedFields(table, viewer, query).map(({ name }) => name)
  return JSON.stringify([totalOrder(table, query.order), query.filter, query.q ?? '', searched])
}

/** Returns the cursor of a request, or undefined for the first page. */
const findCursor = (model: Model, table: Registered, viewer: Viewer, query: Query) => {
  if (!query.cursor) return undefined
  const known = model.cursors.find(({ text }) => text === query.cursor) ?? refuse(400, 'INVALID_CURSOR')
  const isSameQuery = known.tableId === table.id && known.selection === describe(table, viewer, query)
  return isSameQuery ? known : refuse(400, 'CURSOR_OF_OTHER_QUERY')
}

/** Returns the rows after a cursor. Those of a view without a key may be equal, so they are counted. */
const rowsAfter = (table: Registered, { order }: Query, rows: readonly Row[], cursor: Cursor | undefined) => {
  if (!cursor) return rows
  if (table.key.length === 0) return rows.slice(cursor.end)
  const compareRows = comparison(totalOrder(table, order))
  return rows.filter((row) => compareRows(row, cursor.position) > 0)
}

/** `returned` is the page in the response. Only the cursor is read from it. */
const pageOf = (model: Model, table: Registered, viewer: Viewer, query: Query, returned: Body | undefined) => {
  const rows = select(model, table, viewer, query)
  const fields = project(table, viewer, query)
  const cursor = findCursor(model, table, viewer, query)
  const rest = rowsAfter(table, query, rows, cursor).slice(offsetOf(model, query))
  const limit = limitOf(model, query)
  const page = rest.slice(0, limit)
  const next = rest.length > limit ? String(returned?.next) : null
  if (next !== null && query.cursor !== undefined) {
    const end = (cursor?.end ?? 0) + limit
    const selection = describe(table, viewer, query)
    model.cursors.push({ text: next, tableId: table.id, query, selection, position: new Map(page.at(-1)), end })
  }
  return { rows: page.map((row) => showRow(fields, row)), next, size: limit, total: rows.length }
}

export const listRecords = (
  model: Model,
  table: Registered,
  viewer: Viewer,
  query: Query,
  returned: Body | undefined
) => {
  storedOf(model, table)
  if (query.cursor !== undefined && query.page !== undefined) invalid()
  const { next, total, ...page } = pageOf(model, table, viewer, query, returned)
  const shown = { ...page, page: query.page ?? 1, total: query.total === false ? -1 : total }
  return query.cursor === undefined ? shown : { ...shown, next }
}

export const queryRecords = (
  model: Model,
  table: Registered,
  viewer: Viewer,
  query: Query,
  returned: Body | undefined
) => {
  storedOf(model, table)
  const { total, ...page } = pageOf(model, table, viewer, { cursor: '', ...query }, returned)
  return query.total ? { ...page, total } : page
}

export interface ExportOptions {
  readonly format: 'csv' | 'ndjson'
  readonly isEscaped: boolean
}

const windowOf = (model: Model, rows: readonly Row[], query: Query) => {
  if (query.page === undefined && query.size === undefined) return rows
  return rows.slice(offsetOf(model, query)).slice(0, limitOf(model, query))
}

/** Returns the lines of an export after parsing. */
export const exportRecords = (
  model: Model,
  table: Registered,
  viewer: Viewer,
  query: Query & ExportOptions
): readonly unknown[] => {
  const rows = windowOf(model, select(model, table, viewer, query), query)
  const fields = project(table, viewer, query)
  if (query.format === 'ndjson') return query.isEscaped ? invalid() : rows.map((row) => showRow(fields, row))
  const line = (row: Row) =>
    fields.map((field) => normalizeCell(field, toCell(field, row.get(field.name) ?? null, query.isEscaped)))
  return [fields.map(({ name }) => name), ...rows.map(line)]
}
