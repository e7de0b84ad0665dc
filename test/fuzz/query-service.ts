import type BetterSqlite3 from 'better-sqlite3'
import type { Test } from 'tap'
import type { Table } from '../../schemas/table.ts'
import { asAdmin, asToken, type Client, createDatabase, importTable, startApp } from '../helpers.ts'
import { openServed } from '../served.ts'
import type { Stored } from '../sqlite-oracle.ts'
import type { ModelRow } from './query-model.ts'
import { type QueryTable, queryTables, randomRow } from './query-tables.ts'
import type { Random } from './random.ts'

/** Rows of each table. */
export const ROWS = 60

/** A table that the service serves, and a connection of another program to its file. */
export interface Served {
  readonly table: QueryTable
  readonly id: number
  readonly read: () => readonly ModelRow[]
  readonly insert: (row: readonly Stored[]) => void
  readonly remove: (uid: bigint) => void
  readonly clear: () => void
  /** Returns the record as it would be with this value. Nothing is changed. */
  readonly tryUpdate: (uid: bigint, column: string, value: Stored) => ModelRow
  /** Returns the record as it would be if it was created with this value. Nothing is changed. */
  readonly tryInsert: (uid: bigint, column: string, value: Stored) => ModelRow
  /** Returns a uid that no record has. */
  readonly nextUid: () => bigint
  readonly execute: (sql: string) => void
  readonly query: (sql: string) => readonly unknown[]
}

const serve = async (db: BetterSqlite3.Database, admin: Client, table: QueryTable): Promise<Served> => {
  const { name, columns, rowid } = table
  const registered: Table = await importTable(admin, name)
  const names = [...new Set([...columns.keys(), ...(rowid === null ? [] : [rowid])])]
  const declared = names.filter((column) => column !== 'rowid')
  const select = db.prepare(`SELECT ${names.join(', ')} FROM ${name}`).raw()
  const insert = db.prepare(`INSERT INTO ${name} VALUES (${declared.map(() => '?').join(', ')})`)
  const remove = db.prepare(`DELETE FROM ${name} WHERE uid = ?`)
  const toRow = (row: readonly Stored[]): ModelRow => new Map(names.map((column, i) => [column, row[i] as Stored]))
  const one = db.prepare(`SELECT ${names.join(', ')} FROM ${name} WHERE uid = ?`).raw()

  /** Runs a change, reads the record, and rolls the change back. */
  const tryChange = (sql: string, params: readonly Stored[], uid: bigint) => {
    db.exec('BEGIN')
    try {
      db.prepare(sql).run(...params)
      return toRow(one.get(uid) as Stored[])
    } finally {
      db.exec('ROLLBACK')
    }
  }

  return {
    table,
    id: registered.id,
    read: () => (select.all() as Stored[][]).map(toRow),
    tryUpdate: (uid, column, value) => tryChange(`UPDATE ${name} SET ${column} = ? WHERE uid = ?`, [value, uid], uid),
    tryInsert: (uid, column, value) =>
      tryChange(`INSERT INTO ${name} (uid, ${column}) VALUES (?, ?)`, [uid, value], uid),
    nextUid: () => db.prepare(`SELECT max(uid) + 1 FROM ${name} WHERE uid < 1000000000`).pluck().get() as bigint,
    execute: (sql) => db.exec(sql),
    query: (sql) => db.prepare(sql).raw().all(),
    insert: (row) => insert.run(...row),
    remove: (uid) => remove.run(uid),
    clear: () => db.exec(`DELETE FROM ${name}`)
  }
}

/** Starts a service with all tables, each with random rows. */
export const startTables = async (t: Test, random: Random) => {
  const file = createDatabase(t, queryTables.map(({ sql }) => sql).join('\n'))
  const app = await startApp(t, { env: { DATABASE: file } })
  const db = openServed(t, file)
  db.defaultSafeIntegers()
  const admin = await asAdmin(app)
  const token = await asToken(app, admin)
  const tables: Served[] = []
  for (const table of queryTables) {
    const served = await serve(db, admin, table)
    for (let uid = 1; uid <= ROWS; uid += 1) served.insert(randomRow(table, random, uid))
    tables.push(served)
  }
  return { app, admin, token, tables }
}
