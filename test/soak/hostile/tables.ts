import BetterSqlite3 from 'better-sqlite3'

export const WIDE_TABLES = 10
/** Columns of each wide table beside its key and its reference. */
export const WIDE_COLUMNS = 150
export const WIDE_ROWS = 100

export interface HostileSizes {
  readonly items: number
  readonly parts: number
}

const numbers = (count: number, rows: string) =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) ${rows}`

const wideTable = (table: number) => {
  const columns = Array.from({ length: WIDE_COLUMNS }, (_, column) => `column_${column} TEXT DEFAULT 'wide'`)
  const next = (table + 1) % WIDE_TABLES
  return `CREATE TABLE wide_${table} (id INTEGER PRIMARY KEY, next_id INTEGER REFERENCES wide_${next}, ${columns});
    ${numbers(WIDE_ROWS, `INSERT INTO wide_${table} (id, next_id) SELECT i, i FROM n`)};`
}

/**
 * Creates a file with tables that make requests expensive: long ones without useful indexes, a reference without an index
 * on its child, wide ones that refer to each other, one with long texts, one with a search index, endless SQL views.
 */
export const createHostileFile = (file: string, { items, parts }: HostileSizes) => {
  const db = new BetterSqlite3(file)
  // Each wide table refers to the next one, which does not exist yet.
  db.pragma('foreign_keys = OFF')
  db.exec(`
    CREATE TABLE items (id INTEGER PRIMARY KEY, title TEXT, number INTEGER, note TEXT);
    ${numbers(items, `INSERT INTO items SELECT i, 'Title of the item ' || i, i % 97, printf('%080d', i) FROM n`)};
    CREATE TABLE parents (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE parts (id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES parents ON DELETE CASCADE, name TEXT);
    ${numbers(items / 10, "INSERT INTO parents SELECT i, 'parent' FROM n")};
    ${numbers(parts, `INSERT INTO parts SELECT i, 1 + i % (${items} / 10), 'part' FROM n`)};
    CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT);
    CREATE TABLE searched (id INTEGER PRIMARY KEY, text TEXT);
    CREATE VIEW endless AS
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS count FROM n;
    CREATE VIEW pairs AS SELECT a.id, b.title FROM items a JOIN items b ON a.number = b.number;
    CREATE TABLE calm (id INTEGER PRIMARY KEY, number INTEGER);
    INSERT INTO calm SELECT id, 0 FROM items WHERE id <= 100;
    ${Array.from({ length: WIDE_TABLES }, (_, table) => wideTable(table)).join('\n')}`)
  db.close()
}
