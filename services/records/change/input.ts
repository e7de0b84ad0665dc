import type { ErrorDetail } from '../../../schemas/error.ts'
import type { RecordBody } from '../../../schemas/record.ts'
import { suggestName } from '../../../schemas/similar-names.ts'
import { excerpt, invalid, MAX_DETAILS, pointer, type Violation } from '../../model/errors.ts'
import { kindOf } from '../../model/kinds/kind-of.ts'
import { type Column, type RegisteredTable, TIMESTAMPS, type TimeDefault } from '../../model/table.ts'
import { checkValue } from '../../model/values.ts'
import { keyTexts, MAX_KEY_LENGTH } from '../../sql/keys.ts'
import type { Assignment, UnitAssignment } from '../../sql/records.ts'
import { isValue, type Param } from '../../sql/statement.ts'
import type { Access } from '../access/access.ts'
import { checkResult, ResultReference } from '../access/result-reference.ts'
import { hiddenFieldsRequired } from '../failures.ts'
import { readIncrement } from './increments.ts'

const READ_ONLY: Violation = { code: 'readonly', message: 'is read-only' }
const UNCHANGED_HINT = 'Leave these fields out, or send their stored values.'
const NOT_COMPARED_HINT = 'Leave these fields out. Only a caller that may read the record can send them.'

const detail = (name: string, { code, message, subPath = '' }: Violation): ErrorDetail => ({
  path: pointer(name) + subPath,
  code,
  message: `'${name}${subPath}' ${message}.`
})

/** The value to store, or the reason why it is invalid. */
type CheckedParam = { readonly value: Param } | { readonly violation: Violation }

const checkNull = ({ structure }: RegisteredTable, column: Column): CheckedParam => {
  const mayBeNull = column.isPrimary ? structure.isRowidKey : column.nullable
  return mayBeNull ? { value: null } : { violation: { code: 'required', message: 'must not be null' } }
}

const check = ({ table, integers }: Access, column: Column, value: unknown): CheckedParam => {
  if (value === null) return checkNull(table, column)
  if (value instanceof ResultReference) return checkResult(column, value)
  const isLongKey = column.isPrimary && typeof value === 'string' && value.length > MAX_KEY_LENGTH
  const tooLong = { code: 'length', message: `must have at most ${MAX_KEY_LENGTH} characters` }
  return isLongKey ? { violation: tooLong } : checkValue(column, value, integers)
}

/** `pk`: null if the change is of no record with a known key. */
const incrementHint = ({ table }: Access, increment: object, pk: string | null) => {
  const path = `/data/${encodeURIComponent(table.name)}/records/${encodeURIComponent(pk ?? ':pk')}/incr`
  return `To add to a number, use POST ${path} with ${JSON.stringify(increment)}, or \`incr\` in a batch.`
}

/** Returns a hint for the first field that the table does not have: more would take too long in a wide table. */
const suggestField = (access: Access, body: RecordBody, pk: string | null) => {
  const { accepted } = access
  const unknown = Object.keys(body).find((name) => !accepted.has(name))
  if (unknown === undefined) return undefined
  const increment = readIncrement(access, unknown, body[unknown])
  return increment ? incrementHint(access, increment, pk) : suggestName(unknown, accepted.keys())
}

/**
 * Returns the value of each field of a body. `pk`: of the record that the body changes; null if it is not known.
 * @throws VALIDATION_FAILED with the first `MAX_DETAILS` violations
 */
const readBody = (access: Access, body: RecordBody, pk: string | null = null) => {
  const assignments: UnitAssignment[] = []
  const violations: ErrorDetail[] = []
  for (const name of Object.keys(body)) {
    const value = body[name]
    if (violations.length === MAX_DETAILS) break
    // Assigning to `__proto__` sets no own property, so a field of this name would be lost in a copy.
    const column = name === '__proto__' ? undefined : access.accepted.get(name)
    if (!column) {
      violations.push(detail(excerpt(name), { code: 'unknown', message: 'is not a field of this table' }))
      continue
    }
    const checked = check(access, column, value)
    if ('violation' in checked) violations.push(detail(name, checked.violation))
    else assignments.push([column, checked.value])
  }
  if (violations.length > 0) throw invalid(violations, suggestField(access, body, pk))
  return assignments
}

const requireFields = ({ required, accepted }: Access, assignments: readonly UnitAssignment[]) => {
  const missing = required.filter((column) => !assignments.some(([sent]) => sent === column))
  if (missing.length === 0) return
  const visible = missing.filter(({ name }) => accepted.has(name))
  if (visible.length > 0) {
    throw invalid(visible.map(({ name }) => detail(name, { code: 'required', message: 'is required' })))
  }
  throw hiddenFieldsRequired()
}

/** Each node of a cluster would compute its own time. */
const timesOf = (defaults: readonly TimeDefault[], sent: readonly UnitAssignment[], now: number) =>
  defaults
    .filter(({ column }) => !sent.some((assignment) => assignment[0].name === column.name))
    .map(({ column, valueAt }): UnitAssignment => [column, valueAt(now)])

const timestamps = ({ table: { structure }, presetColumns }: Access, now: number): UnitAssignment[] => {
  if (!structure.autoTimestamps) return []
  return structure.columns
    .filter((column) => TIMESTAMPS.includes(column.name) && !presetColumns.has(column))
    .map((column) => [column, BigInt(now)])
}

/** Returns the values of a new record. @throws VALIDATION_FAILED, CONSTRAINT_VIOLATION for a required hidden field */
export const readNewRecord = (access: Access, body: RecordBody, now: number): readonly UnitAssignment[] => {
  const assignments = readBody(access, body)
  const readOnly = assignments.filter(([column]) => !access.writable.has(column))
  if (readOnly.length > 0) throw invalid(readOnly.map(([{ name }]) => detail(name, READ_ONLY)))
  requireFields(access, assignments)
  const complete = [...assignments, ...access.presets, ...timestamps(access, now)]
  const { timeDefaults } = access.table
  return timeDefaults ? [...complete, ...timesOf(timeDefaults, complete, now)] : complete
}

interface Changes {
  readonly assignments: readonly UnitAssignment[]
  /** Fields that cannot change. They may be sent if they have their stored values. */
  readonly unchanged: readonly Assignment[]
}

const isKnown = (assignment: UnitAssignment): assignment is Assignment => isValue(assignment[1])

/** Compares texts: each value of a key has one canonical text. `pk`: null if it is not known yet. */
const refuseOtherKey = ({ table }: Access, pk: string | null, sent: readonly UnitAssignment[]) => {
  const texts = keyTexts(table.structure, pk ?? '')
  const isSame = ([column, value]: UnitAssignment) =>
    pk !== null && isValue(value) && texts.get(column.name) === kindOf(column).keyText(value)
  const others = sent.filter((assignment) => assignment[0].isPrimary && !isSame(assignment))
  if (others.length === 0) return
  throw invalid(
    others.map(([{ name }]) => detail(name, { code: 'readonly', message: 'is the key and cannot change' })),
    UNCHANGED_HINT
  )
}

/** Returns the error for an update without a field that can change. It names the read-only fields that were sent. */
const nothingToChange = ({ writable }: Access, sent: readonly UnitAssignment[]) => {
  const readOnly = sent.filter(([column]) => !writable.has(column) && !column.isPrimary)
  const nothing = { path: '', code: 'required', message: 'There is nothing to change.' }
  const details = readOnly.length > 0 ? readOnly.map(([{ name }]) => detail(name, READ_ONLY)) : [nothing]
  return invalid(details, 'Send the fields to change.')
}

/**
 * Returns the values that an update stores in the record with this key. `pk`: null if it is not known yet.
 * @throws VALIDATION_FAILED, also for another key and for a body without a change
 */
export const readChanges = (access: Access, pk: string | null, body: RecordBody): Changes => {
  const sent = readBody(access, body, pk)
  refuseOtherKey(access, pk, sent)
  const canChange = (column: Column) => !column.isPrimary && access.writable.has(column)
  const assignments = sent.filter(([column]) => canChange(column))
  if (assignments.length === 0) throw nothingToChange(access, sent)
  // `refuseOtherKey` has compared the key. Only an untyped part has more than one stored value with the same text.
  const unchanged = sent.filter(([column]) =>
    column.isPrimary ? kindOf(column).isUntyped : !access.writable.has(column)
  )
  const unknown = unchanged.filter((assignment) => !isKnown(assignment) || !access.mayCompare)
  if (unknown.length > 0)
    throw invalid(
      unknown.map(([{ name }]) => detail(name, READ_ONLY)),
      access.mayCompare ? UNCHANGED_HINT : NOT_COMPARED_HINT
    )
  return { assignments, unchanged: unchanged.filter(isKnown) }
}

/** Returns the values that an update of several records stores. @throws VALIDATION_FAILED, also for a field of the key */
export const readAssignments = (access: Access, body: RecordBody): readonly UnitAssignment[] => {
  const sent = readBody(access, body)
  const fixed = sent.filter(([column]) => column.isPrimary || !access.writable.has(column))
  if (fixed.length > 0) throw invalid(fixed.map(([{ name }]) => detail(name, READ_ONLY)))
  if (sent.length === 0) throw nothingToChange(access, sent)
  return sent
}

/**
 * Returns the error for an update that matched no row because a field in `unchanged` has another stored value. One
 * detail names all of them: the update does not report which field differs.
 */
export const refuseChanged = (unchanged: readonly Assignment[]) => {
  const [first, ...others] = unchanged.map(([{ name }]) => name)
  if (others.length === 0) return invalid([detail(String(first), READ_ONLY)], UNCHANGED_HINT)
  const names = unchanged.map(([{ name }]) => `'${name}'`).join(', ')
  const message = `${names} cannot change, and at least one of them differs from its stored value.`
  return invalid([{ path: '', code: READ_ONLY.code, message }], UNCHANGED_HINT)
}
