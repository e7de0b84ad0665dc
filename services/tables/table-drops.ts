import { type Database, UnexpectedChanges } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import type { DomainError } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { RegisteredTable } from '../model/table.ts'
import { compileView, dropTable, expectUnreferred, FOREIGN_KEYS_OFF, selectDependents } from '../sql/alter.ts'
import { namesIn } from '../sql/declared-rules.ts'
import { deleteRetriesOfTable } from '../sql/retries.ts'
import { dropSearchIndex } from '../sql/search-index.ts'
import type { Unit } from '../sql/statement.ts'
import { assertTable, lossNotConfirmed, structureInUse, tableChanged, tableOutdated } from './failures.ts'
import { fieldsReferringToTable } from './referring-fields.ts'
import type { TableRegistry } from './registry.ts'
import type { CountRows } from './row-counts.ts'
import { readView } from './stored-views.ts'
import { deleteTable, expectRegistration } from './table-statements.ts'

interface TableDropsOptions {
  readonly db: Database
  readonly registry: TableRegistry
  readonly countStored: CountRows
}

/** Creates the function that deletes a stored table. For administrators. */
export const createTableDrops = ({ db, registry, countStored }: TableDropsOptions) => {
  /** Returns the views that name the table and can be compiled. @throws STRUCTURE_IN_USE for a trigger of another table */
  const viewsOf = async (caller: Caller, name: string) => {
    const dependents = await db.read(selectDependents(name))
    const naming = dependents.filter(({ sql }) => namesIn(String(sql)).has(foldName(name)))
    const trigger = naming.find(({ type }) => type === 'trigger')
    if (trigger) throw structureInUse(`The trigger '${trigger.name}' of '${trigger.tbl_name}' names '${name}'.`)
    const views: string[] = []
    for (const view of naming) {
      if (typeof (await readView(db, caller, String(view.name))) !== 'string') views.push(String(view.name))
    }
    return views
  }

  /** @throws STRUCTURE_IN_USE */
  const checkUnreferred = async (name: string) => {
    const referring = await fieldsReferringToTable(db, name)
    if (referring) throw structureInUse(`${referring} refers to '${name}'.`, 'Drop these fields or their tables first.')
  }

  /** @throws STRUCTURE_IN_USE for a view that cannot be compiled without the table, TABLE_CHANGED */
  const commitDrop = async (table: RegisteredTable, views: readonly string[]) => {
    const { id, name } = table
    const before: Unit = [
      FOREIGN_KEYS_OFF,
      expectRegistration(table),
      expectUnreferred(name),
      ...dropSearchIndex(id),
      deleteTable(id),
      deleteRetriesOfTable(id),
      dropTable(name)
    ]
    try {
      await db.write([...before, ...views.map(compileView)])
    } catch (error) {
      if (error instanceof UnexpectedChanges) throw tableChanged()
      const { statement } = error as Partial<DomainError>
      const view = views[Number(statement) - before.length]
      throw view === undefined ? error : structureInUse(`The view '${view}' reads '${name}'.`)
    }
  }

  /**
   * Deletes the stored table with its rows, and its registration.
   * @throws TABLE_NOT_FOUND, TABLE_UNUSABLE, TABLE_READ_ONLY, STRUCTURE_CHANGED, STRUCTURE_IN_USE, CONFIRMATION_REQUIRED
   */
  const drop = async (caller: Caller, id: number, isConfirmed: boolean): Promise<void> => {
    const table = registry.get(id)
    const { name } = table
    assertTable(table)
    if (table.isOutdated) throw tableOutdated(name)
    if (!isConfirmed) {
      throw lossNotConfirmed(name, await countStored(caller, table), 'Dropping it deletes all of them.')
    }
    await checkUnreferred(name)
    const views = await viewsOf(caller, name)
    await caller.confirm()
    await commitDrop(table, views)
    registry.remove(table)
    // The table may have had triggers and foreign keys with effects on others.
    await registry.reload()
  }

  return drop
}
