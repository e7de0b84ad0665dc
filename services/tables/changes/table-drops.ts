import type { Caller } from '../../model/caller.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { dropTable } from '../../sql/alter.ts'
import { deleteRetriesOfTable } from '../../sql/retries.ts'
import { dropSearchIndex } from '../../sql/search-index.ts'
import { assertNoView } from '../assert-table.ts'
import { tableEntry } from '../audited-table.ts'
import { assertNotNeeded, lossNotConfirmed, tableOutdated } from '../failures.ts'
import type { TableRegistry } from '../registry/registry.ts'
import type { CountRows } from '../registry/row-counts.ts'
import { deleteTable, expectRegistration } from '../registry/table-statements.ts'
import type { RoleNames } from './renames.ts'
import type { CommitTried } from './trials.ts'

interface TableDropsOptions {
  readonly registry: TableRegistry
  readonly countStored: CountRows
  readonly commitTried: CommitTried
  readonly roleNames: RoleNames
}

/** Creates the function that deletes a stored table. For administrators. */
export const createTableDrops = ({ registry, countStored, commitTried, roleNames }: TableDropsOptions) => {
  /** @throws STRUCTURE_IN_USE, TABLE_CHANGED */
  const commitDrop = async (caller: Caller, table: RegisteredTable) => {
    const { id, name } = table
    const unit = [
      expectRegistration(table),
      ...dropSearchIndex(id),
      deleteTable(id),
      deleteRetriesOfTable(id),
      dropTable(name)
    ]
    const entries = [tableEntry(table, 'table.drop')]
    await commitTried(caller, { unit, options: { foreignKeys: false }, entries })
  }

  /**
   * Deletes the stored table with its rows, and its registration.
   * @throws TABLE_NOT_FOUND, TABLE_UNUSABLE, TABLE_READ_ONLY, STRUCTURE_CHANGED, STRUCTURE_IN_USE, CONFIRMATION_REQUIRED
   */
  const drop = async (caller: Caller, id: number, isConfirmed: boolean): Promise<void> => {
    const table = registry.get(id)
    const { name } = table
    assertNoView(table)
    if (table.isOutdated) throw tableOutdated(name)
    assertNotNeeded(roleNames.rolesFollowingTo(table), name)
    if (!isConfirmed) {
      throw lossNotConfirmed(name, await countStored(caller, table), 'Dropping it deletes all of them.')
    }
    await commitDrop(caller, table)
    registry.remove(table)
    // The table may have had triggers and foreign keys with effects on others.
    await registry.reload()
  }

  return drop
}
