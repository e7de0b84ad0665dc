import type { SqlValue } from '../model/sql-value.ts'
import type { Condition, RowRule } from './conditions.ts'
import { columnRef, identifier } from './identifiers.ts'

/** A record to which each selected row refers, for conditions on its fields. Its values are NULL if there is none. */
export interface Join {
  readonly alias: string
  readonly table: string
  /** The unique field that identifies the record. */
  readonly field: string
  /** The name or the alias of the table whose column refers to it. */
  readonly parent: string
  readonly column: string
  /** Records outside of it count as missing. null: all records. */
  readonly rowRule: RowRule | null
}

/** The prefix is reserved, so the alias hides no served table. */
export const joinAlias = (position: number) => `_rowhouse_join_${position}`

const ruleOf = ({ rowRule, alias }: Join): Condition | undefined => rowRule?.({ name: alias })

/** `+` removes the affinity of the field: see `selectExpanded`. At most one record has the value, so no row repeats. */
const joinClause = (join: Join) => {
  const { alias, table, field, parent, column } = join
  const rule = ruleOf(join)
  const isSame = `${columnRef(alias, field)} = +${columnRef(parent, column)}`
  return `LEFT JOIN ${identifier(table)} AS ${identifier(alias)} ON ${isSame}${rule ? ` AND ${rule.sql}` : ''}`
}

/** Returns the FROM clause of a table with the joined records. */
export const fromClause = (table: string, joins: readonly Join[]) =>
  ['FROM', identifier(table), ...joins.map(joinClause)].join(' ')

/** The parameters of `fromClause`. */
export const joinParams = (joins: readonly Join[]): readonly SqlValue[] =>
  joins.flatMap((join) => ruleOf(join)?.params ?? [])
