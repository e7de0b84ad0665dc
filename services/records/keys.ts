import { DomainError } from '../model/errors.ts'
import type { SqlValue } from '../model/sql-value.ts'
import { MAX_KEY_LENGTH } from '../sql/keys.ts'
import { recordNotFound, withoutKey, wrongKeyLength } from './failures.ts'
import type { View } from './view.ts'

/** Returns the parameters of a key. @throws PATH_TOO_LONG, RECORD_NOT_FOUND for a text that cannot be a key of the table */
export const keyOf = (view: View, pk: string): readonly SqlValue[] => {
  if (pk.length > MAX_KEY_LENGTH)
    throw new DomainError('PATH_TOO_LONG', `A primary key has at most ${MAX_KEY_LENGTH} characters.`)
  if (view.table.structure.key.length === 0) throw withoutKey(view.table.name)
  const key = view.parseKey(pk)
  if (key) return key
  const { length } = view.table.structure.key
  throw length > 1 && pk.split(',').length !== length ? wrongKeyLength(pk, length) : recordNotFound(pk)
}
