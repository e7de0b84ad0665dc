import { DomainError } from '../../model/errors.ts'
import type { Column } from '../../model/table.ts'
import { expandableKey } from '../../tables/foreign-keys.ts'
import type { Access } from '../access/access.ts'
import type { ReadableTables } from '../access/readable.ts'

/** The record to which a field refers. */
export interface Target {
  /** What the caller can read of its table. */
  readonly access: Access
  /** The unique field that identifies it. */
  readonly field: string
}

/**
 * Returns the field whose name the path begins with, of several the one with the longest name. One of the separators, or
 * the end, follows it.
 * `separators`: such as `.` between a field and a field of the record to which it refers. A name may contain them.
 */
export const firstField = ({ columns }: Access, path: string, separators: readonly string[]): Column | undefined =>
  [...columns.values()]
    .filter(({ name }) => path === name || (path.startsWith(name) && separators.includes(path.charAt(name.length))))
    .sort((one, other) => other.name.length - one.name.length)[0]

const notReadable = (name: string) =>
  new DomainError('ACTION_NOT_ALLOWED', `The token needs the action 'read' on the table to which '${name}' refers.`)

/**
 * Returns the record to which a column refers. undefined: the field refers to no record, or to no table that the caller can use.
 * @throws ACTION_NOT_ALLOWED
 */
export const findTarget = ({ table }: Access, column: Column, readable: ReadableTables): Target | undefined => {
  const key = expandableKey(table, column)
  if (key && !readable.mayRead(key.table)) throw notReadable(column.name)
  const access = key && readable.accessTo(key.table)
  const field = access?.columns.get(String(key?.targetFields[0]))
  return access && field?.isUnique ? { access, field: field.name } : undefined
}
