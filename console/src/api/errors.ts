import { texts } from '../texts/common.ts'
import type { components } from './schema.d.ts'

type ErrorInfo = components['schemas']['ErrorInfo']
type ErrorDetail = NonNullable<ErrorInfo['details']>[number]

/** A failed request, with the code and the sentence of the service. */
export class ServiceError extends Error {
  readonly status: number
  readonly code: string
  readonly hint: string | undefined
  readonly details: readonly ErrorDetail[]
  /** The number of all errors of a file; `details` has only the first ones. */
  readonly total: number | undefined
  readonly requestId: string | undefined

  constructor(status: number, info: Pick<ErrorInfo, 'message'> & Partial<ErrorInfo>) {
    super(info.message)
    this.status = status
    this.code = info.code ?? 'UNKNOWN'
    this.hint = info.hint
    this.details = info.details ?? []
    this.total = info.total
    this.requestId = info.requestId
  }
}

const isEnvelope = (body: unknown): body is { error: ErrorInfo } =>
  typeof body === 'object' && body !== null && 'error' in body

export const toServiceError = ({ status }: Pick<Response, 'status'>, body: unknown) =>
  new ServiceError(status, isEnvelope(body) ? body.error : { message: texts.unexpectedResponse(status) })

export const unreachable = () => new ServiceError(0, { message: texts.unreachable })

export const fileChanged = () => new ServiceError(0, { message: texts.fileChanged })

/** Returns the sentence for each field of a form that the service has refused, by the field's name. */
export const fieldErrors = (error: unknown): ReadonlyMap<string, string> => {
  const details = error instanceof ServiceError ? error.details : []
  return new Map(details.map(({ path, message }) => [decodePointer(path), message]))
}

/** Whether an error has the wrong lines of a file, or the wrong records of a JSON array. */
export const isAtLines = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.details.some(({ line, record }) => (line ?? record) !== undefined)

/** Whether a form shows every reason of a refusal at one of its fields. `hasField`: whether it has a field of a path. */
export const isAtFields = (error: unknown, hasField: (path: string) => boolean) => {
  const paths = [...fieldErrors(error).keys()]
  return paths.length > 0 && paths.every(hasField)
}

const decodePointer = (path: string) => path.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')
