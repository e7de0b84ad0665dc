import { type Connection, openConnection } from '../shared/connection.ts'

/** A row of the schema. */
interface Declared {
  readonly type: string
  readonly name: string
  readonly tableName: string
  /** null for an index that SQLite made for a constraint. */
  readonly sql: string | null
  readonly hasPages: number
  readonly isWithoutRowid: number
}

const DECLARED = `SELECT s.type, s.name, s.tbl_name AS tableName, s.sql, s.rootpage > 0 AS hasPages,
    EXISTS (SELECT 1 FROM temp.pragma_table_list AS l WHERE l.schema = 'main' AND l.name = s.name AND l.wr) AS isWithoutRowid
  FROM main.sqlite_schema AS s ORDER BY s.rowid`

const UPDATE = 'UPDATE sqlite_schema SET type = ?, name = ?, tbl_name = ?, sql = ? WHERE name = ?'
const INSERT = 'INSERT INTO sqlite_schema (type, name, tbl_name, sql, rootpage) VALUES (?, ?, ?, ?, 0)'

const isVirtual = ({ sql }: Declared) => /^create virtual/i.test(sql ?? '')

/** Creates a virtual table with its shadow tables. A module that this SQLite does not have is left as it is declared. */
const createVirtual = ({ raw }: Connection, { sql }: Declared) => {
  try {
    raw.exec(String(sql))
  } catch {}
}

/** Creates an empty table or index under another name. */
const createEmpty = ({ raw }: Connection, { type, isWithoutRowid }: Declared, name: string) => {
  if (type === 'index') raw.exec(`CREATE INDEX ${name} ON _indexed (x)`)
  else raw.exec(`CREATE TABLE ${name} ${isWithoutRowid ? '(x PRIMARY KEY) WITHOUT ROWID' : '(x)'}`)
}

/**
 * Opens a database in memory that has the schema of the file and no rows. The declarations are stored as they are:
 * SQLite accepts some of another program that it would not create, such as texts in double quotes.
 */
export const copySchema = (source: Connection): Connection => {
  const copy = openConnection({ file: ':memory:', readonly: false, busyTimeout: 0, cacheSize: 16 })
  const { raw, run } = copy
  const declared = source.rows(DECLARED, []) as unknown as readonly Declared[]
  for (const row of declared.filter(isVirtual)) createVirtual(copy, row)
  const made = new Set(copy.rows('SELECT name FROM sqlite_schema', []).map(({ name }) => name))
  const missing = declared.filter(({ name }) => !made.has(name))
  // Allows changes of sqlite_schema.
  raw.unsafeMode(true)
  raw.exec('PRAGMA writable_schema = ON; BEGIN; CREATE TABLE _indexed (x)')
  for (const [index, row] of missing.entries()) if (row.hasPages) createEmpty(copy, row, `_empty_${index}`)
  for (const [index, { type, name, tableName, sql, hasPages }] of missing.entries()) {
    if (hasPages) run(UPDATE, [type, name, tableName, sql, `_empty_${index}`])
    else run(INSERT, [type, name, tableName, sql])
  }
  raw.exec("DELETE FROM sqlite_schema WHERE name = '_indexed'; COMMIT; PRAGMA writable_schema = RESET")
  return copy
}
