import type { ErrorDetail } from '../../schemas/error.ts'
import { DomainError, pointer } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { View } from './view.ts'

const says: Record<string, string> = { unique: 'is taken', required: 'must not be null' }

/**
 * The engine names `table.column`, where either may contain a dot. What a caller gets to know are the fields of the
 * view: neither hidden ones, nor those of another table that a trigger writes to.
 */
export const explainViolation = (error: Error, { table, columns }: View) => {
  if (!(error instanceof DomainError) || !error.details) return error
  const known = new Map([...columns.keys()].map((name) => [foldName(pointer(`${table.name}.${name}`)), name]))
  const details = error.details.flatMap(({ path, code }): ErrorDetail[] => {
    const name = known.get(foldName(path))
    return name === undefined ? [] : [{ path: pointer(name), code, message: `'${name}' ${says[code]}.` }]
  })
  const { code, message, hint, retryAfter } = error
  return new DomainError(code, message, { details, hint, retryAfter })
}
