import type { OrderItem, RowSelection } from '../sql/lists.ts'

/** An aggregate has no order. */
export type IndexedSelection = RowSelection & { readonly order?: readonly OrderItem[] }

/** An index serves an order in one direction. */
const isOneDirection = ([first, ...others]: readonly OrderItem[]) =>
  others.every(({ descending }) => descending === first?.descending)

/** Returns the fields of an index that finds the rows of a selection, in its sequence. null: no index does. */
export const helpfulIndex = ({ table, filter, order = [] }: IndexedSelection): readonly string[] | null => {
  const { isView, key, rowid } = table.structure
  const comparisons = filter?.comparisons ?? []
  const equal = comparisons.filter(({ operator }) => operator === '=')
  const range = comparisons.find(({ operator }) => operator !== '=')
  const sorted = isOneDirection(order) ? order.map(({ name }) => name) : []
  const names = new Set([...equal.map(({ column }) => column), ...(range ? [range.column] : sorted)])
  const fields = [...names].filter((name) => !key.includes(name) && name !== rowid)
  return isView || fields.length === 0 ? null : fields
}
