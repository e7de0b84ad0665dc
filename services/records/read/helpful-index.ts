import type { OrderItem, RowSelection } from '../../sql/selections.ts'

/** An aggregate has no order. */
export interface IndexedSelection extends Pick<RowSelection, 'table' | 'filter'> {
  readonly order?: readonly OrderItem[]
}

/** An index serves an order of fields of the table in one direction. */
const isIndexable = (order: readonly OrderItem[]) =>
  order.every(({ descending, alias }) => descending === order[0]?.descending && alias === undefined)

/**
 * Returns the fields of an index that would find or sort the rows of a selection. null: none would, or the table has one
 * that begins with the same field.
 */
export const helpfulIndex = ({ table, filter, order = [] }: IndexedSelection): readonly string[] | null => {
  const { isView, columns, rowid } = table.structure
  if (isView) return null
  const comparisons = filter?.comparisons ?? []
  const equal = comparisons.filter(({ operator }) => operator === '=')
  const range = comparisons.find(({ operator }) => operator !== '=')
  const sorted = isIndexable(order) ? order.map(({ name }) => name) : []
  const names = new Set([...equal.map(({ column }) => column), ...(range ? [range.column] : sorted)])
  const fields = [...names].filter((name) => name !== rowid)
  const first = columns.find(({ name }) => name === fields[0])
  return first === undefined || first.isIndexed ? null : fields
}
