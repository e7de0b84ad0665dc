import type { Database } from '../../engine/database.ts'
import { MAX_UNIT_RESULTS, sizeOf } from '../../engine/shared/size.ts'
import { resultsTooLarge } from '../../model/errors.ts'
import { identifier } from '../../sql/identifiers.ts'
import { isValue, type Statement } from '../../sql/statement.ts'
import type { ChangedRows, Operation } from './operation.ts'

const selectSize = ({ access, where, params }: ChangedRows): Statement => ({
  sql: `SELECT total(${access.all.json.width}) AS size FROM ${identifier(access.table.name)} WHERE ${where}`,
  params: params.filter(isValue)
})

/** The smallest record: `{}`. */
const MIN_SIZE = 2

const sizeOfSent = ({ unit }: Operation) => unit.reduce((sum, { params }) => sum + sizeOf(params), MIN_SIZE)

/** Returns the size of the record that an operation returns, as far as it is sent, or stored before the unit. */
const sizeOfResult = async (db: Database, operation: Operation): Promise<number> => {
  const { change } = operation
  const sent = sizeOfSent(operation)
  // A key that an earlier operation of the batch returns: its record is not stored yet.
  if (!change || !('rows' in change) || !change.rows.params.every(isValue)) return sent
  const [row] = await db.read(selectSize(change.rows))
  return sent + Number(row?.size)
}

/**
 * For an engine that cannot stop a unit at the size of its results: estimates the records that operations will return,
 * and returns the function that adds up their sizes. A single record may be larger, so it is not read.
 * @throws RESULTS_TOO_LARGE for the operation that exceeds the limit
 */
export const measureResults = async (db: Database, operations: readonly Operation[]) => {
  const returning = operations.filter(({ shown, change }) => shown && change)
  const sizes = new Map<Operation, number>()
  const measure = async (operation: Operation) => sizes.set(operation, await sizeOfResult(db, operation))
  if (returning.length > 1) await Promise.all(returning.map(measure))
  let total = 0
  return (operation: Operation) => {
    const size = sizes.get(operation) ?? 0
    if (total > 0 && size > 0 && total + size > MAX_UNIT_RESULTS) throw resultsTooLarge()
    total += size
  }
}
