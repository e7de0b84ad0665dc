import { UnexpectedChanges, type WriteResult } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import { hasCode } from '../../model/errors.ts'
import type { Row } from '../../model/sql-value.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { tableKeepsChanging } from '../failures.ts'
import type { DeriveFacts, TableRegistry } from '../registry/registry.ts'
import { expectRegistration } from '../registry/table-statements.ts'
import type { SearchBuilds } from '../search/builds.ts'
import { type CommitChange, MAX_ATTEMPTS, type StructureChange, type TryChange } from './trials.ts'

interface TableWritesOptions {
  readonly registry: TableRegistry
  readonly builds: SearchBuilds
  readonly tryChange: TryChange
  readonly commit: CommitChange
}

type ChangeOf = (table: RegisteredTable) => StructureChange | Promise<StructureChange>

/** A read of the stored table before the commit fails with STRUCTURE_CHANGED, too. */
const mayBeConcurrent = (error: unknown) => error instanceof UnexpectedChanges || hasCode(error, 'STRUCTURE_CHANGED')

/** Optimistic changes of registered tables: docs/decisions/0006-registry-changes.md */
export const createTableWrites = ({ registry, builds, tryChange, commit }: TableWritesOptions) => {
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
      const seen = registry.get(id)
      try {
        const changed = await attempt(seen)
        builds.start(changed)
        return changed
      } catch (error) {
        if (!mayBeConcurrent(error)) throw error
        await registry.reload()
        if (!(error instanceof UnexpectedChanges) && registry.get(id).updatedAt === seen.updatedAt) throw error
        await caller.confirm()
      }
    }
    throw tableKeepsChanging()
  }

  /** Commits a unit whose last statement returns the row of the registry. `derive`: the facts after the change. */
  const change = (caller: Caller, id: number, changeOf: ChangeOf, derive?: DeriveFacts): Promise<RegisteredTable> =>
    retrying(caller, id, async (table) => {
      const results = await commit(caller, await changeOf(table))
      return registry.apply(results.at(-1)?.rows[0] as Row, derive)
    })

  /**
   * Tries and commits a unit that changes what SQLite knows of the table, and reads it again. The unit checks first that
   * the table is as it was read. `onCommit` is called in the step that acknowledges the commit.
   */
  const restructure = (
    caller: Caller,
    id: number,
    changeOf: ChangeOf,
    onCommit: (results: readonly WriteResult[], before: RegisteredTable) => void = () => {}
  ): Promise<RegisteredTable> =>
    retrying(caller, id, async (table) => {
      const sent = await changeOf(table)
      const tried = await tryChange(caller, { ...sent, unit: [expectRegistration(table), ...sent.unit] })
      onCommit(await commit(caller, tried), table)
      await registry.reload()
      return registry.get(id)
    })

  return { change, restructure }
}

export type TableWrites = ReturnType<typeof createTableWrites>
