import { DomainError } from '../../model/errors.ts'

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

/** Maximum number of steps of a request: about 100 ms, in which other writes wait. */
export const MAX_STEPS = 1_000_000

/** Steps of a unit that does not hold up other units for long: about 1 ms. */
export const MAX_SMALL_STEPS = 10_000

/** A part of the work of an operation. */
export interface Work {
  readonly steps: number
  /** The error for an operation that cannot run alone. undefined: it has too much work, and no index would help. */
  readonly problem?: (() => DomainError) | undefined
}

const inMillions = (steps: number) => (Math.ceil(steps / 10_000) / 100).toLocaleString('en')

/** `hint`: how the largest part of the work becomes smaller. */
export const tooMuchWork = (steps: number, hint: string | undefined) =>
  new DomainError(
    'TOO_MUCH_WORK',
    `The request needs at least ${inMillions(steps)} million steps of the database, and ${inMillions(MAX_STEPS)} million are allowed. Nothing was changed.`,
    { hint: ['Send fewer operations, records or bytes in each request.', hint].filter(Boolean).join(' ') }
  )

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

export type Budget = ReturnType<typeof createBudget>
