import BetterSqlite3 from 'better-sqlite3'
import type { Table } from '../schemas/table.ts'

/** A value as SQLite stores it. Integers are bigint, so that none is rounded. */
export type Stored = null | bigint | number | string | Buffer
export type StoredRow = readonly Stored[]

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`

const keysOf = ({ fields, primaryKey }: Table) =>
  fields
    .filter(({ isPrimary }) => isPrimary)
    .map(({ name }) => name)
    .sort((a, b) => primaryKey.indexOf(a) - primaryKey.indexOf(b))

/** Reads and changes a file with plain SQL, independent of the SQL of the service, as the reference in comparisons. */
export const openOracle = (file: string) => {
  const db = new BetterSqlite3(file)
  db.pragma('foreign_keys = ON')
  db.defaultSafeIntegers()

  const names = (type: 'table' | 'view') =>
    db
      .prepare('SELECT name FROM sqlite_schema WHERE type = ? ORDER BY name')
      .pluck()
      .all(type)
      .map(String)
      .filter((name) => !/^(?:sqlite|_rowhouse)_/.test(name))

  const isView = (name: string) => names('view').includes(name)

  /** Returns the names of the columns. A table without a declared key starts with `rowid`. */
  const columns = (table: string) => {
    const described = db.prepare('SELECT name, pk FROM pragma_table_xinfo(?)').raw().all(table) as [string, bigint][]
    const declared = described.map(([name]) => name)
    return isView(table) || described.some(([, pk]) => pk > 0n) ? declared : ['rowid', ...declared]
  }

  const rows = (table: Table) => {
    const list = table.fields.map(({ name }) => quote(name)).join(', ')
    const key = keysOf(table).map(quote)
    const order = key.length === 0 ? '' : `ORDER BY ${key.join(', ')}`
    return db
      .prepare(`SELECT ${list} FROM ${quote(table.name)} ${order}`)
      .raw()
      .all() as StoredRow[]
  }

  const match = (table: Table) =>
    keysOf(table)
      .map((name) => `${quote(name)} IS ?`)
      .join(' AND ')
  const keyOf = (table: Table, row: StoredRow) =>
    keysOf(table).map((name) => row[table.fields.findIndex((field) => field.name === name)] as Stored)

  /** Returns whether SQLite accepted the change. */
  const attempt = (sql: string, params: readonly Stored[]) => {
    try {
      db.prepare(sql).run(...params)
      return true
    } catch {
      return false
    }
  }

  return {
    names,
    columns,
    rows,
    set: (table: Table, row: StoredRow, column: string, value: Stored) =>
      attempt(`UPDATE ${quote(table.name)} SET ${quote(column)} = ? WHERE ${match(table)}`, [
        value,
        ...keyOf(table, row)
      ]),
    add: (table: Table, row: StoredRow, column: string, count: bigint) =>
      attempt(
        `UPDATE ${quote(table.name)} SET ${quote(column)} = coalesce(${quote(column)}, 0) + ? WHERE ${match(table)}`,
        [count, ...keyOf(table, row)]
      ),
    remove: (table: Table, row: StoredRow) =>
      attempt(`DELETE FROM ${quote(table.name)} WHERE ${match(table)}`, keyOf(table, row)),
    insert: (table: Table, row: StoredRow) => {
      const sent = table.fields
        .map((field, index) => ({ field, value: row[index] ?? null }))
        .filter(({ field }) => !field.isReadonly)
      const list = sent.map(({ field }) => quote(field.name)).join(', ')
      const values = sent.map(() => '?').join(', ')
      return attempt(
        `INSERT INTO ${quote(table.name)} (${list}) VALUES (${values})`,
        sent.map(({ value }) => value)
      )
    },
    /** Returns the key of a row in the format of the API: one part unchanged, several percent-encoded and joined by commas. */
    keyText: (table: Table, row: StoredRow) => {
      const parts = keyOf(table, row).map(String)
      return parts.length === 1 ? String(parts[0]) : parts.map(encodeURIComponent).join(',')
    },
    close: () => db.close()
  }
}

export type Oracle = ReturnType<typeof openOracle>
