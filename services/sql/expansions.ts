import { columnRef, identifier } from './identifiers.ts'
import type { Expansion } from './record-shape.ts'

/** Aliases begin with the reserved prefix, so they hide no served table. The planner recognizes them. */
export const ALIAS_PREFIX = '_rowhouse_expand'

/** Returns the alias of an expanded table: `_rowhouse_expand_0`, or `_rowhouse_expand_0_1` for one of its own references. */
export const aliasOf = (parent: string, index: number) =>
  parent.startsWith(ALIAS_PREFIX) ? `${parent}_${index}` : `${ALIAS_PREFIX}_${index}`

/**
 * Returns a subquery for an expression over the record to which a row of `parent` refers; NULL where there is none. Binds the
 * values of the expression, then those of the rule.
 * `+` removes the affinity of the field, so that SQLite converts its value to the type of the target, as a foreign key
 * does. A number would otherwise be compared with each text of the target, which no index serves.
 */
export const selectExpanded = (
  { column, table, alias, targetField, rule }: Expansion,
  parent: string,
  expression: string
) => {
  const isSeen = rule === null ? '' : ` AND ${rule}`
  return `(SELECT ${expression} FROM ${identifier(table)} AS ${identifier(alias)} WHERE ${columnRef(alias, targetField)} = +${columnRef(parent, column)}${isSeen})`
}
