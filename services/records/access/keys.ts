import { DomainError, invalid } from '../../model/errors.ts'
import { kindOf } from '../../model/kinds/kind-of.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import { forEachCollation, keyColumns, MAX_KEY_LENGTH } from '../../sql/keys.ts'
import type { Param } from '../../sql/statement.ts'
import { recordNotFound, withoutKey, wrongKeyLength } from '../failures.ts'
import type { Access } from './access.ts'
import { checkResult, ResultReference } from './result-reference.ts'

/** Returns the parameters of `statements.match` for a key. @throws PATH_TOO_LONG, RECORD_NOT_FOUND for a text that cannot be a key of the table */
export const keyParams = (access: Access, pk: string): readonly SqlValue[] => {
  if (pk.length > MAX_KEY_LENGTH)
    throw new DomainError('PATH_TOO_LONG', `A primary key has at most ${MAX_KEY_LENGTH} characters.`)
  if (access.table.structure.key.length === 0) throw withoutKey(access.table.name)
  const key = access.parseKey(pk)
  if (key) return access.matchParams(key)
  const { length } = access.table.structure.key
  throw length > 1 && pk.split(',').length !== length ? wrongKeyLength(pk, length) : recordNotFound(pk)
}

/** The key of the record that an operation changes. */
export interface RecordKey {
  /** The parameters of `statements.match`. */
  readonly params: readonly Param[]
  /** null: an earlier operation of the batch returns the key. */
  readonly text: string | null
}

const resultAsKey = (access: Access, result: ResultReference): readonly Param[] => {
  const { structure } = access.table
  const [column, ...others] = keyColumns(structure)
  if (!column || others.length > 0 || kindOf(column).isUntyped) {
    throw invalid([
      { path: '/pk', code: 'type', message: "'pk' can be a `$result` only if the key is one typed field." }
    ])
  }
  const checked = checkResult(column, result)
  if ('violation' in checked) {
    throw invalid([{ path: '/pk', code: checked.violation.code, message: `'pk' ${checked.violation.message}.` }])
  }
  return access.matchParams(structure.isRowidKey ? [checked.value] : forEachCollation([checked.value]))
}

/** @throws PATH_TOO_LONG, RECORD_NOT_FOUND, VALIDATION_FAILED for the result of an operation that cannot be the key */
export const readKey = (access: Access, pk: string | ResultReference): RecordKey =>
  pk instanceof ResultReference
    ? { params: resultAsKey(access, pk), text: null }
    : { params: keyParams(access, pk), text: pk }
