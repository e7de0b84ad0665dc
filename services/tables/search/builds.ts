import { setTimeout } from 'node:timers/promises'
import { type Database, UnexpectedChanges } from '../../engine/database.ts'
import { serviceCaller } from '../../model/caller.ts'
import { INT64 } from '../../model/literals.ts'
import type { Row } from '../../model/sql-value.ts'
import type { BuildProgress, RegisteredTable } from '../../model/table.ts'
import { advance, type IndexedTable, indexedTable, indexStep, selectStep } from '../../sql/search-index.ts'
import type { TableRegistry } from '../registry/registry.ts'
import { returnRegistration } from '../registry/table-statements.ts'

interface SearchBuildsOptions {
  readonly db: Database
  readonly registry: TableRegistry
  /** Called for the first failure of a build. */
  readonly onFailure: (table: string, error: unknown) => void
}

/** Receives the row of the table after a step. */
type OnStep = (row: Row, progress: BuildProgress) => void

/** The registry shows the progress in these intervals: each change replaces the table and its cached plans. */
const SHOW_INTERVAL_MS = 500
const RETRY_MS = 1000
/** Another service of a cluster makes the steps of this build. */
const OTHER_BUILD_MS = 10_000

/**
 * Fills search indexes, one at a time, in small units of the writer: other writes run between two steps. Each step stores
 * its progress, so a build continues after a restart. It ends if the index is switched off or no longer fits the table.
 */
export const createSearchBuilds = ({ db, registry, onFailure }: SearchBuildsOptions) => {
  const queue = new Set<number>()
  const failed = new Set<number>()
  const stopping = new AbortController()
  let running: Promise<void> | undefined

  const findBuilding = (id: number): RegisteredTable | undefined => {
    const table = registry.all().find((other) => other.id === id)
    return table?.structure && table.searchIndex.state === 'building' ? table : undefined
  }

  const runStep = async (table: IndexedTable, before: BuildProgress, onStep: OnStep): Promise<BuildProgress> => {
    const [row] = await db.scan(selectStep(table, before), serviceCaller)
    const { last: lastKey, rows } = row as Row
    const last = lastKey === null ? null : String(lastKey)
    const indexed = before.indexed + Number(rows)
    const isComplete = last === null || BigInt(last) === INT64.last
    const total = isComplete ? indexed : Math.max(before.total, indexed)
    const progress = { ...before, after: last ?? before.after, indexed, total, isComplete }
    const unit = [
      advance(table.id, before, progress),
      ...(last === null ? [] : [indexStep(table, before, last)]),
      returnRegistration(table.id)
    ]
    // Other services of a cluster only need the end of a build.
    const results = await db.write(unit, { keepsMemory: !isComplete })
    // Nothing is awaited before it: the row must not replace that of a later change.
    onStep(results.at(-1)?.rows[0] as Row, progress)
    return progress
  }

  const runSteps = async ({ id, name, structure, searchIndex }: RegisteredTable) => {
    const table = indexedTable(id, name, structure) as IndexedTable
    let progress = searchIndex.progress as BuildProgress
    let shownAt = performance.now()
    const show: OnStep = (row, { isComplete }) => {
      if (!isComplete && performance.now() - shownAt < SHOW_INTERVAL_MS) return
      registry.apply(row)
      shownAt = performance.now()
    }
    while (!progress.isComplete && !stopping.signal.aborted) progress = await runStep(table, progress, show)
  }

  /** Makes one attempt. The failed build is queued again, after the others. */
  const build = async (table: RegisteredTable) => {
    try {
      await runSteps(table)
    } catch (error) {
      // The index may have been switched off, or another program may have changed the table.
      await registry.reload().catch(() => {})
      if (!findBuilding(table.id) || stopping.signal.aborted) return
      const isOther = error instanceof UnexpectedChanges && db.catchUp !== null
      if (!isOther && !failed.has(table.id)) onFailure(table.name, error)
      if (!isOther) failed.add(table.id)
      const pause = isOther ? OTHER_BUILD_MS : RETRY_MS
      await setTimeout(pause, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  const run = async () => {
    for (const id of queue) {
      // Before the build: an index that is switched on during it is built afterwards.
      queue.delete(id)
      if (stopping.signal.aborted) return
      const table = findBuilding(id)
      if (table) await build(table)
      if (findBuilding(id)) queue.add(id)
      else failed.delete(id)
    }
  }

  /** Fills the index of a table, unless it is complete. */
  const start = ({ id, searchIndex }: RegisteredTable) => {
    if (searchIndex.state !== 'building' || stopping.signal.aborted) return
    queue.add(id)
    running ??= run().finally(() => {
      running = undefined
    })
  }

  return {
    start,
    /** Continues the builds that the last stop of the service ended. */
    resume: () => {
      for (const table of registry.all()) if (table.structure) start(table)
    },
    /** Ends the current step, and no other begins. */
    stop: async () => {
      stopping.abort()
      await running
    }
  }
}

export type SearchBuilds = ReturnType<typeof createSearchBuilds>
