import { columnRef } from './identifiers.ts'

/** The SQL expressions that differ between engines. `Database.dialect` holds those of the engine in use. */
export interface Dialect {
  /** Returns an expression for the base64 text of `value`, an expression whose value is a BLOB. */
  base64(value: string): string
  /** Returns an expression for the entity tag of a record. `json`: an expression for its JSON text. */
  recordTag(json: string): string
  /**
   * Returns a condition that is true for every row. It fails the statement if the service stops or the time limit of a
   * scan is over. For statements in reader threads only.
   * @param rowid an expression for the rowid; null if no name reaches it
   */
  scanGuard(rowid: string | null): string
}

/** Returns the guard of a scan of a table. With a rowid it checks few rows, without one every row. */
export const tableGuard = (table: string, rowid: string | null, dialect: Dialect) =>
  dialect.scanGuard(rowid === null ? null : columnRef(table, rowid))
