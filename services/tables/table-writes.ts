import { type Database, UnexpectedChanges, type WriteResult } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import type { Row } from '../model/sql-value.ts'
import type { RegisteredTable } from '../model/table.ts'
import type { Unit } from '../sql/statement.ts'
import { tableChanged } from './failures.ts'
import type { DeriveFacts, TableRegistry } from './registry.ts'
import type { SearchBuilds } from './search-builds.ts'

const MAX_ATTEMPTS = 5

interface TableWritesOptions {
  readonly db: Database
  readonly registry: TableRegistry
  readonly builds: SearchBuilds
}

type UnitOf = (table: RegisteredTable) => Unit | Promise<Unit>

/** Optimistic changes of registered tables: docs/decisions/0006-registry-changes.md */
export const createTableWrites = ({ db, registry, builds }: TableWritesOptions) => {
  /**
   * If the table was changed concurrently, retries on the new state after checking the caller's right again. Then
   * continues or starts the build of the table's search index.
   */
  const retrying = async (
    caller: Caller,
    id: number,
    attempt: (table: RegisteredTable) => Promise<RegisteredTable>
  ): Promise<RegisteredTable> => {
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
      try {
        const changed = await attempt(registry.get(id))
        builds.start(changed)
        return changed
      } catch (error) {
        if (!(error instanceof UnexpectedChanges)) throw error
        await registry.reload()
        await caller.confirm()
      }
    }
    throw tableChanged()
  }

  /** Commits a unit whose last statement returns the row of the registry. `derive`: the facts after the change. */
  const change = (caller: Caller, id: number, unitOf: UnitOf, derive?: DeriveFacts): Promise<RegisteredTable> =>
    retrying(caller, id, async (table) => {
      const results = await db.write(await unitOf(table))
      return registry.apply(results.at(-1)?.rows[0] as Row, derive)
    })

  /**
   * Commits a unit that changes what SQLite knows of the table, and reads it again. `onCommit` is called in the step that
   * acknowledges the commit.
   */
  const restructure = (
    caller: Caller,
    id: number,
    unitOf: UnitOf,
    onCommit: (results: readonly WriteResult[], before: RegisteredTable) => void = () => {}
  ): Promise<RegisteredTable> =>
    retrying(caller, id, async (table) => {
      const unit = await unitOf(table)
      onCommit(await db.write(unit), table)
      await registry.reload()
      return registry.get(id)
    })

  return { change, restructure }
}

export type TableWrites = ReturnType<typeof createTableWrites>
