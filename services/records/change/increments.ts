import { suggestName } from '../../../schemas/similar-names.ts'
import { DomainError, excerpt, invalid } from '../../model/errors.ts'
import { kindOf } from '../../model/kinds/kind-of.ts'
import type { Column } from '../../model/table.ts'
import { checkCount } from '../../model/values.ts'
import type { Access } from '../access/access.ts'

/** @throws VALIDATION_FAILED, NOT_INCREMENTABLE */
export const incrementableColumn = ({ columns, writable }: Access, name: string): Column => {
  const column = columns.get(name)
  if (!column) {
    const message = `'${excerpt(name)}' is not a field of this table.`
    throw invalid([{ path: '/field', code: 'unknown', message }], suggestName(name, columns.keys()))
  }
  if (!kindOf(column).isNumeric || column.isPrimary || !writable.has(column)) {
    throw new DomainError('NOT_INCREMENTABLE', `'${name}' is not a number that can be changed.`, {
      hint: 'Name an integer or number field that is neither the key nor read-only.'
    })
  }
  return column
}

/** @throws VALIDATION_FAILED */
export const readCount = ({ integers }: Access, column: Column, count: number | string) => {
  const checked = checkCount(column, count, integers)
  if (!('violation' in checked)) return checked.value
  throw invalid([{ path: '/count', code: checked.violation.code, message: `'count' ${checked.violation.message}.` }])
}
