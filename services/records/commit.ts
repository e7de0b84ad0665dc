import { type Database, UnexpectedChanges, type WriteResult } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import { DomainError } from '../model/errors.ts'
import type { Statement, Unit } from '../sql/statement.ts'
import type { Diagnosis, Operation } from './operations.ts'
import type { Totals } from './totals.ts'

interface CommitOptions {
  readonly db: Database
  readonly totals: Totals
}

type Results<T extends readonly Operation[]> = { [K in keyof T]: T[K] extends Operation<infer R> ? R : never }

type Outcome = { readonly results: readonly WriteResult[] } | { readonly diagnosis: Diagnosis }

/** Returns the statements of all operations. A loop: `flatMap` cost an update 3 % of its throughput. */
const unitOf = (operations: readonly Operation[]): Unit => {
  const statements: Statement[] = []
  for (const { unit } of operations) statements.push(...unit)
  return statements
}

/** Prefixes the details of an error with the path of its operation in the batch: `/operations/2/name`. */
const atOperation = (error: Error, index: number) => {
  if (!(error instanceof DomainError)) return error
  const { code, message, hint, retryAfter, statement, etag, details = [{ path: '', code: 'failed', message }] } = error
  const located = details.map((detail) => ({ ...detail, path: `/operations/${index}${detail.path}` }))
  return new DomainError(code, message, { details: located, hint, retryAfter, statement, etag })
}

/** Returns the position of the statement that failed in the unit, from 0; undefined if BEGIN or COMMIT failed. */
const failedStatement = (error: Error): number | undefined =>
  error instanceof UnexpectedChanges || error instanceof DomainError ? error.statement : undefined

/** Returns the operation that a statement of the whole unit belongs to, and the statement's position in it. */
const locate = (operations: readonly Operation[], position: number) => {
  let statement = position
  for (const [index, operation] of operations.entries()) {
    if (statement < operation.unit.length) return { operation, index, statement }
    statement -= operation.unit.length
  }
  throw new Error(`The unit has no statement ${position}.`)
}

const diagnoseBatch = async (caller: Caller, operations: readonly Operation[], error: Error): Promise<Diagnosis> => {
  const position = failedStatement(error)
  if (position === undefined) return { mayRetry: false, error: () => error }
  const { operation, index, statement } = locate(operations, position)
  const diagnosis = await operation.explain(caller, { error, statement })
  return { ...diagnosis, error: async () => atOperation(await diagnosis.error(), index) }
}

const diagnose = (caller: Caller, operations: readonly Operation[], error: Error) => {
  const [only, ...others] = operations
  return only && others.length === 0
    ? only.explain(caller, { error, statement: failedStatement(error) })
    : diagnoseBatch(caller, operations, error)
}

const resultsOf = <T extends readonly Operation[]>(operations: T, results: readonly WriteResult[]) => {
  let end = 0
  // TypeScript cannot type the elements of a mapped tuple one by one. This is the boundary function.
  return operations.map(({ unit, result }) => {
    end += unit.length
    return result(results.slice(end - unit.length, end))
  }) as Results<T>
}

/**
 * Creates the function that runs operations in one transaction and returns their results, one for each. If a
 * statement matches no row although its record exists now, the record was inserted concurrently: the unit is retried
 * once, after the caller's right has been checked again.
 */
export const createCommit = ({ db, totals }: CommitOptions) => {
  const attempt = async (caller: Caller, operations: readonly Operation[]): Promise<Outcome> => {
    try {
      return { results: await totals.track(operations, db.write(unitOf(operations))) }
    } catch (error) {
      return { diagnosis: await diagnose(caller, operations, error as Error) }
    }
  }

  /** @throws the error of the failed operation; in this case no operation has had an effect */
  return async <const T extends readonly Operation[]>(caller: Caller, operations: T): Promise<Results<T>> => {
    let outcome = await attempt(caller, operations)
    if ('diagnosis' in outcome && outcome.diagnosis.mayRetry) {
      await caller.confirm()
      outcome = await attempt(caller, operations)
    }
    if ('diagnosis' in outcome) throw await outcome.diagnosis.error()
    return resultsOf(operations, outcome.results)
  }
}
