import { foldName } from '../model/names.ts'
import type { Column, Structure } from '../model/table.ts'
import type { Dialect } from './dialect.ts'
import { columnRef, identifier } from './identifiers.ts'
import type { Statement } from './statement.ts'

/** Returns the structure of an SQL view with the columns of its key, which SQLite does not know. */
export const withViewKey = (structure: Structure, key: readonly string[]): Structure => {
  const names = new Set(key.map(foldName))
  const isPrimary = ({ name }: Column) => names.has(foldName(name))
  return {
    ...structure,
    columns: structure.columns.map((column) => ({ ...column, isPrimary: isPrimary(column) })),
    key
  }
}

/** Maximum number of characters, or of bytes of a BLOB, of a value in a message. */
const MAX_SHOWN = 100

/**
 * Selects one group of rows that no key distinguishes: their number as `count`, and the values as SQL literals of text,
 * `v0`, `v1`, …. A row with a null is such a group, too. Texts are compared by the collation of the column, as in the order
 * of pages.
 */
export const findUnusableKey = (view: string, key: readonly string[], dialect: Dialect): Statement => {
  const columns = key.map((name) => columnRef(view, name))
  const values = columns.map((column, index) => `quote(substr(${column}, 1, ${MAX_SHOWN})) AS v${index}`)
  const isNull = columns.map((column) => `${column} IS NULL`).join(' OR ')
  return {
    sql: `SELECT count(*) AS count, ${values.join(', ')} FROM ${identifier(view)} WHERE ${dialect.scanGuard(null)}
      GROUP BY ${columns.join(', ')} HAVING count(*) > 1 OR ${isNull} LIMIT 1`,
    params: []
  }
}
