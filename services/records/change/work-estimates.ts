import type { Database } from '../../engine/database.ts'
import { sizeOf } from '../../engine/shared/size.ts'
import type { Caller } from '../../model/caller.ts'
import { foldName } from '../../model/names.ts'
import type { Row } from '../../model/sql-value.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { selectAffected, selectRange } from '../../sql/affected-rows.ts'
import type { Condition } from '../../sql/conditions.ts'
import { keysToCheck } from '../../sql/conflicts.ts'
import { indexedTable } from '../../sql/search-index.ts'
import { guardOf } from '../../sql/selections.ts'
import { isValue, type Param, type Statement, type Unit } from '../../sql/statement.ts'
import { type EffectsOf, type ReferenceEffects, toAffectedRows } from '../../tables/registry/reference-effects.ts'
import { filterNotIndexed, referenceNotIndexed } from '../failures.ts'
import { helpfulIndex } from '../read/helpful-index.ts'
import type { Planner } from '../read/planner.ts'
import type { ChangedRows, Operation, RecordChange } from './operation.ts'
import type { RecordSizes } from './record-sizes.ts'
import type { RowCosts } from './row-costs.ts'
import { MAX_STEPS, MAX_STEPS_OF_RECORD, type MeasuredRows, measuredWork, STEPS, type Work } from './work.ts'

interface EstimatesOptions {
  readonly db: Database
  readonly planner: Planner
  readonly effectsOf: EffectsOf
  readonly rowCosts: RowCosts
  readonly recordSizes: RecordSizes
}

/** Rows that are counted on the event loop. More are counted in a reader thread. */
const MAX_ON_LOOP = 1000
/** Steps of a filter that may run on the event loop. */
const MAX_STEPS_ON_LOOP = 20_000
/** A filter is evaluated to count the records, in the check of each unique key, and to change them. */
const passesOf = ({ access, columns }: ChangedRows) => 2 + keysToCheck(access.table, columns ?? []).length
const MAX_ROWS = MAX_STEPS / STEPS.row
const NO_GUARD = '1'
const ALL_ROWS = { where: '1', params: [] }

/** A change of stored rows. */
type RowsChange = Extract<RecordChange, { readonly rows: ChangedRows }>

/** An operation on records. */
type RecordOperation = Operation & { readonly table: RegisteredTable; readonly change: RecordChange }

const isOfRecords = (operation: Operation): operation is RecordOperation =>
  operation.table !== null && operation.change !== null

const OPERATION: Work = { steps: STEPS.operation }

/** What is known of a request while its operations are estimated. */
export interface EstimatedRequest {
  readonly caller: Caller
  /** Whether it has only one operation on records. */
  readonly isSingle: boolean
  /** The number of rows that earlier operations create or update, by table. Later filters may find them. */
  readonly changed: Map<string, number>
  /** The number of rows of children without an index, by table. */
  readonly counted: Map<string, number>
}

interface Counted {
  readonly rows: number
  readonly bytes: number
}

const toCounted = ({ rows, bytes }: Row): Counted => ({ rows: Number(rows), bytes: Number(bytes) })

const NOTHING: Counted = { rows: 0, bytes: 0 }

/** Returns the columns whose texts the search index stores again; null if it does not change. */
const searchedColumns = (
  { id, name, structure, searchIndex }: RegisteredTable,
  columns: ChangedRows['columns'] | 'all'
) => {
  const index = searchIndex.state === 'off' || columns === null ? null : indexedTable(id, name, structure)
  if (!index || columns === 'all') return index?.columns ?? null
  return index.hasGenerated || index.columns.some((column) => columns?.includes(column)) ? index.columns : null
}

/** A check has the values of the change once more. */
const sizeOfWritten = (unit: Unit<Param>) =>
  unit.reduce((sum, { params, expect }) => sum + (expect === 0 ? 0 : sizeOf(params)), 0)

/** Search indexes do not take BLOBs. */
const lengthOfTexts = (unit: Unit<Param>) =>
  unit.reduce((sum, { params }) => sum + sizeOf(params.filter((param) => typeof param === 'string')), 0)

const stepsOfBytes = (
  bytes: number,
  { isIndexed, isOne }: { readonly isIndexed: boolean; readonly isOne: boolean }
) => {
  if (isIndexed) return bytes * STEPS.indexedByte
  return isOne ? Math.min(bytes * STEPS.byte, MAX_STEPS_OF_RECORD) : bytes * STEPS.byte
}

/** Creates the function that estimates the work of an operation before its unit runs. */
export const createWorkEstimates = ({ db, planner, effectsOf, rowCosts, recordSizes }: EstimatesOptions) => {
  /** Reads in a reader thread what is too much for the event loop. `compose` gets the maximum number of rows. */
  const readBounded = async (
    caller: Caller,
    compose: (max: number, guard: string) => Statement,
    { guard, onLoop }: { readonly guard: string; readonly onLoop: boolean }
  ): Promise<readonly Row[]> => {
    if (onLoop) {
      const rows = await db.read(compose(MAX_ON_LOOP, NO_GUARD))
      if (rows.reduce((sum, row) => sum + Number(row.rows), 0) < MAX_ON_LOOP) return rows
    }
    return db.scan(compose(MAX_STEPS, guard), caller)
  }

  /** Counts the rows that a filter reads: those of the range of an index, or all. */
  const countVisited = async ({ caller, changed }: EstimatedRequest, change: ChangedRows, condition: Condition) => {
    const { access } = change
    const { table } = access
    const range = await planner.rangeOf(access, condition)
    const { where, params } = range ?? ALL_ROWS
    const guard = guardOf({ table, dialect: db.dialect })
    const passes = passesOf(change)
    const max = Math.ceil(MAX_STEPS / passes / (1 + condition.tests)) + 1
    const [row] = await readBounded(
      caller,
      (limit, guarded) =>
        selectRange(table.name, { where, params, width: condition.width }, Math.min(limit, max), guarded),
      { guard, onLoop: max > MAX_ON_LOOP }
    )
    const { rows, bytes } = toCounted(row as Row)
    const visited = rows + (changed.get(foldName(table.name)) ?? 0)
    const steps = passes * (visited * (STEPS.visit + condition.tests) + bytes * condition.tests * STEPS.byte)
    // The number of records, and the fields of the rule, are not for a key that sees only some of them.
    const known = access.rows ? null : { rows, fields: helpfulIndex({ table, filter: condition }) }
    const problem = () => filterNotIndexed(table.name, known?.rows ?? null, known?.fields ?? null)
    return { steps, problem: range ? undefined : problem }
  }

  const measured = ({ isSingle }: EstimatedRequest, { table, kind, rows }: MeasuredRows): readonly Work[] =>
    rowCosts.isCostly(table) ? [measuredWork({ table, kind, rows }, rowCosts.provenCostOf(table, kind), isSingle)] : []

  /** Counts a child whose rows are all read for each row of its parent. */
  const countChild = async ({ caller, changed, counted }: EstimatedRequest, child: string) => {
    const key = foldName(child)
    const known = counted.get(key)
    const guard = db.dialect.scanGuard(null)
    const range = { where: '1', params: [], width: '0' }
    const rows =
      known ??
      toCounted(
        (
          await readBounded(caller, (max, guarded) => selectRange(child, range, max, guarded), { guard, onLoop: true })
        )[0] as Row
      ).rows
    counted.set(key, rows)
    return rows + (changed.get(key) ?? 0)
  }

  const readAffected = async (caller: Caller, change: ChangedRows, effects: AffectedTables, onLoop: boolean) => {
    const { where, params, filter } = change
    const maxChanged = filter ? filter.maxAffected : 1
    // A key that an earlier operation returns: its record has no children yet.
    const known = params.filter(isValue)
    if (known.length < params.length) return new Map([[0, { rows: 1, bytes: 0 }]])
    const rows = await readBounded(
      caller,
      (max, guard) =>
        selectAffected(effects, { where, params: known, maxChanged, max: Math.min(max, MAX_ROWS + 1), guard }),
      { guard: db.dialect.scanGuard(null), onLoop }
    )
    return new Map(rows.map((row) => [Number(row.position), toCounted(row)]))
  }

  /** Returns the reads of children, for the affected rows of their parents. */
  const checksOf = async (
    request: EstimatedRequest,
    { rows, checks }: ReferenceEffects,
    affected: ReadonlyMap<number, Counted>
  ): Promise<readonly Work[]> => {
    const works: Work[] = []
    for (const { parent, child, fields, isIndexed } of checks) {
      const parents = (affected.get(parent) ?? NOTHING).rows
      if (parents === 0) continue
      const reads = isIndexed ? STEPS.lookup : await countChild(request, child)
      const table = String(rows[parent]?.table)
      const problem = isIndexed
        ? undefined
        : () => referenceNotIndexed(request.caller, { table, child, fields, rows: reads })
      works.push({ steps: parents * reads, problem })
    }
    return works
  }

  const estimateChange = async (
    request: EstimatedRequest,
    operation: Operation,
    { kind, rows: change }: RowsChange
  ): Promise<readonly Work[]> => {
    const { caller, changed } = request
    const { access, columns, filter } = change
    const { name, structure } = access.table
    const works: Work[] = []
    const visited = filter ? await countVisited(request, change, filter.condition) : { steps: 0 }
    if (visited.steps > MAX_STEPS) return [visited]
    works.push(visited)

    const searched = searchedColumns(access.table, kind === 'upsert' ? 'all' : columns)
    const effects = effectsOf(name, structure, columns)
    const changedRows = toAffectedRows(name, structure)
    const base: AffectedTables = {
      rows: [searched ? { ...changedRows, columns: searched } : changedRows],
      reactions: []
    }
    const onLoop = visited.steps <= MAX_STEPS_ON_LOOP
    const affected = new Map(await readAffected(caller, change, base, onLoop))
    const first = affected.get(0) ?? NOTHING
    const earlier = changed.get(foldName(name)) ?? 0
    const rows = filter ? Math.min(first.rows + earlier, filter.maxAffected) : first.rows
    const written = (filter ? rows : 1) * (searched ? lengthOfTexts(operation.unit) : sizeOfWritten(operation.unit))
    const bytes = columns === null ? first.bytes : first.bytes + written
    affected.set(0, { rows, bytes })
    works.push({ steps: rows * STEPS.row + stepsOfBytes(bytes, { isIndexed: searched !== null, isOne: !filter }) })
    works.push(...measured(request, { table: access.table, kind, rows }))
    if (columns !== null) changed.set(foldName(name), earlier + rows)
    if (!effects || rows === 0) return works

    const direct = { ...effects, checks: effects.checks.filter(({ parent }) => parent === 0) }
    const own = await checksOf(request, direct, affected)
    if (effects.reactions.length === 0 || own.some(({ steps }) => steps > MAX_STEPS)) return [...works, ...own]
    const isIndexed = effects.checks.every((check) => check.isIndexed)
    for (const [position, counted] of await readAffected(caller, change, effects, onLoop && isIndexed)) {
      const table = foldName(String(effects.rows[position]?.table))
      const more = position === 0 ? rows - first.rows : (changed.get(table) ?? 0)
      affected.set(position, { ...counted, rows: counted.rows + more })
      works.push({ steps: (counted.rows + more) * STEPS.row + counted.bytes * STEPS.byte })
    }
    return [...works, ...(await checksOf(request, effects, affected))]
  }

  const needsReads = ({ kind, rows: { access, columns, filter } }: RowsChange) => {
    const { table } = access
    return (
      filter !== undefined ||
      searchedColumns(table, kind === 'upsert' ? 'all' : columns) !== null ||
      effectsOf(table.name, table.structure, columns) !== null
    )
  }

  /** The work of an operation whose stored rows are not read. */
  const estimateSmall = (request: EstimatedRequest, { table, change, unit }: RecordOperation): readonly Work[] => {
    const { changed } = request
    const name = foldName(table.name)
    changed.set(name, (changed.get(name) ?? 0) + 1)
    const isIndexed = !('rows' in change) && searchedColumns(table, 'all') !== null
    if (change.kind === 'import') {
      const { count, size } = change
      const works = [OPERATION, ...measured(request, { table, kind: change.kind, rows: count })]
      if (!size) return works
      const steps = isIndexed ? size.textBytes * STEPS.indexedByte : size.bytes * STEPS.byte
      return [...works, { steps: count * STEPS.row + steps }]
    }
    const works = [OPERATION, ...measured(request, { table, kind: change.kind, rows: 1 })]
    return isIndexed ? [...works, { steps: lengthOfTexts(unit) * STEPS.indexedByte }] : works
  }

  /** Returns the parts of the work. Only some operations need reads of the database. */
  return (request: EstimatedRequest, operation: Operation): readonly Work[] | Promise<readonly Work[]> => {
    if (!isOfRecords(operation)) return [OPERATION]
    const { table, change } = operation
    if (!('rows' in change)) return estimateSmall(request, operation)
    const estimateRows = () => estimateChange(request, operation, change).then((works) => [OPERATION, ...works])
    if (needsReads(change)) return estimateRows()
    const mayBeLarge = recordSizes.mayBeLarge(table)
    if (mayBeLarge instanceof Promise)
      return mayBeLarge.then((isLarge) => (isLarge ? estimateRows() : estimateSmall(request, operation)))
    return mayBeLarge ? estimateRows() : estimateSmall(request, operation)
  }
}

type AffectedTables = Parameters<typeof selectAffected>[0]

export type WorkEstimates = ReturnType<typeof createWorkEstimates>
