import type { Row } from '../../model/sql-value.ts'
import type { Declared } from '../../sql/declared.ts'
import { identifier } from '../../sql/identifiers.ts'
import { describeView, viewSources } from '../../sql/view-sources.ts'
import type { Connection } from '../shared/connection.ts'
import { copySchema } from './schema-copy.ts'

/** The instructions that open a table or an index: https://sqlite.org/opcode.html */
const OPENING = new Set(['OpenRead', 'ReopenIdx'])

const INDEXED = "SELECT tbl_name, rootpage FROM sqlite_schema WHERE type IN ('table', 'index') AND rootpage > 0"
const DECLARATIONS = "SELECT name, type, rootpage, sql FROM sqlite_schema WHERE type IN ('table', 'view')"

/** Returns the names of the tables that a statement reads. */
const tablesReadBy = ({ raw, rows }: Connection, sql: string): readonly string[] => {
  // Not cached: SQLite does not compile an EXPLAIN statement again when the schema has changed.
  const program = raw.prepare<unknown[], { opcode: string; p2: number }>(`EXPLAIN ${sql}`).all()
  const pages = new Set(program.filter(({ opcode }) => OPENING.has(opcode)).map(({ p2 }) => p2))
  return rows(INDEXED, []).flatMap((row) => (pages.has(Number(row.rootpage)) ? [String(row.tbl_name)] : []))
}

const describe = (connection: Connection, name: string): Row => {
  // First: a statement is prepared by the schema that the last read has found.
  const declarations = connection.rows(DECLARATIONS, [])
  const select = `SELECT * FROM ${identifier(name)}`
  const columns = connection.raw.prepare(select).columns()
  const sources = viewSources({
    name,
    columns: columns.map(({ name, table, column }) => ({
      name,
      origin: table === null || column === null ? null : { table, column }
    })),
    opened: tablesReadBy(connection, select),
    declarations
  })
  const { sql, params } = describeView(name)
  return { ...connection.rows(sql, params)[0], sources: JSON.stringify(sources) }
}

/** Describes an SQL view, and what it reads, in one snapshot. Prepares it, which fails with SQLite's reason. Does not run it. */
export const describePreparedView = (connection: Connection, name: string): Row =>
  connection.raw.transaction(() => describe(connection, name))()

/** Describes an SQL view of these declarations as `describePreparedView` does, on a copy of the schema. */
export const describeDeclaredView = (declared: readonly Declared[], name: string): Row => {
  const copy = copySchema(declared)
  try {
    return describePreparedView(copy, name)
  } finally {
    copy.close()
  }
}
