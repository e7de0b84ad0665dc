import { setImmediate as nextTick } from 'node:timers/promises'
import { type Database, StaleMemory, UnexpectedChanges, type WriteResult } from '../../engine/database.ts'
import { sizeOf } from '../../engine/shared/size.ts'
import type { Caller } from '../../model/caller.ts'
import { DomainError, hasCode, tableChanged } from '../../model/errors.ts'
import { recordTag } from '../../model/record-tag.ts'
import type { Registration } from '../../model/table.ts'
import { isValue, type Param, RecordTags, type Statement, type Unit, type UnitOptions } from '../../sql/statement.ts'
import { toUnit } from '../../sql/unit-values.ts'
import { tableKeepsChanging } from '../../tables/failures.ts'
import { assertSameRecords } from '../../tables/token-access.ts'
import type { Totals } from '../read/totals.ts'
import type { Diagnosis, Operation, ResultReader } from './operation.ts'
import { LARGE_RECORD, type RecordSizes } from './record-sizes.ts'
import { measureResults } from './results-size.ts'
import type { RowCosts } from './row-costs.ts'
import { usedMemory } from './used-memory.ts'
import { createBudget, MAX_SMALL_STEPS, MAX_UNIT_MS, type MeasuredRows, STEPS_IN_MS } from './work.ts'
import type { WorkEstimates } from './work-estimates.ts'

interface CommitOptions {
  readonly db: Database
  readonly totals: Totals
  readonly estimate: WorkEstimates
  readonly rowCosts: RowCosts
  readonly recordSizes: RecordSizes
  readonly allTables: () => readonly Registration[]
}

/** The results of operations, one for each. */
export type Results<T extends readonly ResultReader[]> = {
  [K in keyof T]: T[K] extends ResultReader<infer R> ? R : never
}

/** `parts`: the results of each operation. */
type Outcome = { readonly parts: readonly (readonly WriteResult[])[] } | { readonly diagnosis: Diagnosis }

/** Statements of a unit that does not hold up other units for long. */
const MAX_SMALL_UNIT = 50
/** Characters and bytes of the values of such a unit. */
const MAX_SMALL_SIZE = 256 * 1024
/** Operations that are estimated before other requests run. */
const ESTIMATES_PER_TICK = 50

/** Maximum number of retries of a request whose table, role or token other services keep changing. */
const MAX_STALE_RETRIES = 10

const LIMITED: UnitOptions = { maxMs: MAX_UNIT_MS }
const UNLIMITED: UnitOptions = {}

/** Returns the statements of all operations. A loop: `flatMap` cost an update 3 % of its throughput. */
const statementsOf = (operations: readonly Operation[]) => {
  const statements: Statement<Param>[] = []
  for (const { unit } of operations) statements.push(...unit)
  return statements
}

const sizeOfUnit = (unit: Unit<Param>) => unit.reduce((sum, { params }) => sum + sizeOf(params), 0)

const isTags = (param: Param) => param instanceof RecordTags

/** The parts of a file adapt to the time that they take. */
const isPartOfFile = ({ change }: Operation) => change?.kind === 'import' && change.size === null

const isOfOneTable = (operations: readonly Operation[]) =>
  new Set(operations.flatMap(({ table }) => (table ? [table.id] : []))).size === 1

/** Returns the rows of all parts; null if they are of several kinds of change, whose times are not known apart. */
const together = (parts: readonly MeasuredRows[]): MeasuredRows | null => {
  const [first, ...others] = parts
  if (!first || others.some(({ kind }) => kind !== first.kind)) return null
  return { ...first, rows: others.reduce((sum, { rows }) => sum + rows, first.rows) }
}

/** What is known of the work of a unit before it runs. */
interface Estimate {
  readonly steps: number
  /** null: the time of the unit shows no cost of a row. */
  readonly measured: MeasuredRows | null
  /** Milliseconds of the unit for its other work, such as a filter that reads many records. */
  readonly otherMs: number
}

/** Returns the position of the statement that failed in the unit, from 0; undefined if BEGIN or COMMIT failed. */
const failedStatement = (error: Error): number | undefined =>
  error instanceof UnexpectedChanges || error instanceof DomainError ? error.statement : undefined

/** Returns the operation that a statement of the whole unit belongs to, and the statement's position in it. */
const locate = (operations: readonly Operation[], position: number) => {
  let statement = position
  for (const operation of operations) {
    if (statement < operation.unit.length) return { operation, statement }
    statement -= operation.unit.length
  }
  throw new Error(`The unit has no statement ${position}.`)
}

const diagnose = async (caller: Caller, operations: readonly Operation[], error: Error): Promise<Diagnosis> => {
  const position = failedStatement(error)
  if (position !== undefined) {
    const { operation, statement } = locate(operations, position)
    return operation.explain(caller, { error, statement })
  }
  const [only, ...others] = operations.filter(({ table }) => table !== null)
  if (only && others.length === 0) return only.explain(caller, { error, statement: position })
  return { mayRetry: false, error: () => error }
}

/**
 * Creates the function that runs operations in one transaction and returns their results, one for each. If a
 * statement matches no row although its record exists now, the record was inserted concurrently: the unit is retried
 * once, after the caller's right has been checked again.
 */
export const createCommit = ({ db, totals, estimate, rowCosts, recordSizes, allTables }: CommitOptions) => {
  /**
   * Returns the estimate of the operations together.
   * @throws TOO_MUCH_WORK, FILTER_NOT_INDEXED, REFERENCE_NOT_INDEXED; on a cluster also RESULTS_TOO_LARGE
   */
  const estimateAll = async (caller: Caller, operations: readonly Operation[]): Promise<Estimate> => {
    const spend = createBudget()
    const isSingle = operations.filter(({ table }) => table !== null).length === 1
    const request = { caller, isSingle, changed: new Map(), counted: new Map() }
    const addResult = db.replication ? await measureResults(db, operations) : undefined
    const measured: MeasuredRows[] = []
    let steps = 0
    let otherSteps = 0
    let reads = 0
    for (const operation of operations) {
      const estimated = estimate(request, operation)
      if (estimated instanceof Promise && ++reads % ESTIMATES_PER_TICK === 0) await nextTick()
      try {
        addResult?.(operation)
        const works = estimated instanceof Promise ? await estimated : estimated
        steps = spend(works)
        for (const work of works) {
          if (work.measured) measured.push(work.measured)
          else otherSteps += work.steps
        }
      } catch (error) {
        const diagnosis = await operation.explain(caller, { error: error as Error, statement: undefined })
        throw await diagnosis.error()
      }
    }
    if (reads > 0) await caller.confirm()
    // The time of other tables must not count as the cost of this one.
    const shown = measured.length > 0 && isOfOneTable(operations) ? together(measured) : null
    return { steps, measured: shown, otherMs: otherSteps / STEPS_IN_MS }
  }

  /** Returns the compared texts that have the tags. The key of an earlier operation's result is not known yet: none has. */
  const readTexts = async ({ tags, read: { sql, params } }: RecordTags) => {
    const rows = params.every(isValue) ? await db.read({ sql, params }) : []
    const matching = rows.filter(({ record }) => tags.includes(recordTag(String(record))))
    return JSON.stringify(matching.map(({ compared }) => compared))
  }

  const withTexts = async (statement: Statement<Param>): Promise<Statement<Param>> => {
    if (!statement.params.some(isTags)) return statement
    const params = statement.params.map((param) => (param instanceof RecordTags ? readTexts(param) : param))
    return { ...statement, params: await Promise.all(params) }
  }

  const unitOf = async (operations: readonly Operation[]): Promise<Unit> => {
    const statements = statementsOf(operations)
    return toUnit(await Promise.all(statements.map(withTexts)))
  }

  /** @throws TABLE_CHANGED if another service has changed a table since the operations were made */
  const assertSameTables = (operations: readonly Operation[]) => {
    const tables = allTables()
    for (const { table } of operations) {
      if (!table) continue
      const now = tables.find(({ id }) => id === table.id)
      if (!now?.structure) throw tableChanged(table.name)
      assertSameRecords(table, now)
    }
  }

  /** `ms`: absent on a cluster. */
  const addCost = ({ measured, otherMs }: Estimate, ms: number | undefined) => {
    if (!measured || ms === undefined) return
    rowCosts.add(measured.table, measured.kind, { rows: measured.rows, ms: Math.max(0, ms - otherMs) })
  }

  const addSizes = (operations: readonly Operation[]) => {
    for (const { table, unit } of operations) if (table) recordSizes.add(table, sizeOfUnit(unit))
  }

  /** An import stores records of unknown sizes. */
  const forgetSizes = (operations: readonly Operation[]) => {
    for (const { table, change } of operations) if (table && change?.kind === 'import') recordSizes.clear(table)
  }

  const attempt = async (
    caller: Caller,
    operations: readonly Operation[],
    estimated: Estimate,
    retries = 0
  ): Promise<Outcome> => {
    const { steps, measured } = estimated
    try {
      const unit = db.dialect.computesTags ? toUnit(statementsOf(operations)) : await unitOf(operations)
      const isLimited = measured !== null || (unit.length > 1 && !operations.some(isPartOfFile))
      const limit = isLimited ? LIMITED : UNLIMITED
      // Only in a cluster can another service change memory.
      const options = db.catchUp ? { ...limit, usesMemory: usedMemory(caller, operations) } : limit
      const size = sizeOfUnit(unit)
      if (size > LARGE_RECORD) addSizes(operations)
      const isSmall = unit.length <= MAX_SMALL_UNIT && steps <= MAX_SMALL_STEPS && size <= MAX_SMALL_SIZE
      const written = isSmall ? db.write(unit, options) : db.writeBulk(caller, unit, options)
      const parts = await totals.track(operations, written)
      addCost(estimated, (await written).ms)
      forgetSizes(operations)
      return { parts }
    } catch (error) {
      if (hasCode(error, 'TOO_MUCH_WORK')) addCost(estimated, MAX_UNIT_MS)
      if (error instanceof StaleMemory) {
        if (retries === MAX_STALE_RETRIES) throw tableKeepsChanging()
        await caller.confirmRight()
        assertSameTables(operations)
        return attempt(caller, operations, estimated, retries + 1)
      }
      return { diagnosis: await diagnose(caller, operations, error as Error) }
    }
  }

  /** @throws the error of the failed operation; in this case no operation has had an effect */
  return async <const T extends readonly Operation[]>(caller: Caller, operations: T): Promise<Results<T>> => {
    const estimated = await estimateAll(caller, operations)
    let outcome = await attempt(caller, operations, estimated)
    if ('diagnosis' in outcome && outcome.diagnosis.mayRetry) {
      await caller.confirm()
      outcome = await attempt(caller, operations, estimated)
    }
    if ('diagnosis' in outcome) throw await outcome.diagnosis.error()
    const { parts } = outcome
    // TypeScript cannot type the elements of a mapped tuple one by one. This is the boundary function.
    return operations.map(({ result }, index) => result(parts[index] as readonly WriteResult[])) as Results<T>
  }
}

export type Commit = ReturnType<typeof createCommit>
