import { columnRef } from './identifiers.ts'
import type { Param, Statement } from './statement.ts'

/** The SQL expressions that differ between engines. `Database.dialect` holds those of the engine in use. */
export interface Dialect {
  /** Returns an expression for the base64 text of `value`, an expression whose value is a BLOB. */
  base64(value: string): string
  /**
   * Returns an expression for the text by which a record is compared: its entity tag, or the text of the whole record.
   * `json`: an expression for its JSON text.
   */
  comparedText(json: string): string
  /** Whether SQL computes entity tags. Otherwise a unit has `RecordTags` as parameters, which are replaced before it runs. */
  readonly computesTags: boolean
  /** Returns a parameter for a JSON array of the compared texts that have these tags. `read`: see `RecordTags`. */
  tagsParam(tags: readonly string[], read: () => Statement<Param>): Param
  /**
   * The end of a statement that changes several rows, each of which may take any time. It fails the statement before
   * the AFTER triggers of the next row if the time limit of the unit is over.
   */
  readonly changeGuard: string
  /** An expression for a number that changes with each change of the schema. */
  readonly schemaVersion: string
  /**
   * Returns a condition that is true for every row. It fails the statement if the service stops, the client disconnects or
   * the time limit of a scan is over. For statements in reader threads only.
   * @param rowid an expression for the rowid; null if no name reaches it
   */
  scanGuard(rowid: string | null): string
}

/** Returns the guard of a scan of a table. With a rowid it checks few rows, without one every row. */
export const tableGuard = (table: string, rowid: string | null, dialect: Dialect) =>
  dialect.scanGuard(rowid === null ? null : columnRef(table, rowid))
