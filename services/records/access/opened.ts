import type { Column, RegisteredTable } from '../../model/table.ts'
import { allOf, type RowRule } from '../../sql/conditions.ts'
import type { Assignment } from '../../sql/records.ts'
import type { Limits } from './limits.ts'

/** What a caller can see and change of a table. */
export interface Opened {
  readonly visible: readonly Column[]
  /** The visible columns, and those that can only be set. */
  readonly accepted: readonly Column[]
  readonly writable: readonly Column[]
  /** null: all rows. */
  readonly rowRule: RowRule | null
  /** What each new record gets. */
  readonly presets: readonly Assignment[]
}

export const openColumns = (columns: readonly Column[]): Opened => ({
  visible: columns,
  accepted: columns,
  writable: columns.filter(({ isReadonly }) => !isReadonly),
  rowRule: null,
  presets: []
})

const isIn = (sets: readonly (ReadonlySet<Column> | null)[], column: Column) =>
  sets.every((columns) => columns === null || columns.has(column))

/** Rules of one grant for several actions are the same function. */
const joinRules = (rules: readonly RowRule[]): RowRule | null => {
  const [first, ...others] = [...new Set(rules)]
  if (!first) return null
  return others.length === 0 ? first : (table) => allOf([first, ...others].map((rule) => rule(table)))
}

/** Returns what the limits of several actions open together. */
export const openLimited = ({ structure }: RegisteredTable, limits: readonly Limits[]): Opened => {
  const shown = structure.columns.filter(({ isHidden }) => !isHidden)
  const presets = limits.flatMap((one) => one.presets)
  const visible = shown.filter((column) =>
    isIn(
      limits.map(({ readable }) => readable),
      column
    )
  )
  const writable = shown.filter(
    (column) =>
      !column.isReadonly &&
      isIn(
        limits.map((one) => one.writable),
        column
      ) &&
      !presets.some(([preset]) => preset === column)
  )
  const isListed = (column: Column) => limits.some((one) => one.writable?.has(column))
  return {
    visible,
    accepted: shown.filter((column) => visible.includes(column) || (writable.includes(column) && isListed(column))),
    writable,
    rowRule: joinRules(limits.flatMap(({ rows }) => rows ?? [])),
    presets
  }
}
