import { type Declared, selectDeclared, toDeclared } from '../../sql/declared.ts'
import { type Connection, openConnection } from '../shared/connection.ts'

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

/** Returns the rows of the schema, of which `copySchema` makes a copy. */
export const readDeclared = ({ rows }: Connection): readonly Declared[] =>
  rows(selectDeclared.sql, selectDeclared.params).map(toDeclared)

/**
 * Opens a database in memory that has these declarations and no rows. The declarations are stored as they are:
 * SQLite accepts some of another program that it would not create, such as texts in double quotes.
 */
export const copySchema = (declared: readonly Declared[]): Connection => {
  const copy = openConnection({ file: ':memory:', readonly: false, busyTimeout: 0, cacheSize: 16 })
  const { raw, run } = copy
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
