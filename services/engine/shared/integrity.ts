import { textLiteral } from '../../sql/identifiers.ts'
import type { Connection } from './connection.ts'
import { toPlainError } from './plain-error.ts'

/** `integrity_check` also compares each index with its table: https://sqlite.org/pragma.html#pragma_quick_check */
type Check = 'quick_check' | 'integrity_check'

/** Returns null if the check needs a function, collation or module that only another program has. */
const runCheck = (connection: Connection, pragma: Check, argument: string) => {
  try {
    return String(connection.value(`PRAGMA ${pragma}(${argument})`))
  } catch (error) {
    if (toPlainError(error).code.startsWith('SQLITE_ERROR')) return null
    throw error
  }
}

/**
 * Returns `ok`, or the first damage. Checks the whole file. If SQLite cannot, checks each table, and skips those that it
 * cannot check.
 */
export const checkIntegrity = (connection: Connection, pragma: Check = 'quick_check') => {
  const fileResult = runCheck(connection, pragma, '1')
  if (fileResult !== null) return fileResult
  const tables = connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table'", [])
  const results = tables.map(({ name }) => runCheck(connection, pragma, textLiteral(String(name))) ?? 'ok')
  return results.find((result) => result !== 'ok') ?? 'ok'
}

/**
 * Hides SQLite's FTS5 module from the connection, so that a check leaves out the content of full-text indexes: for a
 * million rows it takes seconds, and a damaged index does not make the file unusable. The tables of an index are checked.
 */
export const hideFullText = ({ raw }: Connection) => {
  raw.table('fts5', { columns: ['hidden'], *rows() {} })
  // Fails if SQLite has kept its own module, which is no table.
  raw.prepare('SELECT hidden FROM fts5').all()
}

/**
 * Returns `ok`, or the first damage of a backup. Leaves out CHECK constraints: records that violate one are no damage, and
 * the constraint of an unknown file may take long.
 */
export const checkPages = (connection: Connection) => {
  connection.raw.pragma('ignore_check_constraints = ON')
  hideFullText(connection)
  return checkIntegrity(connection)
}
