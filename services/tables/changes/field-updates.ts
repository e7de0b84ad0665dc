import type { FieldRedefinition } from '../../../schemas/table-changes.ts'
import { summaryOf } from '../../audit/audit-row.ts'
import type { Database } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import type { Clock } from '../../model/clock.ts'
import { hasCode } from '../../model/errors.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { renameColumn, selectWord, setNotNull } from '../../sql/alter.ts'
import { tableEntry } from '../audited-table.ts'
import { valuesDoNotFit } from '../failures.ts'
import { updateChoices } from '../registry/table-statements.ts'
import type { SearchIndexes } from '../search/indexes.ts'
import { choicesAfter, type FieldChange, readFieldChange, structureAfter } from './field-changes.ts'
import { createRebuilds } from './rebuilds.ts'
import type { RoleNames } from './renames.ts'
import type { TableWrites } from './table-writes.ts'
import type { StructureChange } from './trials.ts'
import { createValueCheck } from './value-checks.ts'

interface FieldUpdatesOptions {
  readonly db: Database
  readonly clock: Clock
  readonly writes: TableWrites
  readonly searchIndexes: SearchIndexes
  readonly roleNames: RoleNames
}

/** Creates the function that changes a field, by ALTER TABLE or by a rebuild of the table. For administrators. */
export const createFieldUpdates = ({ db, clock, writes, searchIndexes, roleNames }: FieldUpdatesOptions) => {
  const checkValues = createValueCheck(db)
  const rebuild = createRebuilds(db)

  /** Returns the rename. The request was checked: the name has only letters, digits and underscores. */
  const renameTo = async (table: string, from: string, to: string) => {
    const isPlain = await db.plan(selectWord(to)).then(
      () => false,
      (error) => hasCode(error, 'STRUCTURE_CHANGED')
    )
    return renameColumn(table, from, to, isPlain)
  }

  const changeOf = async (
    caller: Caller,
    table: RegisteredTable,
    change: FieldChange
  ): Promise<Omit<StructureChange, 'entries'>> => {
    const { name: tableName, structure, choices } = table
    const { column, name, jsonType, isNotNull } = change
    const isRebuilt = change.storedType !== undefined || change.defaultValue !== undefined
    await checkValues(caller, table, change)
    const after = structureAfter(structure, change)
    const roles = name === undefined ? undefined : roleNames.renameField(table, column, name)
    const unit = [
      ...(isRebuilt ? await rebuild(caller, table, change) : []),
      ...(jsonType ? await searchIndexes.rebuildOrDrop(caller, table, after) : []),
      ...(isNotNull === undefined ? [] : [setNotNull(tableName, column.name, isNotNull)]),
      ...(name === undefined ? [] : [await renameTo(tableName, column.name, name)]),
      ...(roles?.unit ?? []),
      updateChoices(table, choicesAfter(choices, change), clock())
    ]
    return { unit, options: { foreignKeys: !isRebuilt }, ...(roles && { roles }) }
  }

  /**
   * Changes a field. The rows stay as they are, except that a new stored type converts the values.
   * @throws TABLE_NOT_FOUND, TABLE_UNUSABLE, TABLE_READ_ONLY, STRUCTURE_CHANGED, FIELD_NOT_FOUND, FIELD_EXISTS,
   * VALIDATION_FAILED, STRUCTURE_IN_USE, RIGHTS_CONFLICT, VALUES_DO_NOT_FIT, TABLE_TOO_LARGE
   */
  const changeField = async (caller: Caller, id: number, field: string, sent: FieldRedefinition) => {
    try {
      return await writes.restructure(caller, id, async (table) => {
        const change = readFieldChange(table, field, sent)
        const structureChange = await changeOf(caller, table, change)
        await caller.confirm()
        const { name, jsonType } = sent
        const summary = { ...summaryOf(sent), field, name, jsonType }
        return { ...structureChange, entries: [tableEntry(table, 'field.change', summary)] }
      })
    } catch (error) {
      // A value was written after the check, or two values are the same after the conversion.
      const isUnfit = hasCode(error, 'CONSTRAINT_VIOLATION') || hasCode(error, 'UNIQUE_VIOLATION')
      throw isUnfit ? valuesDoNotFit(field, '') : error
    }
  }

  return changeField
}
