import type { Database } from '../../engine/database.ts'
import { foldName } from '../../model/names.ts'
import type { Row } from '../../model/sql-value.ts'
import type { Column } from '../../model/table.ts'
import { selectReferring } from '../../sql/alter.ts'

const listed = (rows: readonly Row[]) => {
  const names = new Set(rows.map(({ name, field }) => `'${name}.${field}'`))
  return names.size === 0 ? null : [...names].join(', ')
}

/** Returns the fields of all tables that refer to the column, as `'table.field'` in a list; null if there are none. */
export const fieldsReferringToColumn = async (db: Database, table: string, column: Column): Promise<string | null> => {
  const rows = await db.read(selectReferring(table))
  return listed(
    rows.filter(({ target }) =>
      target === null ? column.isPrimary : foldName(String(target)) === foldName(column.name)
    )
  )
}
