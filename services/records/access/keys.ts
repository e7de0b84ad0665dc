import { DomainError, invalid } from '../../model/errors.ts'
import { kindOf } from '../../model/kinds/kind-of.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import { forEachCollation, keyColumns, MAX_KEY_LENGTH } from '../../sql/keys.ts'
import type { Param } from '../../sql/statement.ts'
import { recordNotFound, withoutKey, wrongKeyLength } from '../failures.ts'
import { checkResult, OperationResult } from './operation-result.ts'
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

/** The key of the record that an operation changes. */
export interface RecordKey {
  /** The parameters of `keyMatch`. */
  readonly params: readonly Param[]
  /** null: an earlier operation of the batch returns the key. */
  readonly text: string | null
}

const resultAsKey = ({ table: { structure } }: View, result: OperationResult): readonly Param[] => {
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
  return structure.isRowidKey ? [checked.value] : forEachCollation([checked.value])
}

/** @throws PATH_TOO_LONG, RECORD_NOT_FOUND, VALIDATION_FAILED for the result of an operation that cannot be the key */
export const readKey = (view: View, pk: string | OperationResult): RecordKey =>
  pk instanceof OperationResult ? { params: resultAsKey(view, pk), text: null } : { params: keyOf(view, pk), text: pk }
