import BetterSqlite3 from 'better-sqlite3'
import type { SqlValue } from '../../model/sql-value.ts'
import { identifier } from '../../sql/identifiers.ts'
import { joinRows, rowJson } from '../../sql/json-rows.ts'
import { LINE_COLUMN, positionName, STAGED_TABLE, selectStaged } from '../../sql/staged.ts'
import { joinTerms } from '../../sql/terms.ts'
import type { StagedRows, StagedStep, StagingThreadOptions, StepRange } from './protocol.ts'
import { createRecordInserts, type OnRefused } from './record-inserts.ts'
import { createRefusals } from './refusals.ts'

/** MiB of database pages. */
const CACHE_SIZE = 16

const TABLE = identifier(STAGED_TABLE)
const LINE = identifier(LINE_COLUMN)

const configure = (db: BetterSqlite3.Database) => {
  db.pragma('trusted_schema = OFF')
  // The records are checked against the stored parents later.
  db.pragma('foreign_keys = OFF')
  // The file is lost with the process: nothing reads it after a crash.
  db.pragma('journal_mode = MEMORY')
  db.pragma('synchronous = OFF')
  db.pragma(`cache_size = ${-1024 * CACHE_SIZE}`)
  db.defaultSafeIntegers(true)
}

/** Returns the bytes of a record. */
const widthOf = (fields: StagingThreadOptions['fields']) =>
  joinTerms(
    fields.map(({ column }) => `ifnull(octet_length(${identifier(column.name)}), 0)`),
    '+'
  )

/** Creates a copy of the empty table, so that SQLite applies all rules of the table to each record. */
const createTable = (db: BetterSqlite3.Database, { table, declarations }: StagingThreadOptions) => {
  for (const declaration of declarations) db.exec(declaration)
  db.exec(`ALTER TABLE ${identifier(table)} ADD COLUMN ${LINE} INTEGER`)
  // On the connection that writes, a statement on a table that was dropped must not find this one.
  db.exec(`ALTER TABLE ${identifier(table)} RENAME TO ${TABLE}`)
}

/** Opens the staging file, with a copy of the table. */
export const openStagedTable = (options: StagingThreadOptions) => {
  const { stagingFile, rowid, skip, fields } = options
  const db = new BetterSqlite3(stagingFile)
  configure(db)
  createTable(db, options)
  db.exec('BEGIN')
  const position = identifier(positionName({ rowid }))
  const explainRefusal = createRefusals(options)
  let rows = 0

  const onStored = (count: number) => {
    rows += count
  }

  const deleteFirst = (count: number) =>
    db
      .prepare(
        `DELETE FROM ${TABLE} WHERE ${position} <= (
          SELECT max(position) FROM (SELECT ${position} AS position FROM ${TABLE} ORDER BY 1 LIMIT ?))`
      )
      .run(count).changes

  return {
    insertsOf: (names: readonly string[], onRefused: OnRefused) =>
      createRecordInserts(db, names, { onStored, onRefused, explainRefusal }),
    /** Ends the transaction. Returns the number of records, of those that are skipped, and of bytes of the file. */
    finish: () => {
      if (rowid === null) db.exec(`CREATE INDEX _rowhouse_lines ON ${TABLE} (${LINE})`)
      const skipped = skip > 0 ? deleteFirst(skip) : 0
      db.exec('COMMIT')
      // The writer reads the records from now on.
      db.pragma('cache_size = -1024')
      db.pragma('shrink_memory')
      const [pages, size] = ['page_count', 'page_size'].map((name) => Number(db.pragma(name, { simple: true })))
      return { rows: rows - skipped, skipped, bytes: Number(pages) * Number(size) }
    },
    step: ({ after, rows, maxBytes }: StepRange): StagedStep => {
      // One condition for both cases, such as `? IS NULL OR …`, would read the earlier records in each step.
      const condition = after === null ? '' : `WHERE ${position} > ?`
      const width = maxBytes === null ? '0' : widthOf(fields)
      const row = db
        .prepare<unknown[], { last: SqlValue; rows: bigint }>(
          `SELECT max(position) AS last, count(*) AS rows FROM (
            SELECT position, sum(width) OVER (ORDER BY position) - width AS before FROM (
              SELECT ${position} AS position, ${width} AS width FROM ${TABLE} ${condition} ORDER BY 1 LIMIT ?))
          WHERE before < ?`
        )
        .get(...(after === null ? [] : [after]), rows, maxBytes ?? 1) as { last: SqlValue; rows: bigint }
      return { last: row.last, rows: Number(row.rows) }
    },
    rows: ({ columns, condition, after, last }: StagedRows): string => {
      const range = after === null ? `${position} <= ?` : `${position} > ? AND ${position} <= ?`
      const records = selectStaged(columns, TABLE, `${condition} AND ${range}`)
      const row = rowJson(columns.map(({ name }) => identifier(name)))
      const params = after === null ? [last] : [after, last]
      return db
        .prepare<unknown[], string>(`SELECT ${joinRows(row)} FROM ${records}`)
        .pluck()
        .get(...params) as string
    }
  }
}
export type StagedTable = ReturnType<typeof openStagedTable>
