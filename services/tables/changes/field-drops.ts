import type { Database } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import type { Clock } from '../../model/clock.ts'
import { foldName } from '../../model/names.ts'
import type { Column, RegisteredTable } from '../../model/table.ts'
import { dropColumn } from '../../sql/alter.ts'
import { dropIndex, selectIndexes, toIndexes } from '../../sql/indexes.ts'
import { dropSearchIndex } from '../../sql/search-index.ts'
import type { Unit } from '../../sql/statement.ts'
import { assertTable } from '../assert-table.ts'
import { tableEntry } from '../audited-table.ts'
import { assertNotNeeded, lossNotConfirmed, structureInUse, tableOutdated } from '../failures.ts'
import { isOwn } from '../names/reserved-names.ts'
import type { TableRegistry } from '../registry/registry.ts'
import type { CountRows } from '../registry/row-counts.ts'
import { updateChoices } from '../registry/table-statements.ts'
import type { SearchIndexes } from '../search/indexes.ts'
import { choicesWithout, fieldOf } from './field-changes.ts'
import type { RoleNames } from './renames.ts'
import { createRewriteLimit } from './rewrite-limit.ts'
import type { TableWrites } from './table-writes.ts'

interface FieldDropsOptions {
  readonly db: Database
  readonly registry: TableRegistry
  readonly clock: Clock
  readonly writes: TableWrites
  readonly searchIndexes: SearchIndexes
  readonly countStored: CountRows
  readonly roleNames: RoleNames
}

/** Creates the function that deletes a field. For administrators. */
export const createFieldDrops = (options: FieldDropsOptions) => {
  const { db, registry, clock, writes, searchIndexes, countStored, roleNames } = options
  const checkSize = createRewriteLimit(db)

  /** Returns the indexes of the API that have only this field. Others refuse the drop: SQLite names them. */
  const indexesOf = async (table: string, { name }: Column) =>
    toIndexes((await db.read(selectIndexes(table)))[0]).filter(
      (index) =>
        isOwn(index.name) && index.columns.every((column) => column !== null && foldName(column) === foldName(name))
    )

  const dropFieldUnit = async (caller: Caller, table: RegisteredTable, column: Column): Promise<Unit> => {
    const { id, name, structure, choices } = table
    assertTable(table)
    if (table.isOutdated) throw tableOutdated(name)
    if (column.isPrimary) throw structureInUse(`'${column.name}' is the key, or a part of it.`)
    assertNotNeeded(roleNames.rolesUsing(table, column.name), column.name)
    await checkSize(caller, table, [column.name])
    const after = { ...structure, columns: structure.columns.filter((other) => other !== column) }
    const indexChanges = await searchIndexes.rebuildOrDrop(caller, table, after)
    const indexes = await indexesOf(name, column)
    await caller.confirm()
    return [
      ...(indexChanges.length > 0 ? dropSearchIndex(id) : []),
      ...indexes.map((index) => dropIndex(index.name)),
      dropColumn(name, column.name),
      ...indexChanges,
      updateChoices(table, choicesWithout(choices, column.name), clock())
    ]
  }

  /**
   * Deletes a field with its values.
   * @throws TABLE_NOT_FOUND, TABLE_UNUSABLE, TABLE_READ_ONLY, STRUCTURE_CHANGED, FIELD_NOT_FOUND, STRUCTURE_IN_USE,
   * TABLE_TOO_LARGE, CONFIRMATION_REQUIRED
   */
  const dropField = async (caller: Caller, id: number, field: string, isConfirmed: boolean) => {
    const known = registry.get(id)
    fieldOf(known, field)
    if (!isConfirmed) {
      const rows = await countStored(caller, known)
      throw lossNotConfirmed(known.name, rows, `Dropping '${field}' deletes its values.`)
    }
    return writes.restructure(caller, id, async (table) => ({
      unit: await dropFieldUnit(caller, table, fieldOf(table, field)),
      entries: [tableEntry(table, 'field.drop', { field })]
    }))
  }

  return dropField
}
