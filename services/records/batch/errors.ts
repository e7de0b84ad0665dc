import { DomainError } from '../../model/errors.ts'
import type { Operation, OperationFailure } from '../change/operation.ts'

/** Returns the error with `/values` in front of the paths of its details. */
export const inValues = (error: Error) => {
  if (!(error instanceof DomainError)) return error
  const details = error.details?.map((detail) => ({ ...detail, path: `/values${detail.path}` }))
  return new DomainError(error.code, error.message, { ...error, details })
}

/** Returns the error of an operation as that of the batch: the first detail names the operation. */
export const atOperation = (error: Error, index: number) => {
  if (!(error instanceof DomainError)) return error
  const path = `/operations/${index}`
  const details = (error.details ?? []).map((detail) => ({ ...detail, path: path + detail.path }))
  const first = { path, code: error.code, message: error.message }
  return new DomainError(error.code, `Operation ${index}: ${error.message}`, { ...error, details: [first, ...details] })
}

/** Returns the operation with the errors that `toError` returns for the causes of its failures. */
export const withErrors = <R>(
  operation: Operation<R>,
  toError: (cause: Error, failure: OperationFailure) => Error
): Operation<R> => ({
  ...operation,
  explain: async (caller, failure) => {
    const { mayRetry, error } = await operation.explain(caller, failure)
    return { mayRetry, error: async () => toError(await error(), failure) }
  }
})
