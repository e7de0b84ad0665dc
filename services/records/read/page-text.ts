import { responseTooLarge } from '../../model/errors.ts'
import type { Row } from '../../model/sql-value.ts'

/** Returns the `text` of a row. @throws RESPONSE_TOO_LARGE if SQLite returned none because it would be too large */
export const textOf = (row: Row | undefined): string => {
  if (typeof row?.text !== 'string') throw responseTooLarge()
  return row.text
}
