import { columnRef, identifier } from './identifiers.ts'
import type { RecordShape } from './record-shape.ts'

/** A record to add to each record that refers to it. */
export interface Expansion {
  /** The column that refers. */
  readonly column: string
  readonly table: string
  /** The unique column that it refers to. */
  readonly targetField: string
  /** What the added record shows. */
  readonly shape: RecordShape
  readonly expansions: readonly Expansion[]
}

/** Aliases begin with the reserved prefix, so they hide no served table. The planner recognizes them. */
export const ALIAS_PREFIX = '_rowhouse_expand'

/** The expansion as the child of the table or alias `parent`. */
export const aliasOf = (parent: string, index: number) =>
  parent.startsWith(ALIAS_PREFIX) ? `${parent}_${index}` : `${ALIAS_PREFIX}_${index}`

/** Returns a subquery for an expression over the record to which a row of `parent` refers; NULL where there is none. */
export const selectExpanded = (
  { column, table, targetField }: Expansion,
  parent: string,
  alias: string,
  expression: string
) =>
  `(SELECT ${expression} FROM ${identifier(table)} AS ${identifier(alias)} WHERE ${columnRef(alias, targetField)} = ${columnRef(parent, column)})`
