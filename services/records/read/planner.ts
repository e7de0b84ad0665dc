import type { Database } from '../../engine/database.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { selectRange } from '../../sql/affected-rows.ts'
import { MAX_BYTES_ON_LOOP } from '../../sql/bounded-text.ts'
import type { Comparison, Condition } from '../../sql/conditions.ts'
import { ALIAS_PREFIX } from '../../sql/expansions.ts'
import { identifier } from '../../sql/identifiers.ts'
import type { PageSelection } from '../../sql/page-ranges.ts'
import { LAST, type PageStatement, pageByIndex, pageBySeeking } from '../../sql/pages.ts'
import { amongCandidates, followsKey, isRowidOrder, type Selection, storedWidth } from '../../sql/selections.ts'
import { createSharedCache, type SharedCache } from '../../sql/shared-cache.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Access } from '../access/access.ts'

/**
 * How a page is read. `bounded`: on the event loop. `scan`: in a reader thread. `nothing`: the page is after the last row.
 */
export type PagePlan = { readonly via: 'nothing' | 'scan' } | { readonly via: 'bounded'; readonly statement: Statement }

const SCAN: PagePlan = { via: 'scan' }

interface RangeCondition {
  readonly where: string
  readonly params: readonly SqlValue[]
}

/** A range of an index, as a condition in SQL. */
interface IndexRange extends RangeCondition {
  /** The filter has no other conditions. */
  readonly isExact: boolean
}

/** The rows that an index finds for a filter. */
export interface CountedRange extends IndexRange {
  readonly rows: number
}

/** How a record is read by its key. */
interface RecordPlan {
  readonly via: 'index' | 'scan'
  readonly statement: Statement
}

/** Maximum rows that an OFFSET skips on the event loop. A later page is found by its position in the key, or in a reader thread. */
const MAX_SKIPPED_ROWS = 1000

/** Maximum rows that are read on the event loop, unless they follow the key: each may lie on another page of the file. */
const MAX_SCATTERED_ROWS = 250

/** Maximum entries of an index that are counted on the event loop. */
const MAX_COUNTED_ROWS = 1000

/** Limits of the query plans cached per table, one per SQL text, and of the characters of these: clients choose the filter. */
const PLAN_CACHE = { max: 300, maxSize: 2 ** 19, sizeCalculation: (_: QueryPlan, sql: string) => sql.length }

/**
 * Maximum characters of a statement on the event loop, except for whole records in the order of the key. The length grows
 * with the fields of the record, of the order and of the filter. SQLite compiles this many in some milliseconds.
 */
const MAX_SQL_LENGTH = 64 * 1024

/** What the planner needs of SQLite's query plan. */
interface QueryPlan {
  readonly steps: readonly string[]
  /** The statement finds its rows through an index, without a full scan. */
  readonly usesIndex: boolean
  /** The statement sorts: no index has its order. */
  readonly sorts: boolean
}

/** Steps of EXPLAIN QUERY PLAN: https://sqlite.org/eqp.html. */
const FULL_SCAN = /^SCAN /
const SORT = /TEMP B-TREE/

/** A step that reads rows, and not the values of an IN. */
const READING_STEP = /^(?:SCAN(?! temp\.json_each VIRTUAL TABLE )|SEARCH) /

/** Steps of a plan that read the rows of another step, or one row by the index of a unique column. */
const BOUNDED_STEP = new RegExp(
  `^SCAN (?:\\(subquery-\\d+\\)|CONSTANT ROW|${LAST} LEFT-JOIN)$|^SEARCH ${ALIAS_PREFIX}[_0-9]* USING (?!AUTOMATIC)`
)

/** A position has the values of the order. A generated column can compute anything. */
const sortsByGenerated = ({ table, order }: Selection) =>
  order.some(({ name }) => table.structure.columns.some((column) => column.name === name && column.isGenerated))

/** Returns the conditions of a step as SQLite shows them: `(color=? AND rowid>?)`. */
const shownConditions = ({ structure }: RegisteredTable, comparisons: readonly Comparison[]) => {
  const nameOf = (column: string) => (column === structure.rowid ? 'rowid' : column)
  return comparisons.map(({ column, operator }) => `${nameOf(column)}${operator}?`)
}

/**
 * Whether the index of a step serves all these conditions, and no others. SQLite shows them in the order of the index.
 * They are not split at ` AND `, which a name may contain: an equal length means that there is no other one.
 */
const indexServes = (step: string, conditions: readonly string[]) => {
  if (conditions.length === 0) return step.startsWith('SCAN ')
  const end = step.slice(-`(${conditions.join(' AND ')})`.length)
  return end.startsWith('(') && end.endsWith(')') && conditions.every((condition) => end.includes(condition))
}

/**
 * Returns the comparisons that bound the range of an index which the only reading step of a plan reads. Empty: it may read
 * every row. Of two comparisons with the same column and operator, SQLite does not show which one the index serves.
 */
const servedBy = (table: RegisteredTable, comparisons: readonly Comparison[], steps: readonly string[]) => {
  const { structure } = table
  const [step = '', ...others] = steps.filter((text) => READING_STEP.test(text))
  const isAmbiguous = structure.columns.some(({ name }) => / AND | \(/.test(name))
  if (!step.startsWith('SEARCH ') || others.length > 0 || isAmbiguous) return []
  const shown = step.slice(step.lastIndexOf(' (') + 2, -1).split(' AND ')
  const names = shownConditions(table, comparisons)
  return comparisons.filter((_, index) => {
    const name = String(names[index])
    return shown.includes(name) && names.indexOf(name) === names.lastIndexOf(name)
  })
}

/** Returns a statement whose plan shows how SQLite finds the rows of a condition. */
const selectOne = ({ name }: RegisteredTable, { where, params }: RangeCondition): Statement => ({
  sql: `SELECT 1 FROM ${identifier(name)} WHERE ${where} LIMIT 1`,
  params
})

/** Whether each step that reads the table reads one range, by an index that serves all its comparisons. */
const readsOnlyRanges = (table: RegisteredTable, ranges: PageStatement['ranges'], steps: readonly string[]) => {
  const reads = steps.filter((step) => /^(?:SCAN|SEARCH) /.test(step) && !BOUNDED_STEP.test(step))
  return (
    reads.length === ranges.length &&
    ranges.every((range, index) => range !== null && indexServes(String(reads[index]), shownConditions(table, range)))
  )
}

/**
 * Decides where a statement runs, from SQLite's own query plan: which index serves a statement depends on directions,
 * collations and statistics that other programs have declared. Plans are cached per registered
 * table, which is replaced when the stored one changes or another program commits. All tokens of a role share them.
 */
export const createPlanner = (db: Database) => {
  const plansByTable = new WeakMap<RegisteredTable, SharedCache<QueryPlan>>()
  const boundedPages = new WeakMap<QueryPlan, boolean>()

  const cacheOf = (table: RegisteredTable) => {
    const cached = plansByTable.get(table)
    if (cached) return cached
    const plans = createSharedCache<QueryPlan>(PLAN_CACHE)
    plansByTable.set(table, plans)
    return plans
  }

  const explain = async (plans: SharedCache<QueryPlan>, statement: Statement): Promise<QueryPlan> => {
    const steps = await db.plan(statement)
    const has = (step: RegExp) => steps.some((text) => step.test(text))
    const plan = { steps, usesIndex: !has(FULL_SCAN), sorts: has(SORT) }
    plans.set(statement.sql, plan)
    return plan
  }

  /** Returns SQLite's plan for a statement. A cached plan costs no promise: every read and list needs one. */
  const queryPlan = ({ table }: Access, statement: Statement): QueryPlan | Promise<QueryPlan> => {
    const plans = cacheOf(table)
    return plans.get(statement.sql) ?? explain(plans, statement)
  }

  /** Whether the statement finds its rows through an index, without a full scan. */
  const usesIndex = async (access: Access, statement: Statement) => (await queryPlan(access, statement)).usesIndex

  /** `key`: parameters of `access.statements`. */
  const planRecord = async (access: Access, key: readonly SqlValue[]): Promise<RecordPlan> => {
    const {
      statements,
      all: { json }
    } = access
    const byIndex = statements.read(key)
    const isBounded = json.minCost <= MAX_BYTES_ON_LOOP && (await queryPlan(access, byIndex)).usesIndex
    return isBounded ? { via: 'index', statement: byIndex } : { via: 'scan', statement: statements.read(key, true) }
  }

  /** Whether SQLite reads only rows of the page and the one after it, in their order. */
  const isBoundedPage = async (access: Access, statement: PageStatement) => {
    const plan = await queryPlan(access, statement)
    const isBounded =
      boundedPages.get(plan) ?? (!plan.sorts && readsOnlyRanges(access.table, statement.ranges, plan.steps))
    boundedPages.set(plan, isBounded)
    return isBounded
  }

  /** Returns the statement that reads the rows of a page by an index. null: no index serves its filter and its order. */
  const planByIndex = async (access: Access, page: PageSelection, maxRowBytes: number) => {
    const byIndex = pageByIndex(page, maxRowBytes)
    const isWholeInKeyOrder =
      page.record.form === access.all.json && page.selection.filter === null && followsKey(page.selection)
    if ((byIndex.sql.length > MAX_SQL_LENGTH && !isWholeInKeyOrder) || byIndex.ranges.includes(null)) return null
    return (await isBoundedPage(access, byIndex)) ? byIndex : null
  }

  /** Plans a page. `rows`: the number of rows of the selection, if it is known. An SQL view and joins may read any rows. */
  const planPage = async (access: Access, page: PageSelection, rows: number | null): Promise<PagePlan> => {
    const { selection, record, start, limit, needsNext } = page
    // A total may miss the last commit of another program, so the first page is always read.
    if (rows !== null && start.offset > 0 && start.offset >= rows) return { via: 'nothing' }
    const maxRows = rows ? Math.min(limit, rows - start.offset) : limit
    const maxRowBytes = Math.floor(MAX_BYTES_ON_LOOP / maxRows)
    const isOrdered = followsKey(selection)
    if (selection.joins.length > 0 || access.table.structure.isView) return SCAN
    if (record.minCost > maxRowBytes || sortsByGenerated(selection)) return SCAN
    if (!isOrdered && limit > MAX_SCATTERED_ROWS) return SCAN
    if (start.offset <= (isOrdered ? MAX_SKIPPED_ROWS : 0)) {
      const statement = await planByIndex(access, page, maxRowBytes)
      return statement ? { via: 'bounded', statement } : SCAN
    }
    const canSeek = rows !== null && !selection.filter && !needsNext && isRowidOrder(selection)
    return canSeek ? { via: 'bounded', statement: pageBySeeking(page, maxRowBytes, rows) } : SCAN
  }

  /**
   * Returns the range of an index that bounds the rows which a statement with this filter reads. null: it may read every
   * row. A SEARCH in the plan is not enough: `id >= 0` is one of the whole table. An index with a condition is not enough
   * either: without the rest of the filter, SQLite cannot use it for the range.
   */
  const rangeOf = async (access: Access, filter: Condition): Promise<IndexRange | null> => {
    const servedIn = async (condition: RangeCondition) => {
      const { steps } = await queryPlan(access, selectOne(access.table, condition))
      return servedBy(access.table, filter.comparisons, steps)
    }
    const served = await servedIn({ where: filter.sql, params: filter.params })
    if (served.length === 0) return null
    const where = served.map(({ sql }) => sql).join(' AND ')
    const params = served.flatMap((comparison) => comparison.params)
    const isExact = filter.isIndexable && served.length === filter.comparisons.length
    if (!isExact && (await servedIn({ where, params })).length < served.length) return null
    return { where, params, isExact }
  }

  /**
   * Counts the rows that an index finds for the filter of a selection. null: no index does, it finds too many, or the
   * selection is of an SQL view, which may read any rows, or reads other tables.
   */
  const countRange = async (access: Access, selection: Selection): Promise<CountedRange | null> => {
    const { table, filter, joins } = selection
    if (!filter || filter.comparisons.length === 0 || table.structure.isView || joins.length > 0) return null
    const range = await rangeOf(access, filter)
    if (!range) return null
    const [row] = await db.read(selectRange(table.name, { ...range, width: '0' }, MAX_COUNTED_ROWS + 1, 'TRUE'))
    const rows = Number(row?.rows)
    return rows > MAX_COUNTED_ROWS ? null : { ...range, rows }
  }

  /**
   * Returns the selection for the event loop if the rows of a range are few and small. A sorted or filtered field may be
   * behind a long text, which SQLite then reads. null: they are many or large.
   */
  const selectionOnLoop = async (
    selection: Selection,
    { rows, where, params }: CountedRange
  ): Promise<Selection | null> => {
    const { table, filter } = selection
    if (rows > MAX_SCATTERED_ROWS || table.structure.rowid === null || sortsByGenerated(selection)) return null
    const range = { where, params, width: storedWidth(table) }
    const [row] = await db.read(selectRange(table.name, range, MAX_SCATTERED_ROWS + 1, 'TRUE'))
    // Each test of a text reads it once more.
    const work = Number(row?.bytes) * Number(filter?.tests)
    return work <= MAX_BYTES_ON_LOOP ? amongCandidates(selection, range) : null
  }

  /** Whether no step of the plan of a statement reads all rows of the table. */
  const avoidsScan = async (access: Access, statement: Statement) => {
    const { steps } = await queryPlan(access, statement)
    const { name } = access.table
    return !steps.some((step) => step === `SCAN ${name}` || step.startsWith(`SCAN ${name} `))
  }

  return { usesIndex, rangeOf, planRecord, planPage, countRange, selectionOnLoop, avoidsScan }
}

export type Planner = ReturnType<typeof createPlanner>
