import type { SqlValue } from '../model/sql-value.ts'
import type { Structure } from '../model/table.ts'
import { columnRef, identifier } from './identifiers.ts'
import { STABLE_PARAM } from './selections.ts'
import type { Statement } from './statement.ts'
import { joinTerms } from './terms.ts'

/** Rows of a table that a change affects in one way: it deletes them, or it updates the same columns of all of them. */
export interface AffectedRows {
  readonly table: string
  /** The columns that identify a row: the rowid, or the key. */
  readonly identity: readonly string[]
  /** The columns whose bytes are counted. */
  readonly columns: readonly string[]
}

/** A foreign key whose action affects rows of a child when rows of the parent are affected. Both are positions. */
export interface Reaction {
  readonly parent: number
  readonly child: number
  readonly fields: readonly string[]
  readonly targetFields: readonly string[]
}

interface Affected {
  /** The first are the rows that the statement itself changes. */
  readonly rows: readonly [AffectedRows, ...AffectedRows[]]
  readonly reactions: readonly Reaction[]
}

interface AffectedSelection {
  /** The condition of the rows that the statement itself changes. */
  readonly where: string
  readonly params: readonly SqlValue[]
  /** Maximum number of these rows. */
  readonly maxChanged: number
  /** Maximum number of all rows. */
  readonly max: number
  /** A condition that is true for every row. */
  readonly guard: string
}

/** The prefix is reserved, so the name hides no served table. */
const AFFECTED = '_rowhouse_affected'
const PARENT = '_rowhouse_parent'
const CHILD = '_rowhouse_child'

const keyRef = (position: number) => columnRef(AFFECTED, `k${position}`)

const hasIdentity = (table: string, identity: readonly string[]) =>
  identity.map((name, position) => `${columnRef(table, name)} = ${keyRef(position)}`)

/** An expression for the bytes of these columns. SQLite reads no value for it: their lengths are at the start of the row. */
const bytesOf = (table: string, columns: readonly string[]) =>
  joinTerms(['0', ...columns.map((name) => `ifnull(octet_length(${columnRef(table, name)}), 0)`)], '+')

/** Rows of a sample, at each end of the table. */
const SAMPLED_ROWS = 50n

/** Selects the `bytes` of the largest of the first rows, and of the last ones if the table has a rowid. */
export const selectLargest = (table: string, { rowid, columns }: Pick<Structure, 'rowid' | 'columns'>): Statement => {
  const stored = columns.flatMap(({ name, isGenerated }) => (isGenerated ? [] : [name]))
  const end = (order: string) =>
    `SELECT * FROM (SELECT ${bytesOf(table, stored)} AS bytes FROM ${identifier(table)}${order} LIMIT ?)`
  // SQLite may have to sort the whole table by a key.
  const ends = rowid === null ? [''] : ['', ` ORDER BY ${columnRef(table, rowid)} DESC`]
  return {
    sql: `SELECT max(bytes) AS bytes FROM (${ends.map(end).join(' UNION ALL ')})`,
    params: ends.map(() => SAMPLED_ROWS)
  }
}

/**
 * Selects the number of `rows` that a change affects, and their `bytes`, for each position of `rows`. Follows the actions
 * of foreign keys as SQLite will, also in cycles.
 */
export const selectAffected = ({ rows, reactions }: Affected, selection: AffectedSelection): Statement => {
  const { where, params, maxChanged, max, guard } = selection
  const width = Math.max(...rows.map(({ identity }) => identity.length))
  const keyOf = (alias: string, { identity }: AffectedRows) =>
    Array.from({ length: width }, (_, position) => {
      const name = identity[position]
      return name === undefined ? 'NULL' : columnRef(alias, name)
    }).join(', ')
  const [changed] = rows
  const first = `SELECT * FROM (SELECT 0, ${keyOf(changed.table, changed)} FROM ${identifier(changed.table)}
    WHERE ${guard} AND (${where}) LIMIT ?)`
  const others = reactions.map(({ parent, child, fields, targetFields }) => {
    const from = rows[parent] as AffectedRows
    const to = rows[child] as AffectedRows
    // The parent is on the left: a foreign key compares with its collation.
    const isChild = fields.map(
      (name, index) => `${columnRef(PARENT, String(targetFields[index]))} = ${columnRef(CHILD, name)}`
    )
    const conditions = [
      `${columnRef(AFFECTED, 'position')} = ${parent}`,
      ...hasIdentity(PARENT, from.identity),
      ...isChild
    ]
    return `SELECT ${child}, ${keyOf(CHILD, to)} FROM ${identifier(AFFECTED)}
      CROSS JOIN ${identifier(from.table)} AS ${identifier(PARENT)} CROSS JOIN ${identifier(to.table)} AS ${identifier(CHILD)}
      WHERE ${guard} AND ${conditions.join(' AND ')}`
  })
  const bytes = rows.map(({ table, identity, columns }, position) => {
    return `WHEN ${position} THEN (SELECT ${bytesOf(table, columns)} FROM ${identifier(table)} WHERE ${hasIdentity(table, identity).join(' AND ')})`
  })
  const keys = Array.from({ length: width }, (_, position) => identifier(`k${position}`)).join(', ')
  return {
    sql: `WITH RECURSIVE ${identifier(AFFECTED)} ("position", ${keys}) AS (${[first, ...others].join(' UNION ')} LIMIT ?)
      SELECT "position", count(*) AS rows, sum(CASE "position" ${bytes.join(' ')} END) AS bytes
      FROM ${identifier(AFFECTED)} GROUP BY "position"`,
    params: [...params, BigInt(maxChanged), BigInt(max)]
  }
}

/** Selects the number of `rows` in a range of a table, and the `bytes` of `width` in them, up to a maximum of rows. */
export const selectRange = (
  table: string,
  { where, params, width }: { readonly where: string; readonly params: readonly SqlValue[]; readonly width: string },
  max: number,
  guard: string
): Statement => ({
  sql: `SELECT count(*) AS rows, coalesce(sum(width), 0) AS bytes FROM (
    SELECT ${width} AS width FROM ${identifier(table)} WHERE ${guard} AND ${where} LIMIT ${STABLE_PARAM})`,
  params: [...params, BigInt(max)]
})
