import { suggestName } from '../../../schemas/similar-names.ts'
import { excerpt, invalid } from '../../model/errors.ts'
import type { Column } from '../../model/table.ts'
import { allOf, type Condition, search } from '../../sql/conditions.ts'
import { type RowSelection, type Selection, totalOrder, type Window } from '../../sql/lists.ts'
import type { Projection, View } from '../access/view.ts'
import { type Readable, readExpansions } from './expansions.ts'
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
  /** The references to expand, as paths. They need `readable`. */
  readonly expand?: readonly string[]
  readonly readable?: Readable
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

/** Returns the condition of a filter and a search. null: all records. */
const conditionOf = (view: View, { filter, q = '' }: SelectionRequest): Condition | null => {
  const conditions = [
    ...(filter === undefined ? [] : [readFilter(view, filter)]),
    ...(q === '' ? [] : [search(view.table, [...view.columns.values()], q)])
  ]
  return conditions.length === 0 ? null : allOf(conditions)
}

/** Returns the rows of a request. An empty `q` counts as absent. @throws VALIDATION_FAILED */
export const rowsOf = (view: View, request: Omit<SelectionRequest, 'order'>): RowSelection => ({
  table: view.table,
  dialect: view.dialect,
  filter: conditionOf(view, request)
})

/** Returns the rows and the order of a request. An empty `order` counts as absent. @throws VALIDATION_FAILED */
export const selectionOf = (view: View, request: SelectionRequest): Selection => ({
  ...rowsOf(view, request),
  order: totalOrder(view.table, parseOrder(view, request.order))
})

/** Returns a visible column. @throws VALIDATION_FAILED with this path */
export const columnOf = ({ columns }: View, path: string, name: string): Column => {
  const column = columns.get(name)
  if (column) return column
  throw invalid(
    [{ path, code: 'unknown', message: `'${excerpt(name)}' is not a field of this table.` }],
    suggestName(name, columns.keys())
  )
}

/** Returns the columns of these fields and of the key, in the order of the table. @throws VALIDATION_FAILED */
const columnsOf = (view: View, fields: readonly string[]): readonly Column[] => {
  const requested = fields.map((name, index) => columnOf(view, `/fields/${index}`, name).name)
  const names = new Set([...requested, ...view.table.structure.key])
  return [...view.columns.values()].filter(({ name }) => names.has(name))
}

/**
 * Returns the part of the view with the requested fields, the key and the requested expansions.
 * @throws VALIDATION_FAILED, ACTION_NOT_ALLOWED
 */
export const projectionOf = (view: View, { fields, expand, readable }: ProjectionRequest): Projection => {
  const expansions = expand && readable ? readExpansions(view, expand, readable) : []
  if (fields === undefined && expansions.length === 0) return view.all
  return view.project(fields === undefined ? view.all.columns : columnsOf(view, fields), expansions)
}

/** Returns the limit and offset of a page. A `size` above the maximum is reduced to it. */
export const windowOf = ({ page = 1, size = DEFAULT_PAGE_SIZE }: WindowRequest, maxPageSize: number): Window => {
  const limit = Math.min(size, maxPageSize)
  return { limit, offset: (page - 1) * limit }
}
