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

export const REFERENCES_HINT = 'The schema of the table lists the fields with `references`.'

/**
 * Returns the field at the start of a path, which one of the separators or the end follows. A name may contain them.
 * `separators`: such as `.` between a field and a field of the record to which it refers.
 */
export const firstField = ({ columns }: Access, path: string, separators: readonly string[]): Column | undefined =>
  [...columns.values()].find(
    ({ name }) => path === name || (path.startsWith(name) && separators.includes(path.charAt(name.length)))
  )

const notReadable = (name: string) =>
  new DomainError('ACTION_NOT_ALLOWED', `The token needs the action 'read' on the table to which '${name}' refers.`)

/**
 * Returns what a reference leads to. undefined: the field refers to no record, or to no table that the caller can use.
 * @throws ACTION_NOT_ALLOWED
 */
export const findTarget = ({ table }: Access, column: Column, readable: ReadableTables): Target | undefined => {
  const key = expandableKey(table, column)
  if (key && !readable.mayRead(key.table)) throw notReadable(column.name)
  const access = key && readable.accessTo(key.table)
  const field = access && [...access.columns.values()].find(({ name }) => name === key.targetFields[0])
  return access && field?.isUnique ? { access, field: field.name } : undefined
}
