import { kindOf } from '../../model/kinds/kind-of.ts'
import { foldName } from '../../model/names.ts'
import type { Column, RegisteredTable, Registration, Structure } from '../../model/table.ts'

/** Finds a registration by its name, ignoring case. */
type Find = (name: string) => Registration | undefined

/** The stored column that a field of a view shows. */
interface Shown {
  readonly column: Column
  readonly isExact: boolean
}

/** Returns the stored column of a registered table that a column of a view shows. It must have the same kind. */
const shownBy = ({ sources }: Structure, column: Column, find: Find): Shown | undefined => {
  const origin = sources?.origins.find(({ name }) => name === foldName(column.name))?.origin
  const table = origin ? find(origin.table) : undefined
  const shown = table?.structure?.columns.find(({ name }) => foldName(name) === origin?.column)
  if (!table?.structure || !shown || kindOf(shown) !== kindOf(column) || shown.jsonType !== column.jsonType)
    return undefined
  return { column: shown, isExact: table.exactFields.has(shown.name) }
}

/**
 * Returns an SQL view whose fields have the exactness and the format of dates of the stored columns that they show. A row
 * can have null in them, because a join may find no record.
 */
export const withShownTypes = (view: RegisteredTable, find: Find): RegisteredTable => {
  const { structure } = view
  if (!structure.isView) return view
  const shown = structure.columns.map((column) => shownBy(structure, column, find))
  const columns = structure.columns.map((column, index) => {
    const dateFormat = shown[index]?.column.dateFormat
    return dateFormat ? { ...column, dateFormat } : column
  })
  const exact = columns.filter((_, index) => shown[index]?.isExact)
  return { ...view, structure: { ...structure, columns }, exactFields: new Set(exact.map(({ name }) => name)) }
}
