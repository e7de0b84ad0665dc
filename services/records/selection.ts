import type { ListQuery } from '../../schemas/record.ts'
import { type Selection, search, totalOrder, type Window } from '../sql/lists.ts'
import { parseOrder } from './order.ts'
import type { View } from './view.ts'

const DEFAULT_PAGE_SIZE = 20

/** Returns the filter and the order of a query. An empty `q` or `order` counts as absent. @throws VALIDATION_FAILED */
export const selectionOf = (view: View, { order, q = '' }: ListQuery): Selection => ({
  table: view.table,
  dialect: view.dialect,
  order: totalOrder(view.table, parseOrder(view, order)),
  filter: q === '' ? null : search(view.table, [...view.columns.values()], q)
})

/** Returns the limit and offset of a page. A `size` above the maximum is reduced to it. */
export const windowOf = ({ page = 1, size = DEFAULT_PAGE_SIZE }: ListQuery, maxPageSize: number): Window => {
  const limit = Math.min(size, maxPageSize)
  return { limit, offset: (page - 1) * limit }
}
