import type { BatchOperation, OperationName } from '../../../schemas/batch.ts'
import type { RecordBody } from '../../../schemas/record.ts'
import type { Caller } from '../../model/caller.ts'
import { strongTags } from '../../model/record-tag.ts'
import type { Access } from '../access/access.ts'
import type { createFilteredChanges } from '../change/filtered-changes.ts'
import type { Operation } from '../change/operation.ts'
import type { createOperations } from '../change/operations.ts'
import { type createUpserts, upsertedColumns } from '../change/upserts.ts'
import { inValues } from './errors.ts'
import { type BatchResults, type UsedRecord, usedRecord } from './results.ts'

export interface BatchOperationsOptions {
  readonly operations: ReturnType<typeof createOperations>
  readonly upserts: ReturnType<typeof createUpserts>
  readonly filteredChanges: ReturnType<typeof createFilteredChanges>
}

/** An operation whose result is JSON text. */
export type TextOperation = Operation<string>

interface CompileInput {
  readonly caller: Caller
  readonly access: Access
  readonly input: BatchOperation
  readonly results: BatchResults
  /** The fields of the operation's record that later operations use. */
  readonly usedFields: readonly string[]
}

interface Compiled {
  readonly operation: TextOperation
  /** Only if later operations use the record. */
  readonly record?: UsedRecord | undefined
}

type Compile = (input: CompileInput) => Compiled | Promise<Compiled>

const DONE = '{"success":true}'

const toDone = () => DONE

const toAffected = (count: number) => `{"success":true,"affected":${count}}`

const withResult = <R>(operation: Operation<R>, toText: (result: R) => string): TextOperation => ({
  ...operation,
  result: (results) => toText(operation.result(results))
})

/** Returns the operation that `compile` returns for the values. The paths of its errors begin with `/values`. */
const withValues = <R>(
  { input, results }: CompileInput,
  compile: (values: RecordBody) => Operation<R>
): Operation<R> => {
  try {
    return compile(results.resolveValues(input.values))
  } catch (error) {
    throw inValues(error as Error)
  }
}

const tagsOf = ({ ifMatch }: BatchOperation) => ({ ifMatch: strongTags(ifMatch) })

/** Creates the functions that turn an operation of a batch into statements, by the name of the operation. */
export const createBatchOperations = (options: BatchOperationsOptions): Record<OperationName, Compile> => {
  const { operations, upserts, filteredChanges } = options

  const createOrIgnore = (compileInput: CompileInput): Compiled => {
    const operation = withValues(compileInput, (values) => operations.createOrIgnoreOp(compileInput.access, values))
    return { operation: withResult(operation, (record) => record ?? '{"ignored":true}') }
  }

  const create = (compileInput: CompileInput): Compiled => {
    const { access, input, usedFields } = compileInput
    if (input.onConflict === 'ignore') return createOrIgnore(compileInput)
    const record = usedRecord([...access.columns.values()], usedFields)
    const operation = withValues(compileInput, (values) => operations.createOp(access, values, record?.fields))
    return { operation, record }
  }

  const upsert = async (compileInput: CompileInput): Promise<Compiled> => {
    const { caller, access, input, usedFields } = compileInput
    const key = await upserts.findKey(access, { on: input.on ?? access.table.structure.key, path: '/on' })
    const columns = upsertedColumns(caller, access, input.values as RecordBody)
    const record = usedRecord(columns, usedFields)
    const target = { key, used: record?.fields }
    const operation = withValues(compileInput, (values) => upserts.upsertOp(caller, access, { ...target, values }))
    const toText = ({ created, record }: { created: boolean; record: string }) =>
      `{"created":${created},"record":${record}}`
    return { operation: withResult(operation, toText), record }
  }

  const filteredRecords = ({ access, input: { filter, maxAffected } }: CompileInput) => ({
    condition: filteredChanges.readCondition(access, filter),
    maxAffected: Number(maxAffected)
  })

  const updateFiltered = (compileInput: CompileInput): Compiled => {
    const { access } = compileInput
    const records = filteredRecords(compileInput)
    const operation = withValues(compileInput, (values) => filteredChanges.updateFilteredOp(access, records, values))
    return { operation: withResult(operation, toAffected) }
  }

  const update = (compileInput: CompileInput) => {
    const { access, input, results } = compileInput
    if (input.filter !== undefined) return updateFiltered(compileInput)
    // Outside of `withValues`: an error of the key has its own path.
    const pk = results.resolveKey(access, input.pk)
    const operation = withValues(compileInput, (values) => operations.updateOp(access, pk, values, tagsOf(input)))
    return { operation: withResult(operation, toDone) }
  }

  const deleteFiltered = (compileInput: CompileInput): Compiled => {
    const operation = filteredChanges.deleteFilteredOp(compileInput.access, filteredRecords(compileInput))
    return { operation: withResult(operation, toAffected) }
  }

  const remove = (compileInput: CompileInput) => {
    const { access, input, results } = compileInput
    if (input.filter !== undefined) return deleteFiltered(compileInput)
    const operation = operations.deleteOp(access, results.resolveKey(access, input.pk), tagsOf(input))
    return { operation: withResult(operation, toDone) }
  }

  const increment = ({ access, input, results }: CompileInput): Compiled => {
    const { pk, field, count } = input
    const change = { pk: results.resolveKey(access, pk), field: String(field), ...(count !== undefined && { count }) }
    return { operation: withResult(operations.incrementOp(access, change, tagsOf(input)), toDone) }
  }

  return { create, upsert, update, delete: remove, incr: increment }
}
