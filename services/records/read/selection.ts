import { suggestName } from '../../../schemas/similar-names.ts'
import { excerpt, invalid } from '../../model/errors.ts'
import type { Column } from '../../model/table.ts'
import { allOf, type Condition, search } from '../../sql/conditions.ts'
import type { Window } from '../../sql/page-ranges.ts'
import { type RowSelection, type Selection, totalOrder } from '../../sql/selections.ts'
import type { Access, Projection } from '../access/access.ts'
import type { ReadableTables } from '../access/readable.ts'
import { readExpansions } from './expansions.ts'
import { readFilter } from './filter.ts'
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

/** Returns the condition of a filter and a search, for the rows of the access. null: all records. */
const conditionOf = (access: Access, { filter, q = '' }: SelectionRequest): Condition | null => {
  const conditions = [
    ...(access.rows ? [access.rows] : []),
    ...(filter === undefined ? [] : [readFilter(access, filter)]),
    ...(q === '' ? [] : [search(access.table, [...access.columns.values()], q)])
  ]
  return conditions.length === 0 ? null : allOf(conditions)
}

/** Returns the rows of a request. An empty `q` counts as absent. @throws VALIDATION_FAILED */
export const rowSelectionOf = (access: Access, request: Omit<SelectionRequest, 'order'>): RowSelection => {
  const { table, dialect, rows } = access
  return { table, dialect, rows, filter: conditionOf(access, request) }
}

/** Returns the rows and the order of a request. An empty `order` counts as absent. @throws VALIDATION_FAILED */
export const selectionOf = (access: Access, request: SelectionRequest): Selection => ({
  ...rowSelectionOf(access, request),
  order: totalOrder(access.table, parseOrder(access, request.order))
})

/** Returns a visible column. @throws VALIDATION_FAILED with this path */
export const columnOf = ({ columns }: Access, path: string, name: string): Column => {
  const column = columns.get(name)
  if (column) return column
  throw invalid(
    [{ path, code: 'unknown', message: `'${excerpt(name)}' is not a field of this table.` }],
    suggestName(name, columns.keys())
  )
}

/** Returns the columns of these fields and of the key, in the order of the table. @throws VALIDATION_FAILED */
const columnsOf = (access: Access, fields: readonly string[]): readonly Column[] => {
  const requested = fields.map((name, index) => columnOf(access, `/fields/${index}`, name).name)
  const names = new Set([...requested, ...access.table.structure.key])
  return [...access.columns.values()].filter(({ name }) => names.has(name))
}

/**
 * Returns the projection of the requested fields, the key and the requested expansions, of tables that are `readable`.
 * @throws VALIDATION_FAILED, ACTION_NOT_ALLOWED
 */
export const projectionOf = (
  access: Access,
  { fields, expand }: ProjectionRequest,
  readable: ReadableTables
): Projection => {
  const expansions = expand ? readExpansions(access, expand, readable) : []
  if (fields === undefined && expansions.length === 0) return access.all
  return access.project(fields === undefined ? access.all.columns : columnsOf(access, fields), expansions)
}

/** Returns the limit and offset of a page. A `size` above the maximum is reduced to it. */
export const windowOf = ({ page = 1, size = DEFAULT_PAGE_SIZE }: WindowRequest, maxPageSize: number): Window => {
  const limit = Math.min(size, maxPageSize)
  return { limit, offset: (page - 1) * limit }
}
