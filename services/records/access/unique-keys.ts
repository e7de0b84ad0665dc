import { excerpt, invalid } from '../../model/errors.ts'
import { foldName } from '../../model/names.ts'
import type { UniqueKey } from '../../model/unique-key.ts'
import { namesOfKey } from '../../sql/unique-keys.ts'
import type { Access } from './access.ts'

type VisibleColumns = Pick<Access, 'columns'>

const sortedNames = (names: readonly string[]) => JSON.stringify(names.map(foldName).sort())

export interface RequestedKey {
  /** The names of its fields. */
  readonly on: readonly string[]
  /** The path of the names in the request. */
  readonly path: string
}

const wrongKey = ({ columns }: VisibleColumns, keys: readonly UniqueKey[], { on, path }: RequestedKey) => {
  const quoted = on.map((name) => `'${excerpt(name)}'`).join(', ')
  const visible = keys.map(namesOfKey).filter((names) => names.every((name) => columns.has(name)))
  const known = [...new Set(visible.map((names) => names.join(',')))].join('; ')
  const message = `No key or unique index of the table has exactly the fields ${quoted}.`
  return invalid([{ path, code: 'unique', message }], `Send one of these lists of fields: ${known}.`)
}

/**
 * Returns the unique key with these fields, in any order, ignoring case.
 * @throws VALIDATION_FAILED, which lists the keys that the caller sees
 */
export const findUniqueKey = (
  access: VisibleColumns,
  keys: readonly UniqueKey[],
  requested: RequestedKey
): UniqueKey => {
  const { on } = requested
  const names = sortedNames(on)
  const key = keys.find((candidate) => sortedNames(namesOfKey(candidate)) === names)
  if (!key || !on.every((name) => access.columns.has(name))) throw wrongKey(access, keys, requested)
  return key
}
