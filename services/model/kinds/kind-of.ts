import type { ColumnType } from '../table.ts'
import { blob } from './blob.ts'
import { boolean } from './boolean.ts'
import { integer } from './integer.ts'
import { json } from './json.ts'
import type { Kind } from './kind.ts'
import { loose } from './loose.ts'
import { numeric } from './numeric.ts'
import { real } from './real.ts'
import { text } from './text.ts'
import { untyped } from './untyped.ts'

const kindOfStrings = ({ sqliteType, declaredType }: ColumnType): Kind => {
  if (sqliteType === 'TEXT') return text
  if (sqliteType !== 'BLOB') return loose
  return /blob/i.test(declaredType) ? blob : untyped
}

/** The kind follows from the JSON type, which clients use, and from the stored type, which SQLite applies. */
export const kindOf = (column: ColumnType): Kind => {
  switch (column.jsonType) {
    case 'integer':
      return integer
    case 'number':
      return column.sqliteType === 'REAL' ? real : numeric
    case 'boolean':
      return boolean
    case 'object':
    case 'array':
      return json
    case 'string':
      return kindOfStrings(column)
  }
}
