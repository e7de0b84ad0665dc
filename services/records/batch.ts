import { setImmediate as nextTick } from 'node:timers/promises'
import { type BatchOperation, MAX_OPERATIONS } from '../../schemas/batch.ts'
import type { Caller } from '../model/caller.ts'
import { DomainError } from '../model/errors.ts'
import { atOperation, withErrors } from './batch-errors.ts'
import { actionsOf, checkMembers, type TableAction } from './batch-members.ts'
import { type BatchOperationsOptions, createBatchOperations, type TextOperation } from './batch-operations.ts'
import { createBatchResults } from './batch-results.ts'
import type { createCommit } from './commit.ts'
import { changedInBatch } from './failures.ts'
import type { Diagnosis } from './operations.ts'
import type { View } from './view.ts'

/** The tables of a batch, as its caller sees them. */
export interface BatchTables {
  /** @throws if the caller may not perform all actions on the table */
  open(name: string, actions: readonly TableAction[]): View
}

interface BatchesOptions extends BatchOperationsOptions {
  readonly commit: ReturnType<typeof createCommit>
}

/** Operations that are compiled before other requests run: about 0.5 ms. */
const OPERATIONS_PER_TICK = 100

const tooManyOperations = () =>
  new DomainError('TOO_MANY_OPERATIONS', `A batch has at most ${MAX_OPERATIONS} operations.`, {
    hint: 'Send several batches.'
  })

/** A condition may also fail because an earlier operation of the batch changed the record. */
const errorOf = ({ ifMatch }: BatchOperation, diagnosis: Diagnosis) =>
  ifMatch !== undefined && diagnosis.mayRetry ? changedInBatch() : diagnosis.error()

/** Creates the function that runs a batch of operations in one transaction. */
export const createBatches = ({ commit, ...options }: BatchesOptions) => {
  const compilers = createBatchOperations(options)

  /** Creates the function that turns the operations of one batch into statements, in their order. */
  const createCompiler = (caller: Caller, tables: BatchTables, inputs: readonly BatchOperation[]) => {
    const results = createBatchResults(inputs)
    /** @throws the error of the operation, with its position */
    return async (input: BatchOperation, index: number): Promise<TextOperation> => {
      try {
        checkMembers(input)
        const view = tables.open(input.table, actionsOf(input))
        const usedFields = results.usedFieldsOf(index)
        const { operation, record } = await compilers[input.op]({ caller, view, input, results, usedFields })
        results.add(index, operation.unit.length, record)
        return withErrors(operation, async (diagnosis) => atOperation(await errorOf(input, diagnosis), index))
      } catch (error) {
        throw atOperation(error as Error, index)
      }
    }
  }

  /**
   * Runs operations in one transaction. Returns the result of each as JSON text.
   * @throws the error of the first operation that fails; in this case no operation has had an effect
   */
  return async (caller: Caller, tables: BatchTables, inputs: readonly BatchOperation[]): Promise<readonly string[]> => {
    if (inputs.length > MAX_OPERATIONS) throw tooManyOperations()
    const compile = createCompiler(caller, tables, inputs)
    const compiled: TextOperation[] = []
    for (const [index, input] of inputs.entries()) {
      if (index > 0 && index % OPERATIONS_PER_TICK === 0) await nextTick()
      compiled.push(await compile(input, index))
    }
    return commit(caller, compiled)
  }
}
