import type { ErrorDetail } from '../../schemas/error.ts'
import type { RecordBody } from '../../schemas/record.ts'
import { DomainError, excerpt, type Fault, invalid, MAX_DETAILS, pointer } from '../model/errors.ts'
import type { Checked } from '../model/kinds/kind.ts'
import { kindOf } from '../model/kinds/kind-of.ts'
import { type Column, type RegisteredTable, TIMESTAMPS } from '../model/table.ts'
import { checkValue } from '../model/values.ts'
import { keyTexts, MAX_KEY_LENGTH } from '../sql/keys.ts'
import type { Assignment } from '../sql/records.ts'
import type { View } from './view.ts'

const READ_ONLY: Fault = { code: 'readonly', message: 'is read-only' }
const UNCHANGED_HINT = 'Leave these fields out, or send them as they are stored.'

const detail = (name: string, { code, message, below = '' }: Fault): ErrorDetail => ({
  path: pointer(name) + below,
  code,
  message: `'${name}${below}' ${message}.`
})

const checkNull = ({ structure }: RegisteredTable, column: Column): Checked => {
  const mayBeNull = column.isPrimary ? structure.isRowidKey : column.nullable
  return mayBeNull ? { value: null } : { fault: { code: 'required', message: 'must not be null' } }
}

const check = (table: RegisteredTable, column: Column, value: unknown): Checked => {
  if (value === null) return checkNull(table, column)
  const checked = checkValue(column, value)
  const isLongKey = column.isPrimary && typeof value === 'string' && value.length > MAX_KEY_LENGTH
  return isLongKey ? { fault: { code: 'length', message: `must have ${MAX_KEY_LENGTH} characters at most` } } : checked
}

/** Checks every key of a body against the visible columns; as many faults as an answer tells are reported together. */
const readBody = (view: View, body: RecordBody) => {
  const assignments: Assignment[] = []
  const faults: ErrorDetail[] = []
  for (const [name, value] of Object.entries(body)) {
    if (faults.length === MAX_DETAILS) break
    // A key of this name would vanish from every JavaScript object that it is copied to.
    const column = name === '__proto__' ? undefined : view.columns.get(name)
    if (!column) {
      faults.push(detail(excerpt(name), { code: 'unknown', message: 'is no field of this table' }))
      continue
    }
    const checked = check(view.table, column, value)
    if ('fault' in checked) faults.push(detail(name, checked.fault))
    else assignments.push([column, checked.value])
  }
  if (faults.length > 0) throw invalid(faults)
  return assignments
}

const requireFields = ({ required, columns }: View, assignments: readonly Assignment[]) => {
  const missing = required.filter((column) => !assignments.some(([sent]) => sent === column))
  const visible = missing.filter(({ name }) => columns.has(name))
  if (visible.length > 0) {
    throw invalid(visible.map(({ name }) => detail(name, { code: 'required', message: 'is required' })))
  }
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
  const refused = assignments.filter(([column]) => column.isReadonly)
  if (refused.length > 0) {
    throw invalid(refused.map(([{ name }]) => detail(name, READ_ONLY)))
  }
  requireFields(view, assignments)
  return [...assignments, ...timestamps(view.table, now)]
}

interface Changes {
  readonly assignments: readonly Assignment[]
  /** Fields that cannot change and were sent: tolerated where they are what is stored. */
  readonly unchanged: readonly Assignment[]
}

/** A key has one spelling, so the parts that were sent are those of the path, or others. */
const refuseOtherKey = ({ table }: View, pk: string, sent: readonly Assignment[]) => {
  const texts = keyTexts(table.structure, pk)
  const others = sent.filter(
    ([column, value]) => column.isPrimary && texts.get(column.name) !== kindOf(column).keyText(value)
  )
  if (others.length === 0) return
  throw invalid(
    others.map(([{ name }]) => detail(name, { code: 'readonly', message: 'is the key and cannot change' })),
    UNCHANGED_HINT
  )
}

/**
 * What an update of the record with this key stores.
 * @throws VALIDATION_FAILED with every fault, for another key, or when there is nothing to change
 */
export const readChanges = (view: View, pk: string, body: RecordBody): Changes => {
  const sent = readBody(view, body)
  refuseOtherKey(view, pk, sent)
  const changes = (column: Column) => !column.isPrimary && !column.isReadonly
  const assignments = sent.filter(([column]) => changes(column))
  if (assignments.length === 0) {
    throw invalid(
      [{ path: '', code: 'required', message: 'There is nothing to change.' }],
      'Send the fields to change.'
    )
  }
  // The other parts of the key are what is stored, or they would have been refused.
  const unchanged = sent.filter(([column]) => (column.isPrimary ? kindOf(column).isUntyped : column.isReadonly))
  return { assignments, unchanged }
}

/**
 * Why fields that were to be unchanged are refused: one sentence for all of them, since a write that met no row does
 * not tell which of them differ from what is stored.
 */
export const refuseChanged = (unchanged: readonly Assignment[]) => {
  const [first, ...others] = unchanged.map(([{ name }]) => name)
  if (others.length === 0) return invalid([detail(String(first), READ_ONLY)], UNCHANGED_HINT)
  const names = unchanged.map(([{ name }]) => `'${name}'`).join(', ')
  const message = `${names} cannot change, and not all of them are as they are stored.`
  return invalid([{ path: '', code: READ_ONLY.code, message }], UNCHANGED_HINT)
}
