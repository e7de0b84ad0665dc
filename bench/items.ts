import BetterSqlite3 from 'better-sqlite3'
import { IMPORTED_TABLE } from './workloads.ts'

const NOTE =
  "'This note belongs to item ' || i || ', and is about a hundred characters long, as notes often are in tables.'"

const createTable = (name: string) => `CREATE TABLE ${name} (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT,
  price REAL,
  qty INTEGER,
  note TEXT
)${name === IMPORTED_TABLE ? '' : ' STRICT'}`

const fillTable = (name: string, rows: number) => `WITH RECURSIVE number (i) AS (
    SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < ${rows}
  )
  INSERT INTO ${name} SELECT i, 'Item ' || i, i * 37 % 100000 / 100.0, i * 7919 % 1000, ${NOTE} FROM number`

/** Creates a database. Each table has `rows` items, with the ids 1 to `rows`. All but `IMPORTED_TABLE` are STRICT. */
export const createDatabase = (file: string, tables: readonly string[], rows: number) => {
  const db = new BetterSqlite3(file)
  for (const table of tables) {
    db.exec(createTable(table))
    db.exec(fillTable(table, rows))
  }
  db.close()
}
