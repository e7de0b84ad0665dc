import type { ErrorDetail } from '../../schemas/error.ts'
import { DomainError, pointer } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { View } from './view.ts'

const MESSAGES: Record<string, string> = { unique: 'is taken', required: 'must not be null' }

/**
 * Returns a constraint error of the engine with details that name fields of the view. Details of other columns are
 * dropped: hidden columns, and columns of a table that a trigger writes to. The engine reports `table.column`, where
 * both names may contain dots.
 */
export const explainViolation = (error: Error, { table, columns }: View) => {
  if (!(error instanceof DomainError) || !error.details) return error
  const fields = new Map([...columns.keys()].map((name) => [foldName(pointer(`${table.name}.${name}`)), name]))
  const details = error.details.flatMap(({ path, code }): ErrorDetail[] => {
    const name = fields.get(foldName(path))
    return name === undefined ? [] : [{ path: pointer(name), code, message: `'${name}' ${MESSAGES[code]}.` }]
  })
  const { code, message, hint, retryAfter, statement } = error
  return new DomainError(code, message, { details, hint, retryAfter, statement })
}
