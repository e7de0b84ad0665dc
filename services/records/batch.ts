import { type BatchOperation, MAX_OPERATIONS, type OperationName } from '../../schemas/batch.ts'
import type { RecordBody } from '../../schemas/record.ts'
import type { Action } from '../../schemas/token.ts'
import { UnexpectedChanges } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import { DomainError, excerpt, hasCode, invalid, pointer } from '../model/errors.ts'
import { returnedField } from '../sql/records.ts'
import type { createCommit } from './commit.ts'
import { changedInBatch } from './failures.ts'
import type { createFilteredChanges } from './filtered-changes.ts'
import { readKey } from './keys.ts'
import { OperationResult } from './operation-result.ts'
import type { createOperations, Diagnosis, Operation } from './operations.ts'
import type { createUpserts } from './upserts.ts'
import type { View } from './view.ts'

/** The tables of a batch, as its caller sees them. */
export interface BatchTables {
  /** @throws if the caller may not perform all actions on the table */
  open(name: string, actions: readonly Exclude<Action, 'write'>[]): View
  /** Whether the caller may read the records of the table. */
  mayRead(view: View): boolean
}

interface BatchesOptions {
  readonly operations: ReturnType<typeof createOperations>
  readonly upserts: ReturnType<typeof createUpserts>
  readonly filteredChanges: ReturnType<typeof createFilteredChanges>
  readonly commit: ReturnType<typeof createCommit>
}

/** An operation of a batch, whose result is JSON text. */
type TextOperation = Operation<string>

/** An operation whose record later operations can use. */
interface Source {
  readonly view: View
  /** The names of the fields that the unit returns. */
  readonly fields: readonly string[]
  /** The position of the statement that returns them. */
  readonly statement: number
}

const DONE = '{"success":true}'

type Member = Exclude<keyof BatchOperation, 'op' | 'table'>

interface Members {
  readonly needed: readonly Member[]
  readonly optional: readonly Member[]
}

/** Operations that change the record with a key. */
const KEYED: readonly OperationName[] = ['update', 'delete', 'incr']

const FILTERED: readonly Member[] = ['filter', 'maxAffected']

const MEMBERS: Record<OperationName, Members> = {
  create: { needed: ['values'], optional: ['onConflict'] },
  upsert: { needed: ['values'], optional: ['on'] },
  update: { needed: ['pk', 'values'], optional: [] },
  delete: { needed: ['pk'], optional: [] },
  incr: { needed: ['pk', 'field'], optional: ['count'] }
}

/** Members of an update or a delete that has a filter instead of a key. */
const membersOf = ({ op, filter }: BatchOperation): Members => {
  const members = MEMBERS[op]
  if (filter === undefined || (op !== 'update' && op !== 'delete')) return members
  return { ...members, needed: [...members.needed.filter((name) => name !== 'pk'), ...FILTERED] }
}

/** @throws VALIDATION_FAILED for a member that is missing, or that the operation does not have */
const checkMembers = (input: BatchOperation) => {
  const { needed, optional } = membersOf(input)
  const { op, table: _, ...sent } = input
  const missing = needed.filter((name) => sent[name] === undefined)
  const others = Object.keys(sent).filter((name) => ![...needed, ...optional].some((member) => member === name))
  const violations = [
    ...missing.map((name) => ({ path: `/${name}`, code: 'required', message: `'${op}' needs '${name}'.` })),
    ...others.map((name) => ({ path: `/${name}`, code: 'unknown', message: `'${op}' does not take '${name}' here.` }))
  ]
  if (violations.length > 0) throw invalid(violations)
}

const ACTIONS: Record<OperationName, readonly Exclude<Action, 'write'>[]> = {
  create: ['create'],
  upsert: ['create', 'update'],
  update: ['update'],
  delete: ['delete'],
  incr: ['update']
}

/** A filter shows which records match it, so it also needs the action `read`. */
const actionsOf = ({ op, filter }: BatchOperation) =>
  filter === undefined ? ACTIONS[op] : ([...ACTIONS[op], 'read'] as const)

interface ResultInput {
  readonly $result: unknown
  readonly field?: unknown
}

const isResult = (value: unknown): value is ResultInput =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, '$result')

/** Returns the error with the path of the values in front of the paths of its details. */
const inValues = (error: Error) => {
  if (!(error instanceof DomainError)) return error
  const details = error.details?.map((detail) => ({ ...detail, path: `/values${detail.path}` }))
  return new DomainError(error.code, error.message, { ...error, details })
}

/** Returns the error of an operation as that of the batch: the first detail names the operation. */
const atOperation = (error: Error, index: number) => {
  if (!(error instanceof DomainError)) return error
  const path = `/operations/${index}`
  const details = (error.details ?? []).map((detail) => ({ ...detail, path: path + detail.path }))
  const first = { path, code: error.code, message: error.message }
  return new DomainError(error.code, `Operation ${index}: ${error.message}`, { ...error, details: [first, ...details] })
}

/** Returns the fields that later operations use, by the position of the operation that returns them. */
const usedFields = (inputs: readonly BatchOperation[]): ReadonlyMap<unknown, readonly string[]> => {
  const used = new Map<unknown, string[]>()
  for (const { pk, values = {} } of inputs) {
    for (const value of [pk, ...Object.values(values)]) {
      if (!isResult(value) || typeof value.field !== 'string') continue
      const fields = used.get(value.$result) ?? []
      if (!fields.includes(value.field)) fields.push(value.field)
      used.set(value.$result, fields)
    }
  }
  return used
}

/**
 * Returns the cause of a failure of the operation. It was found after the rollback: if the change would succeed then, an
 * earlier operation of the batch has deleted or changed the record.
 */
const causeInBatch = ({ op }: BatchOperation, failure: Error, cause: Error) => {
  const isIgnored = failure instanceof UnexpectedChanges && hasCode(cause, 'CONSTRAINT_VIOLATION')
  return isIgnored && KEYED.includes(op) ? changedInBatch() : cause
}

const tooManyOperations = () =>
  new DomainError('TOO_MANY_OPERATIONS', `A batch has at most ${MAX_OPERATIONS} operations.`, {
    hint: 'Send several batches.'
  })

/** Creates the function that runs a batch of operations in one transaction. */
export const createBatches = ({ operations, upserts, filteredChanges, commit }: BatchesOptions) => {
  /** Turns the operations of one batch into units, in their order. */
  const createCompiler = (caller: Caller, tables: BatchTables, inputs: readonly BatchOperation[]) => {
    const used = usedFields(inputs)
    const sources = new Map<unknown, Source>()
    const changedTables = new Set<string>()
    let statements = 0

    /** @throws VALIDATION_FAILED */
    const resolve = ({ $result, field, ...others }: ResultInput, path: string) => {
      const source = sources.get($result)
      const fail = (message: string) => invalid([{ path, code: 'result', message }])
      if (typeof field !== 'string' || Object.keys(others).length > 0) {
        throw fail('A \'$result\' has the form {"$result": 0, "field": "id"}.')
      }
      if (!source) {
        throw fail("'$result' must be the position of an earlier create or upsert, without `onConflict`.")
      }
      const column = source.view.columns.get(field)
      if (!column) throw fail(`'${excerpt(field)}' is not a field of the record that '$result' names.`)
      const name = returnedField(source.fields.indexOf(field))
      return new OperationResult(column, { statement: source.statement, column: name })
    }

    const resolveValues = (values: RecordBody = {}): RecordBody => {
      if (!Object.values(values).some(isResult)) return values
      const entries = Object.entries(values).map(
        ([name, value]) => [name, isResult(value) ? resolve(value, pointer(name)) : value] as const
      )
      return Object.fromEntries(entries)
    }

    /** Returns the key of the record to change. @throws VALIDATION_FAILED, RECORD_NOT_FOUND */
    const resolveKey = (view: View, pk: unknown) => {
      if (typeof pk === 'string' || typeof pk === 'number') return pk
      if (!isResult(pk)) {
        throw invalid([{ path: '/pk', code: 'type', message: "'pk' must be a string, a number or a `$result`." }])
      }
      const result = resolve(pk, '/pk')
      readKey(view, result)
      return result
    }

    const withValues = <R>(compile: (values: RecordBody) => Operation<R>, { values }: BatchOperation): Operation<R> => {
      try {
        const operation = compile(resolveValues(values))
        const explain = async (...args: Parameters<typeof operation.explain>): Promise<Diagnosis> => {
          const diagnosis = await operation.explain(...args)
          return { ...diagnosis, error: async () => inValues(await diagnosis.error()) }
        }
        return { ...operation, explain }
      } catch (error) {
        throw inValues(error as Error)
      }
    }

    const withResult = <R>(operation: Operation<R>, toText: (result: R) => string): TextOperation => ({
      ...operation,
      result: (results) => toText(operation.result(results))
    })

    const addSource = (index: number, view: View, fields: readonly string[], { unit }: Operation) =>
      sources.set(index, { view, fields, statement: statements + unit.length - 1 })

    const compilers: Record<
      OperationName,
      (view: View, input: BatchOperation, index: number) => TextOperation | Promise<TextOperation>
    > = {
      create: (view, input, index) => {
        if (input.onConflict === 'ignore') {
          const operation = withValues((values) => operations.createOrIgnoreOp(view, values), input)
          return withResult(operation, (record) => record ?? '{"ignored":true}')
        }
        const fields = visibleFields(view, index)
        const operation = withValues((values) => operations.createOp(view, values, { fields }), input)
        addSource(index, view, fields, operation)
        return operation
      },
      upsert: async (view, input, index) => {
        const key = await upserts.findKey(view, input.on ?? view.table.structure.key)
        const options = { fields: visibleFields(view, index), mayRead: tables.mayRead(view) }
        const operation = withValues((values) => upserts.upsertOp(view, key, values, options), input)
        addSource(index, view, options.fields, operation)
        return withResult(operation, ({ created, record }) => `{"created":${created},"record":${record}}`)
      },
      update: async (view, input) => {
        if (input.filter === undefined) {
          const pk = resolveKey(view, input.pk)
          return withResult(
            withValues((values) => operations.updateOp(view, pk, values), input),
            () => DONE
          )
        }
        const records = await filteredRecords(view, input)
        return withResult(
          withValues((values) => filteredChanges.updateFilteredOp(view, records, values), input),
          affected
        )
      },
      delete: async (view, input) => {
        if (input.filter === undefined) {
          return withResult(operations.deleteOp(view, resolveKey(view, input.pk)), () => DONE)
        }
        return withResult(filteredChanges.deleteFilteredOp(view, await filteredRecords(view, input)), affected)
      },
      incr: (view, { pk, field = '', count }) => {
        const increment = { pk: resolveKey(view, pk), field, ...(count !== undefined && { count }) }
        return withResult(operations.incrementOp(view, increment), () => DONE)
      }
    }

    const visibleFields = (view: View, index: number) =>
      (used.get(index) ?? []).filter((field) => view.columns.has(field))

    const filteredRecords = async (view: View, { filter, maxAffected = 0 }: BatchOperation) => ({
      condition: await filteredChanges.readCondition(caller, view, filter),
      maxAffected
    })

    const affected = (count: number) => `{"success":true,"affected":${count}}`

    /** @throws the error of the operation, with its position */
    return async (input: BatchOperation, index: number): Promise<TextOperation> => {
      try {
        checkMembers(input)
        const view = tables.open(input.table, actionsOf(input))
        const operation = await compilers[input.op](view, input, index)
        statements += operation.unit.length
        const isChanged = changedTables.has(view.table.name)
        changedTables.add(view.table.name)
        const explain: typeof operation.explain = async (by, failure) => {
          const { mayRetry, error } = await operation.explain(by, failure)
          const cause = async () => (isChanged ? causeInBatch(input, failure.error, await error()) : await error())
          return { mayRetry, error: async () => atOperation(await cause(), index) }
        }
        return { ...operation, explain }
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
    for (const [index, input] of inputs.entries()) compiled.push(await compile(input, index))
    // An operation may have waited until its table was counted.
    await caller.confirm()
    return commit(caller, compiled)
  }
}
