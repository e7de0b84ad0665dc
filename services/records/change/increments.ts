import { suggestName } from '../../../schemas/similar-names.ts'
import { DomainError, excerpt, invalid } from '../../model/errors.ts'
import { kindOf } from '../../model/kinds/kind-of.ts'
import type { Column } from '../../model/table.ts'
import { checkCount } from '../../model/values.ts'
import type { Access } from '../access/access.ts'

const isIncrementable = ({ writable }: Access, column: Column) =>
  kindOf(column).isNumeric && !column.isPrimary && writable.has(column)

/** Returns the field of `stock+` or `stock-`, which other services add to, and the number to add. */
export const readIncrement = (access: Access, name: string, value: unknown) => {
  const column = /[+-]$/.test(name) ? access.columns.get(name.slice(0, -1)) : undefined
  if (!column || !isIncrementable(access, column)) return undefined
  const count = typeof value === 'number' ? value : 1
  return { field: column.name, count: name.endsWith('-') ? -count : count }
}

/** @throws VALIDATION_FAILED, NOT_INCREMENTABLE */
export const incrementableColumn = (access: Access, name: string): Column => {
  const { columns } = access
  const column = columns.get(name)
  if (!column) {
    const message = `'${excerpt(name)}' is not a field of this table.`
    throw invalid([{ path: '/field', code: 'unknown', message }], suggestName(name, columns.keys()))
  }
  if (!isIncrementable(access, column)) {
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
