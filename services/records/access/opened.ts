import type { TableAction } from '../../model/actions.ts'
import type { KeyRole } from '../../model/caller.ts'
import type { Column, RegisteredTable } from '../../model/table.ts'
import { shownColumns } from '../../model/visible-fields.ts'
import { allOf, type RowRule } from '../../sql/conditions.ts'
import type { Assignment } from '../../sql/records.ts'

/** What a grant opens in a table, for the claims of one key. */
export interface OpenGrant {
  /** null: all rows. */
  readonly rows: RowRule | null
  /** The columns that exist for the key. null: all. */
  readonly readable: ReadonlySet<Column> | null
  /** The columns that the key can set. null: all. */
  readonly writable: ReadonlySet<Column> | null
  /** What each new record gets. */
  readonly presets: readonly Assignment[]
  /** The tables that the rule reads, as they were. If one of them changes, the grant is compiled again. */
  readonly parents: readonly RegisteredTable[]
}

/** Returns what the role of a key opens for an action on a table. null: nothing. */
export type FindOpenGrant = (key: KeyRole, action: TableAction, table: RegisteredTable) => OpenGrant | null

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
  /** Whether a change may be compared with the stored record. */
  readonly mayCompare: boolean
}

export const openColumns = (columns: readonly Column[]): Opened => ({
  visible: columns,
  accepted: columns,
  writable: columns.filter(({ isReadonly }) => !isReadonly),
  rowRule: null,
  presets: [],
  mayCompare: true
})

const isIn = (sets: readonly (ReadonlySet<Column> | null)[], column: Column) =>
  sets.every((columns) => columns === null || columns.has(column))

/** Rules of one grant for several actions are the same function. */
const joinRules = (rules: readonly RowRule[]): RowRule | null => {
  const [first, ...others] = [...new Set(rules)]
  if (!first) return null
  return others.length === 0 ? first : (table) => allOf([first, ...others].map((rule) => rule(table)))
}

/**
 * Returns what the grants of several actions open together. `reading`: that of reading, which decides what the key sees; null
 * if it cannot read.
 */
export const openGrants = (table: RegisteredTable, grants: readonly OpenGrant[], reading: OpenGrant | null): Opened => {
  const shown = shownColumns(table)
  const presets = [...new Set(grants)].flatMap((one) => one.presets)
  const readable = (reading ? [reading] : grants).map((one) => one.readable)
  const settable = grants.map((one) => one.writable)
  const visible = new Set(shown.filter((column) => isIn(readable, column)))
  const isPreset = (column: Column) => presets.some(([preset]) => preset === column)
  // A field that the token cannot read can be set only if a grant lists it.
  const isKnown = (column: Column) => visible.has(column) || grants.some((one) => one.writable?.has(column))
  const writable = new Set(
    shown.filter((column) => !column.isReadonly && isIn(settable, column) && isKnown(column) && !isPreset(column))
  )
  return {
    visible: [...visible],
    accepted: shown.filter((column) => visible.has(column) || writable.has(column)),
    writable: [...writable],
    rowRule: joinRules(grants.flatMap(({ rows }) => rows ?? [])),
    presets,
    mayCompare: reading !== null && (reading.rows === null || grants.some(({ rows }) => rows === reading.rows))
  }
}
