/** The SQL expressions that differ between engines. */
export interface Dialect {
  /** Returns an expression for a BLOB as base64 text. */
  base64(value: string): string
  /**
   * Returns a condition that is always true, and that stops a scan when the service stops or the scan takes too long.
   * `rowid`: an expression for the rowid of the scanned table, or null to check at every row.
   */
  scanGuard(rowid: string | null): string
}
