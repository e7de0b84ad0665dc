import { identifier } from '../../sql/identifiers.ts'
import type { Connection } from '../shared/connection.ts'

const OWN = "FROM sqlite_schema WHERE name LIKE '\\_rowhouse\\_%' ESCAPE '\\'"

/** Returns the declarations of our own tables and indexes by their names. */
export const ownObjects = (connection: Connection) =>
  new Map(connection.rows(`SELECT name, sql ${OWN} ORDER BY name`, []).map(({ name, sql }) => [String(name), sql]))

/** Without virtual tables, and without the tables of a search index, which no migration changes. */
const TABLES = `SELECT name FROM temp.pragma_table_list
  WHERE schema = 'main' AND type = 'table' AND name LIKE '\\_rowhouse\\_%' ESCAPE '\\'
  UNION ALL SELECT name FROM sqlite_schema WHERE name = 'sqlite_sequence'`

const copyRows = (source: Connection, copy: Connection, name: string) => {
  const table = identifier(name)
  const select = source.raw.prepare(`SELECT * FROM ${table}`).raw().safeIntegers()
  const places = select.columns().map(() => '?')
  const insert = copy.raw.prepare(`INSERT INTO ${table} VALUES (${places.join(', ')})`)
  for (const row of select.iterate()) insert.run(row)
}

/** Copies the rows of our own tables into a copy of the schema. */
export const copyOwnRows = (source: Connection, copy: Connection) => {
  copy.raw.pragma('foreign_keys = OFF')
  const names = source.rows(TABLES, []).map(({ name }) => String(name))
  for (const name of names) copyRows(source, copy, name)
  copy.raw.pragma('foreign_keys = ON')
}
