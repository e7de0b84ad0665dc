import type { Database } from '../engine/database.ts'
import type { SqlValue } from '../model/sql-value.ts'
import { MAX_BYTES_ON_LOOP } from '../sql/bounded-text.ts'
import {
  followsKey,
  isInKeyOrder,
  pageByScanning,
  pageBySeeking,
  pageNearStart,
  type Selection,
  type Window
} from '../sql/lists.ts'
import type { Statement } from '../sql/statement.ts'
import type { View } from './view.ts'

/**
 * How a page is read. `index` (skips rows of an index) and `seek` (starts at a key position) are bounded work for the
 * event loop; `scan` needs a reader thread; `nothing` needs no statement: the page is after the last row.
 */
export type PagePlan =
  | { readonly via: 'nothing' }
  | { readonly via: 'index' | 'seek' | 'scan'; readonly statement: Statement }

/** A page to read: of which records, and which part of them. */
export interface PageRequest {
  readonly view: View
  readonly selection: Selection
  readonly window: Window
}

/** How a record is read by its key. */
interface RecordPlan {
  readonly via: 'index' | 'scan'
  readonly statement: Statement
}

/** Maximum offset of a page on the event loop. A page further on is found by key position, or in a reader thread. */
const MAX_SKIPPED_ROWS = 1000

/** Maximum number of query plans cached per view, one per SQL text: clients choose the order of a list. */
const MAX_PLANS_PER_VIEW = 100

/** What the planner needs of SQLite's query plan. */
interface QueryPlan {
  /** The statement finds its rows through an index, without a full scan. */
  readonly usesIndex: boolean
  /** The statement sorts: no index has its order. */
  readonly sorts: boolean
}

/** Steps of EXPLAIN QUERY PLAN: https://sqlite.org/eqp.html. */
const FULL_SCAN = /^SCAN /
const SORT = /TEMP B-TREE/

/**
 * Decides where a statement runs, from SQLite's own query plan: which index serves a statement depends on directions,
 * collations and statistics that other programs have declared. Plans are cached per view: a view is replaced when its
 * table changes or another program commits.
 */
export const createPlanner = (db: Database) => {
  const plansByView = new WeakMap<View, Map<string, QueryPlan>>()

  const cacheOf = (view: View) => {
    const cached = plansByView.get(view)
    if (cached) return cached
    const plans = new Map<string, QueryPlan>()
    plansByView.set(view, plans)
    return plans
  }

  const explain = async (plans: Map<string, QueryPlan>, statement: Statement): Promise<QueryPlan> => {
    const steps = await db.plan(statement)
    const has = (step: RegExp) => steps.some((text) => step.test(text))
    const plan = { usesIndex: !has(FULL_SCAN), sorts: has(SORT) }
    if (plans.size >= MAX_PLANS_PER_VIEW) plans.clear()
    plans.set(statement.sql, plan)
    return plan
  }

  /** Returns SQLite's plan for a statement. A cached plan costs no promise: every read and list needs one. */
  const queryPlan = (view: View, statement: Statement): QueryPlan | Promise<QueryPlan> => {
    const plans = cacheOf(view)
    return plans.get(statement.sql) ?? explain(plans, statement)
  }

  /** Whether the statement finds its rows through an index, without a full scan. */
  const usesIndex = async (view: View, statement: Statement) => (await queryPlan(view, statement)).usesIndex

  /** `key`: parameters of `view.statements`. */
  const planRecord = async (view: View, key: readonly SqlValue[]): Promise<RecordPlan> => {
    const { statements, json } = view
    const byIndex = statements.read(key)
    const isBounded = json.minCost <= MAX_BYTES_ON_LOOP && (await queryPlan(view, byIndex)).usesIndex
    return isBounded ? { via: 'index', statement: byIndex } : { via: 'scan', statement: statements.read(key, true) }
  }

  /** For a selection without a filter: a filtered page is always a scan. `total`: the rows of the selection. */
  const planPage = async ({ view, selection, window }: PageRequest, total: number): Promise<PagePlan> => {
    const { json } = view
    if (window.offset >= total) return { via: 'nothing' }
    const scan = (): PagePlan => ({ via: 'scan', statement: pageByScanning(selection, json, window) })
    const maxRowBytes = Math.floor(MAX_BYTES_ON_LOOP / Math.min(window.limit, total - window.offset))
    if (json.minCost > maxRowBytes || !followsKey(selection)) return scan()
    const bounded = { ...window, maxRowBytes, total }
    const nearStart = pageNearStart(selection, json, bounded)
    if ((await queryPlan(view, nearStart)).sorts) return scan()
    if (window.offset <= MAX_SKIPPED_ROWS) return { via: 'index', statement: nearStart }
    return isInKeyOrder(selection) ? { via: 'seek', statement: pageBySeeking(selection, json, bounded) } : scan()
  }

  return { usesIndex, planRecord, planPage }
}

export type Planner = ReturnType<typeof createPlanner>
