import type { ListQuery } from '../../schemas/record.ts'
import { type Selection, search, totalOrder, type Window } from '../sql/lists.ts'
import { parseOrder } from './order.ts'
import type { View } from './view.ts'

const DEFAULT_PAGE_SIZE = 20

/** Which rows a query asks for, in which order. Empty `q` and `order` count as absent. @throws VALIDATION_FAILED */
export const selectionOf = (view: View, { order, q = '' }: ListQuery): Selection => ({
  table: view.table,
  order: totalOrder(view.table, parseOrder(view, order)),
  filter: q === '' ? null : search([...view.columns.values()], q)
})

/** Which part of a selection a page is. A larger `size` than the largest is cut to it. */
export const windowOf = ({ page = 1, size = DEFAULT_PAGE_SIZE }: ListQuery, maxPageSize: number): Window => {
  const limit = Math.min(size, maxPageSize)
  return { limit, offset: (page - 1) * limit }
}
