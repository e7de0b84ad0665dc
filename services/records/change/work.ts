import { DomainError } from '../../model/errors.ts'
import type { RegisteredTable } from '../../model/table.ts'
import type { RecordChange } from './operation.ts'

/**
 * The work of a request in the writer thread, in steps of about 0.1 µs. The numbers are measured, for the worst values that
 * were found: docs/decisions/0036-work-of-a-request.md.
 */
export const STEPS = {
  /** An operation on one record. */
  operation: 50,
  /** A record that is changed or deleted, with its indexes. */
  row: 50,
  /** A record that is read, and each test of it. */
  visit: 1,
  /** The search for the records that refer to one, by an index. */
  lookup: 20,
  /** A byte that is read, written or deleted. */
  byte: 1 / 16,
  /** A byte of text that a search index takes. */
  indexedByte: 5
}

export const STEPS_IN_MS = 10_000

/** Maximum number of steps of a request: about 100 ms, in which other writes wait. */
export const MAX_STEPS = 1_000_000

/**
 * Maximum number of steps for the bytes of one record. Without it, nobody could change or delete a large record, because SQLite
 * writes the whole record for each change.
 */
export const MAX_STEPS_OF_RECORD = MAX_STEPS / 2

/** Time of a unit: the estimate of one that takes longer was wrong, and it fails. */
export const MAX_UNIT_MS = 500

/** Limit of the measured time of the rows of a unit. It is higher than that of MAX_STEPS, because steps assume the worst case. */
export const MAX_MEASURED_MS = 250

/** Steps of a unit that does not hold up other units for long: about 1 ms. */
export const MAX_SMALL_STEPS = STEPS_IN_MS

/** A part of the work of an operation. */
export interface Work {
  readonly steps: number
  /** The error for an operation that cannot run alone. undefined: it has too much work, and no index would help. */
  readonly problem?: (() => DomainError) | undefined
  /** Rows whose cost is measured when the unit runs. */
  readonly measured?: MeasuredRows
}

/** Rows of a table where a row may cost anything. */
export interface MeasuredRows {
  readonly table: RegisteredTable
  readonly kind: RecordChange['kind']
  readonly rows: number
}

const inMillions = (steps: number) => (Math.ceil(steps / 10_000) / 100).toLocaleString('en')

/** `hint`: how the largest part of the work becomes smaller. */
export const tooMuchWork = (steps: number, hint: string | undefined) =>
  new DomainError(
    'TOO_MUCH_WORK',
    `The request needs at least ${inMillions(steps)} million steps of the database, and ${inMillions(MAX_STEPS)} million are allowed. Nothing was changed.`,
    { hint: ['Send fewer operations, records or bytes in each request.', hint].filter(Boolean).join(' ') }
  )

const inMs = (ms: number) => ms.toLocaleString('en', { maximumSignificantDigits: 2 })

/** Does not name the number of records: a key may see only some of them. `ms`: of a record. */
const takesTooLong = (table: string, ms: number, max: number) =>
  new DomainError(
    'TOO_MUCH_WORK',
    `A record of '${table}' took about ${inMs(ms)} ms in the last changes, because a trigger, an action of a foreign key or an index on an expression runs for it. The request would take more than ${max} ms. Nothing was changed.`,
    { hint: 'Change fewer records in each request.' }
  )

/** Returns the work of rows by their measured cost. `ms`: of a row; undefined if it is not known. `isSingle`: the request has one operation. */
export const measuredWork = (measured: MeasuredRows, ms: number | undefined, isSingle: boolean): Work => {
  if (ms === undefined) return { steps: 0, measured }
  // A single row cannot be divided.
  const max = isSingle && measured.rows === 1 ? MAX_UNIT_MS : MAX_MEASURED_MS
  return {
    steps: (measured.rows * ms * MAX_STEPS) / max,
    problem: () => takesTooLong(measured.table.name, ms, max),
    measured
  }
}

const totalOf = (parts: readonly Work[]) => parts.reduce((sum, { steps }) => sum + steps, 0)

/**
 * Creates the function that adds the parts of an operation to the work of its request. Returns the steps of the request.
 * @throws the error of the largest part if the operation is too much alone; TOO_MUCH_WORK if the request is
 */
export const createBudget = () => {
  let spent = 0
  return (parts: readonly Work[]): number => {
    const steps = totalOf(parts)
    spent += steps
    if (spent <= MAX_STEPS) return spent
    const [largest] = parts.toSorted((a, b) => b.steps - a.steps)
    const problem = largest?.problem?.()
    throw steps > MAX_STEPS && problem ? problem : tooMuchWork(spent, problem?.hint)
  }
}
