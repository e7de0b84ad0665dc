import type { Column } from '../../model/table.ts'
import { expandableKey } from '../../tables/foreign-keys.ts'
import type { Access } from '../access/access.ts'
import type { ReadableTables } from '../access/readable.ts'
import { findTarget } from './targets.ts'

/** A field that refers to a record that the caller can read, and the names of this relation in other services. */
interface NamedReference {
  readonly field: string
  readonly names: readonly string[]
}

/** Returns a name without case, punctuation and plural. */
const plain = (name: string) =>
  name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .replace(/ies$/, 'y')
    .replace(/s$/, '')

const referenceOf = (access: Access, column: Column, readable: ReadableTables): NamedReference | undefined => {
  const { name } = column
  const table = expandableKey(access.table, column)?.table
  const target = table !== undefined && readable.mayRead(table) && findTarget(access, column, readable)
  if (!target) return undefined
  const { choices, name: tableName } = target.access.table
  const names = [name, name.replace(/[_ ]?id$/i, ''), tableName, choices.clientName]
  return { field: name, names: names.map(plain) }
}

const referencesOf = (access: Access, readable: ReadableTables) =>
  [...access.columns.values()].flatMap((column) => referenceOf(access, column, readable) ?? [])

/**
 * Returns the path of an expansion for one that names a table or a relation, such as `Customers(name)` or `customer:Customers`;
 * undefined if no field refers to a record of this name.
 */
export const suggestExpansion = (access: Access, path: string, readable: ReadableTables): string | undefined => {
  const [, name = '', rest = ''] = /^(?:[^:(]*:)?([^!(.]+)(?:![^(]*)?(.*)$/s.exec(path) ?? []
  const reference = referencesOf(access, readable).find(({ names }) => names.includes(plain(name)))
  return reference && reference.field + (rest === '(*)' ? '' : rest)
}

/** Returns a hint with the names of all fields that can be expanded. */
export const referencesHint = (access: Access, readable: ReadableTables) => {
  const fields = referencesOf(access, readable).map(({ field }) => field)
  return fields.length === 0
    ? 'No field of this table refers to a record that you can read.'
    : `The fields with references: ${fields.join(', ')}.`
}
