import { setImmediate as nextTick } from 'node:timers/promises'
import { type BatchOperation, MAX_OPERATIONS } from '../../../schemas/batch.ts'
import { UnexpectedChanges } from '../../engine/database.ts'
import type { TableAction } from '../../model/actions.ts'
import type { Caller } from '../../model/caller.ts'
import { DomainError, hasCode } from '../../model/errors.ts'
import type { Access } from '../access/access.ts'
import type { createCommit } from '../change/commit.ts'
import type { OperationFailure } from '../change/operation.ts'
import { changedInBatch, tagChangedInBatch } from '../failures.ts'
import { atOperation, inValues, withErrors } from './errors.ts'
import { actionsOf, checkMembers, takesKey } from './members.ts'
import { type BatchOperationsOptions, createBatchOperations, type TextOperation } from './operations.ts'
import { createBatchResults } from './results.ts'

/** The tables of a batch, as its caller sees them. */
export interface BatchTables {
  /** @throws if the caller may not perform all actions on the table */
  open(name: string, actions: readonly TableAction[]): Access
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

/**
 * Returns the cause of a failure of the operation. It was found after the rollback: if the change would succeed then, an
 * earlier operation of the batch has deleted or changed the record.
 */
const causeInBatch = ({ op, ifMatch }: BatchOperation, { error }: OperationFailure, cause: Error) => {
  const isIgnored = error instanceof UnexpectedChanges && hasCode(cause, 'CONSTRAINT_VIOLATION')
  if (!isIgnored || !takesKey(op)) return cause
  return ifMatch === undefined ? changedInBatch() : tagChangedInBatch()
}

/** Creates the function that runs a batch of operations in one transaction. */
export const createBatches = ({ commit, ...options }: BatchesOptions) => {
  const compilers = createBatchOperations(options)

  /** Creates the function that turns the operations of one batch into statements, in their order. */
  const createCompiler = (caller: Caller, tables: BatchTables, inputs: readonly BatchOperation[]) => {
    const results = createBatchResults(inputs)
    const changedTables = new Set<string>()
    /** @throws the error of the operation, with its position */
    return async (input: BatchOperation, index: number): Promise<TextOperation> => {
      try {
        checkMembers(input)
        const access = tables.open(input.table, actionsOf(input))
        const usedFields = results.usedFieldsOf(index)
        const compiled = compilers[input.op]({ caller, access, input, results, usedFields })
        // Without the await for most operations, a batch of 1,000 takes less memory for promises.
        const { operation, record } = compiled instanceof Promise ? await compiled : compiled
        if (record) results.add(index, record)
        const isChanged = changedTables.has(access.table.name)
        changedTables.add(access.table.name)
        return withErrors(operation, (cause, failure) => {
          const inInput = input.values === undefined ? cause : inValues(cause)
          return atOperation(isChanged ? causeInBatch(input, failure, inInput) : inInput, index)
        })
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
    // An operation may have waited for a read.
    await caller.confirm()
    return commit(caller, compiled)
  }
}
