import type { Violation } from '../../model/errors.ts'
import { kindOf } from '../../model/kinds/kind-of.ts'
import type { Column } from '../../model/table.ts'
import type { Param, UnitValue } from '../../sql/statement.ts'

/** The value of a field of the record that an earlier operation of the batch returns. */
export class ResultReference {
  /** The field of the returned record. */
  readonly column: Column
  readonly stored: UnitValue

  constructor(column: Column, stored: UnitValue) {
    this.column = column
    this.stored = stored
  }
}

const OTHER_TYPE: Violation = { code: 'type', message: 'must have the type of the field that `$result` names' }

/** The value is known only in the transaction, so the types of both fields must be the same. Objects and arrays share a kind. */
export const checkResult = (
  column: Column,
  { column: source, stored }: ResultReference
): { readonly value: Param } | { readonly violation: Violation } =>
  kindOf(column) === kindOf(source) && column.jsonType === source.jsonType
    ? { value: stored }
    : { violation: OTHER_TYPE }
