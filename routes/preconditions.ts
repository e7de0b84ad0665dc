import type { IncomingHttpHeaders } from 'node:http'
import { invalid } from '../services/model/errors.ts'

/**
 * Whether an upsert may only create: `If-None-Match: *` (RFC 9110, 13.1.2). Tags have no meaning for a record that may not
 * exist.
 * @throws VALIDATION_FAILED for a tag
 */
export const onlyCreates = ({ 'if-none-match': value }: IncomingHttpHeaders) => {
  if (value === undefined) return false
  if (value.trim() === '*') return true
  throw invalid([{ path: '/if-none-match', code: 'format', message: "An upsert accepts only 'If-None-Match: *'." }])
}

/** @throws VALIDATION_FAILED */
export const refuseIfNoneMatch = ({ 'if-none-match': value }: IncomingHttpHeaders) => {
  if (value === undefined) return
  const message = "'If-None-Match' is only for a read, and as 'If-None-Match: *' for an upsert of one record."
  throw invalid([{ path: '/if-none-match', code: 'unknown', message }], 'A create never changes a record that exists.')
}
