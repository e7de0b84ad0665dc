import type { Row } from '../../model/sql-value.ts'
import type { Statement, Unit } from '../../sql/statement.ts'

/** Maximum number of imports that are listed. */
const MAX_IMPORTS = 1000

/** What is known about an import before its first record is stored. */
export interface NewImportRow {
  /** null: the import creates the table. */
  readonly tableId: number | null
  readonly table: string
  /** null: the client has sent no name. */
  readonly file: string | null
  readonly format: string
  readonly callerKind: string
  readonly callerName: string
  readonly storedRows: number
  readonly totalRows: number
  /** Epoch milliseconds. */
  readonly now: number
}

/** Deletes the oldest rows, but not those of `running` imports, and inserts one. The last result has its `id`. */
export const insertImport = (added: NewImportRow, running: readonly number[]): Unit => [
  {
    sql: `DELETE FROM _rowhouse_imports
      WHERE id <= (SELECT max(id) FROM _rowhouse_imports) - ? AND id NOT IN (SELECT value FROM temp.json_each(?))`,
    params: [BigInt(MAX_IMPORTS - 1), JSON.stringify(running)]
  },
  {
    sql: `INSERT INTO _rowhouse_imports (table_id, table_name, is_new_table, file, format, caller_kind, caller_name, state,
        stored_rows, total_rows, error, created_at, updated_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?) RETURNING id`,
    params: [
      added.tableId === null ? null : BigInt(added.tableId),
      added.table,
      added.tableId === null ? 1n : 0n,
      added.file,
      added.format,
      added.callerKind,
      added.callerName,
      added.storedRows === added.totalRows ? 'done' : 'running',
      BigInt(added.storedRows),
      BigInt(added.totalRows),
      BigInt(added.now),
      BigInt(added.now)
    ]
  }
]

interface Progress {
  readonly id: number
  readonly tableId: number
  readonly storedRows: number
  readonly now: number
}

/** For the unit that stores the records. Returns the number of stored records as text. */
export const updateProgress = ({ id, tableId, storedRows, now }: Progress): Statement => ({
  sql: `UPDATE _rowhouse_imports SET table_id = ?, stored_rows = ?, state = iif(total_rows = ?, 'done', state),
      updated_at = ? WHERE id = ? RETURNING CAST(stored_rows AS TEXT) AS record`,
  params: [BigInt(tableId), BigInt(storedRows), BigInt(storedRows), BigInt(now), BigInt(id)]
})

interface ImportFailure {
  readonly id: number
  readonly error: string
  readonly now: number
}

export const failImport = ({ id, error, now }: ImportFailure): Statement => ({
  sql: "UPDATE _rowhouse_imports SET state = 'failed', error = ?, updated_at = ? WHERE id = ?",
  params: [error, BigInt(now), BigInt(id)]
})

/** The latest first. */
export const selectImports: Statement = { sql: 'SELECT * FROM _rowhouse_imports ORDER BY id DESC', params: [] }

/** The boundary where a row gets its type. */
export const toLoggedImport = (row: Row) => ({
  id: Number(row.id),
  tableId: row.table_id === null ? null : Number(row.table_id),
  table: String(row.table_name),
  isNewTable: Number(row.is_new_table) === 1,
  file: row.file === null ? null : String(row.file),
  format: String(row.format) as 'csv' | 'ndjson' | 'json',
  callerKind: String(row.caller_kind),
  callerName: String(row.caller_name),
  state: String(row.state) as 'running' | 'done' | 'failed',
  storedRows: Number(row.stored_rows),
  totalRows: Number(row.total_rows),
  error: row.error === null ? null : String(row.error),
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at)
})
