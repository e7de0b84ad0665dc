import BetterSqlite3 from 'better-sqlite3'
import { BRANDS_TABLE, IMPORTED_TABLE, QUERIED_TABLE } from './workloads.ts'

const NOTE =
  "'This note belongs to item ' || i || ', and is about a hundred characters long, as notes often are in tables.'"

const createTable = (name: string) => `CREATE TABLE ${name} (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT,
  price REAL,
  qty INTEGER${name === QUERIED_TABLE ? ` REFERENCES ${BRANDS_TABLE} (id)` : ''},
  note TEXT
)${name === IMPORTED_TABLE ? '' : ' STRICT'}`

const fillTable = (name: string, rows: number) => `WITH RECURSIVE number (i) AS (
    SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < ${rows}
  )
  INSERT INTO ${name} SELECT i, 'Item ' || i, i * 37 % 100000 / 100.0, i * 7919 % 1000, ${NOTE} FROM number`

const CREATE_BRANDS = `CREATE TABLE ${BRANDS_TABLE} (id INTEGER PRIMARY KEY, name TEXT, country TEXT) STRICT;
  WITH RECURSIVE number (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM number WHERE i < 999)
  INSERT INTO ${BRANDS_TABLE} SELECT i, 'Brand ' || i, 'Country ' || i % 50 FROM number`

/** Creates a database. Each table has `rows` items, with the ids 1 to `rows`. All but `IMPORTED_TABLE` are STRICT. */
export const createDatabase = (file: string, tables: readonly string[], rows: number) => {
  const db = new BetterSqlite3(file)
  for (const table of tables) {
    if (table === BRANDS_TABLE) {
      db.exec(CREATE_BRANDS)
      continue
    }
    db.exec(createTable(table))
    db.exec(fillTable(table, rows))
    if (table === QUERIED_TABLE) db.exec(`CREATE INDEX ${table}_qty ON ${table} (qty)`)
  }
  db.close()
}
