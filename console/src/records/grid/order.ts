import type { SortColumn } from 'react-data-grid'

/** The columns of `order` of the URL, such as `-price,name`. */
export const toSortColumns = (order: string): readonly SortColumn[] =>
  order
    .split(',')
    .filter((part) => part !== '')
    .map((part) => ({ columnKey: part.replace(/^-/, ''), direction: part.startsWith('-') ? 'DESC' : 'ASC' }))

export const toOrder = (columns: readonly SortColumn[]) =>
  columns.map(({ columnKey, direction }) => (direction === 'DESC' ? `-${columnKey}` : columnKey)).join(',')

/** What a click with Shift does: it changes the column that the click alone would sort by, and keeps the others. */
export const addSort = (present: readonly SortColumn[], clicked: readonly SortColumn[]): readonly SortColumn[] => {
  const [next] = clicked
  if (!next) return present
  const isKnown = present.some(({ columnKey }) => columnKey === next.columnKey)
  if (!isKnown) return [...present, next]
  return present.map((column) => (column.columnKey === next.columnKey ? next : column))
}
