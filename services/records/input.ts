import type { ErrorDetail } from '../../schemas/error.ts'
import type { RecordBody } from '../../schemas/record.ts'
import { DomainError, invalid } from '../errors.ts'
import type { Assignment } from '../sql/records.ts'
import type { Column, RegisteredTable } from '../tables/registered-table.ts'
import { type Checked, checkValue } from './values.ts'
import type { View } from './view.ts'

/** A longer key could not be put into a path. */
const LONGEST_KEY = 8192

const TIMESTAMPS = ['created_at', 'updated_at']

const isTimestamp = ({ structure }: RegisteredTable, { name }: Column) =>
  structure.autoTimestamps && TIMESTAMPS.includes(name)

export const isWritable = (table: RegisteredTable, column: Column) =>
  !column.isReadonly && !column.isGenerated && !isTimestamp(table, column)

/** The database makes this value where none is sent. */
const isOptional = (table: RegisteredTable, column: Column) =>
  column.isGenerated ||
  isTimestamp(table, column) ||
  column.defaultValue !== null ||
  (column.isPrimary ? table.structure.isRowidKey : column.nullable)

const detail = (name: string, code: string, says: string): ErrorDetail => ({
  path: `/${name}`,
  code,
  message: `'${name}' ${says}.`
})

const checkNull = ({ structure }: RegisteredTable, column: Column): Checked => {
  const mayBeNull = column.isPrimary ? structure.isRowidKey : column.nullable
  return mayBeNull ? { value: null } : { fault: { code: 'required', message: 'must not be null' } }
}

const check = (table: RegisteredTable, column: Column, value: unknown): Checked => {
  if (value === null) return checkNull(table, column)
  const checked = checkValue(column, value)
  const isLongKey = column.isPrimary && typeof value === 'string' && value.length > LONGEST_KEY
  return isLongKey ? { fault: { code: 'length', message: `must have ${LONGEST_KEY} characters at most` } } : checked
}

/** Checks every key of a body against the visible columns; all faults are reported together. */
const readBody = (view: View, body: RecordBody) => {
  const assignments: Assignment[] = []
  const faults: ErrorDetail[] = []
  for (const [name, value] of Object.entries(body)) {
    // A key of this name would vanish from every JavaScript object that it is copied to.
    const column = name === '__proto__' ? undefined : view.columns.get(name)
    if (!column) {
      faults.push(detail(name, 'unknown', 'is no field of this table'))
      continue
    }
    const checked = check(view.table, column, value)
    if ('fault' in checked) faults.push(detail(name, checked.fault.code, checked.fault.message))
    else assignments.push([column, checked.value])
  }
  if (faults.length > 0) throw invalid(faults)
  return assignments
}

const requireFields = (view: View, assignments: readonly Assignment[]) => {
  const { table } = view
  const sent = new Set(assignments.map(([column]) => column))
  const missing = table.structure.columns.filter((column) => !isOptional(table, column) && !sent.has(column))
  const visible = missing.filter(({ name }) => view.columns.has(name))
  if (visible.length > 0) throw invalid(visible.map(({ name }) => detail(name, 'required', 'is required')))
  if (missing.length > 0) {
    throw new DomainError('CONSTRAINT_VIOLATION', 'The table requires fields that a token cannot see.', {
      hint: 'An administrator can give them a default, show them, or create the record.'
    })
  }
}

const timestamps = ({ structure }: RegisteredTable, now: number): Assignment[] =>
  structure.autoTimestamps
    ? structure.columns.filter(({ name }) => TIMESTAMPS.includes(name)).map((column) => [column, BigInt(now)])
    : []

/** What a new record stores. @throws VALIDATION_FAILED with every fault */
export const readNewRecord = (view: View, body: RecordBody, now: number): readonly Assignment[] => {
  const assignments = readBody(view, body)
  const refused = assignments.filter(([column]) => !isWritable(view.table, column))
  if (refused.length > 0) throw invalid(refused.map(([{ name }]) => detail(name, 'readonly', 'is read-only')))
  requireFields(view, assignments)
  return [...assignments, ...timestamps(view.table, now)]
}

export interface Changes {
  readonly assignments: readonly Assignment[]
  /** Read-only fields and key fields that were sent: tolerated where they are what is stored. */
  readonly unchanged: readonly Assignment[]
}

/** What an update stores. @throws VALIDATION_FAILED with every fault, or when there is nothing to change */
export const readChanges = (view: View, body: RecordBody): Changes => {
  const sent = readBody(view, body)
  const changes = (column: Column) => !column.isPrimary && isWritable(view.table, column)
  const assignments = sent.filter(([column]) => changes(column))
  if (assignments.length === 0) {
    throw invalid(
      [{ path: '', code: 'required', message: 'There is nothing to change.' }],
      'Send the fields to change.'
    )
  }
  return { assignments, unchanged: sent.filter(([column]) => !changes(column)) }
}

/** Why the fields that were to be unchanged are not. */
export const refuseChanged = (unchanged: readonly Assignment[]) =>
  invalid(
    unchanged.map(([{ name, isPrimary }]) =>
      detail(name, 'readonly', isPrimary ? 'is the key and cannot change' : 'is read-only')
    ),
    'Leave these fields out, or send them as they are stored.'
  )
