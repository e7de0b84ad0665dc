import { suggestName } from '../../../schemas/similar-names.ts'
import { excerpt, invalid } from '../../model/errors.ts'
import type { Column } from '../../model/table.ts'
import type { Access } from '../access/access.ts'

/** Returns a visible column. @throws VALIDATION_FAILED with this path */
export const columnOf = ({ columns }: Access, path: string, name: string): Column => {
  const column = columns.get(name)
  if (column) return column
  throw invalid(
    [{ path, code: 'unknown', message: `'${excerpt(name)}' is not a field of this table.` }],
    suggestName(name, columns.keys())
  )
}

/** Returns the columns of these fields and of the key, in the order of the table. */
export const withKey = ({ columns, table }: Access, fields: ReadonlySet<string>): readonly Column[] =>
  [...columns.values()].filter(({ name }) => fields.has(name) || table.structure.key.includes(name))
