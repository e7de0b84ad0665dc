import { DomainError, overloaded } from '../../model/errors.ts'
import type { Unit } from '../../sql/statement.ts'
import { sizeOf } from '../shared/size.ts'

/** Pending units, queued and in flight: about 100 ms of work. */
const MAX_PENDING_UNITS = 4096
/** Characters and bytes of the parameters of pending units. The unit that reaches the limit is accepted. */
const MAX_PENDING_SIZE = 64 * 2 ** 20

export const sizeOfUnit = (unit: Unit) => {
  let size = 0
  for (const { params } of unit) size += sizeOf(params)
  return size
}

export const hasTooMuchPending = (units: number, size: number) => units >= MAX_PENDING_UNITS || size >= MAX_PENDING_SIZE

export const tooManyWrites = () => overloaded('Too many writes are pending. Try again.', 1)

/** The unit was in flight when the engine failed: it may have been committed. A retry without a key may run it twice. */
export const outcomeUnknown = (cause?: unknown) => {
  const error = new DomainError('OUTCOME_UNKNOWN', 'The database engine failed while this change was in flight.', {
    hint: 'The change may have been stored. Send the request again only with its Idempotency-Key, or read the stored data first.'
  })
  return Object.assign(error, { cause })
}
