import type { TableField } from '../../tables/queries.ts'

/** How the values of a field are shown and edited. `any`: a column without a type, which stores values as they are. */
export type Kind = 'integer' | 'number' | 'boolean' | 'json' | 'bytes' | 'date' | 'any' | 'text'

type Typed = Pick<TableField, 'jsonType' | 'sqliteType' | 'isExact'>

const kindOfStrings = ({ sqliteType, isExact }: Typed): Kind => {
  // A column without a type has the affinity BLOB, too, but its values are never exact.
  if (sqliteType === 'BLOB') return isExact ? 'bytes' : 'any'
  // Only a declared DATE or TIME is a string under numeric affinity.
  return sqliteType === 'NUMERIC' ? 'date' : 'text'
}

export const kindOf = (field: Typed): Kind => {
  switch (field.jsonType) {
    case 'object':
    case 'array':
      return 'json'
    case 'string':
      return kindOfStrings(field)
    default:
      return field.jsonType
  }
}

/** Whether numbers stand at the right. */
export const isNumeric = (field: Typed) => field.jsonType === 'integer' || field.jsonType === 'number'
