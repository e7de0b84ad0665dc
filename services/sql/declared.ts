import type { Row } from '../model/sql-value.ts'
import { type Statement, statement } from './statement.ts'

/** A row of the schema. */
export interface Declared {
  readonly type: string
  readonly name: string
  readonly tableName: string
  /** null for an index that SQLite made for a constraint. */
  readonly sql: string | null
  readonly hasPages: boolean
  readonly isWithoutRowid: boolean
}

/** Selects the rows of the schema, in the order of their creation. */
export const selectDeclared: Statement = statement(
  `SELECT s.type, s.name, s.tbl_name AS tableName, s.sql, s.rootpage > 0 AS hasPages,
    EXISTS (SELECT 1 FROM temp.pragma_table_list AS l WHERE l.schema = 'main' AND l.name = s.name AND l.wr) AS isWithoutRowid
  FROM main.sqlite_schema AS s ORDER BY s.rowid`
)

const textOrNull = (value: unknown) => (value === null ? null : String(value))

export const toDeclared = (row: Row): Declared => ({
  type: String(row.type),
  name: String(row.name),
  tableName: String(row.tableName),
  sql: textOrNull(row.sql),
  hasPages: row.hasPages === 1,
  isWithoutRowid: row.isWithoutRowid === 1
})
