import type { Column } from '../../model/table.ts'
import { allOf, type Condition, search } from '../../sql/conditions.ts'
import type { Window } from '../../sql/page-ranges.ts'
import { bindRecord, type RecordText } from '../../sql/record-text.ts'
import { type RowSelection, type Selection, totalOrder } from '../../sql/selections.ts'
import type { Access, Projection } from '../access/access.ts'
import type { ReadableTables } from '../access/readable.ts'
import { columnOf, withKey } from './columns.ts'
import { NO_EXPANSIONS, readExpansions } from './expansions.ts'
import { readFilter } from './filter.ts'
import { createJoins, type Joins } from './joins.ts'
import { parseOrder } from './order.ts'

const DEFAULT_PAGE_SIZE = 20

/** Which records a client requests, and in which order. */
export interface SelectionRequest {
  readonly filter?: unknown
  readonly q?: string
  readonly order?: string
}

/** Which part of the records a client requests. */
export interface ProjectionRequest {
  readonly fields?: readonly string[]
  /** The references to expand, as paths. */
  readonly expand?: readonly string[]
}

export interface WindowRequest {
  readonly page?: number
  readonly size?: number
}

/** A page that a client requests, from a query string or a body. */
export interface ListRequest extends SelectionRequest, WindowRequest, ProjectionRequest {
  /** '' begins with the first page. */
  readonly cursor?: string
  readonly total?: boolean
}

/** A loop over the pages can begin with null, which is `next` of a last page. */
export interface QueryRequest extends Omit<ListRequest, 'cursor'> {
  readonly cursor?: string | null
}

/** Returns the condition of a filter and a search, for the rows of the access. null: all records. */
const conditionOf = (access: Access, { filter, q = '' }: SelectionRequest, joins: Joins): Condition | null => {
  const conditions = [
    ...(access.rows ? [access.rows] : []),
    ...(filter === undefined ? [] : [readFilter(access, filter, joins.joinField)]),
    ...(q === '' ? [] : [search(access.table, [...access.columns.values()], q)])
  ]
  return conditions.length === 0 ? null : allOf(conditions)
}

/** Returns the rows of a request, which may name fields of records of `readable` tables. @throws as `selectionOf` */
export const rowSelectionOf = (
  access: Access,
  request: Omit<SelectionRequest, 'order'>,
  readable: ReadableTables
): RowSelection => {
  const { table, dialect, rows } = access
  const joins = createJoins(access, readable)
  return { table, dialect, rows, filter: conditionOf(access, request, joins), joins: joins.joins }
}

/**
 * Returns the rows and the order of a request, which may name fields of records of `readable` tables. Empty `q` and `order`
 * count as absent.
 * @throws VALIDATION_FAILED, ACTION_NOT_ALLOWED
 */
export const selectionOf = (access: Access, request: SelectionRequest, readable: ReadableTables): Selection => {
  const { table, dialect, rows } = access
  const joins = createJoins(access, readable)
  const filter = conditionOf(access, request, joins)
  const order = totalOrder(table, parseOrder(access, request.order, joins))
  return { table, dialect, rows, filter, order, joins: joins.joins }
}

/** What a response shows of each record, with the values of one request. */
export interface BoundProjection {
  readonly projection: Projection
  /** The JSON text of a record. */
  readonly record: RecordText
}

/** @throws VALIDATION_FAILED */
const columnsOf = (access: Access, fields: readonly string[]): readonly Column[] =>
  withKey(access, new Set(fields.map((name, index) => columnOf(access, `/fields/${index}`, name).name)))

/**
 * Returns the projection of the requested fields, the key and the requested expansions, of tables that are `readable`.
 * @throws VALIDATION_FAILED, ACTION_NOT_ALLOWED
 */
export const projectionOf = (
  access: Access,
  { fields, expand }: ProjectionRequest,
  readable: ReadableTables
): BoundProjection => {
  const { expansions, params } = expand ? readExpansions(access, expand, readable) : NO_EXPANSIONS
  const columns = fields === undefined ? access.all.columns : columnsOf(access, fields)
  const isWhole = fields === undefined && expansions.length === 0
  const projection = isWhole ? access.all : access.project(columns, expansions)
  return { projection, record: bindRecord(projection.json, params) }
}

/** Returns the limit and offset of a page. A `size` above the maximum is reduced to it. */
export const windowOf = ({ page = 1, size = DEFAULT_PAGE_SIZE }: WindowRequest, maxPageSize: number): Window => {
  const limit = Math.min(size, maxPageSize)
  return { limit, offset: (page - 1) * limit }
}
