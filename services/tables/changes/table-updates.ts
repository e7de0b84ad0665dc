import type { NamingToken } from '../../../schemas/table.ts'
import type { TableChanges } from '../../../schemas/table-changes.ts'
import { type AuditEntry, summaryOf } from '../../audit/audit-row.ts'
import type { Caller } from '../../model/caller.ts'
import type { Clock } from '../../model/clock.ts'
import type { RegisteredTable } from '../../model/table.ts'
import type { Unit } from '../../sql/statement.ts'
import { fieldSummaries, tableEntry } from '../audited-table.ts'
import { changedChoices, checkTableClientName } from '../registry/choices.ts'
import { checkLabelField } from '../registry/label-field.ts'
import type { NameReservations } from '../registry/name-reservations.ts'
import type { TableRegistry } from '../registry/registry.ts'
import { updateMetadata } from '../registry/table-statements.ts'
import type { SearchIndexes } from '../search/indexes.ts'
import { checkEditable } from '../token-access.ts'
import { type Rename, type Renames, renameIn } from './renames.ts'
import type { TableWrites } from './table-writes.ts'
import type { StructureChange } from './trials.ts'

interface TableUpdatesOptions {
  readonly registry: TableRegistry
  readonly clock: Clock
  readonly writes: TableWrites
  readonly reservations: NameReservations
  readonly renames: Renames
  readonly searchIndexes: SearchIndexes
}

/** Returns an update that contains the statements of a rename. */
type ChangeWith = (table: RegisteredTable, renaming: Unit) => Promise<StructureChange>

/** The result of an update. `tokens`: those that named the table by its old name; null without a rename. */
export interface UpdatedTable {
  readonly table: RegisteredTable
  readonly tokens: readonly NamingToken[] | null
}

/** `searchStatements`: those of the search index, which may be as requested already. */
const entriesOf = (table: RegisteredTable, changes: TableChanges, searchStatements: Unit): AuditEntry[] => {
  const { searchIndex, fields, ...others } = changes
  const { name } = others
  const searchAction = searchIndex ? 'search-index.create' : 'search-index.drop'
  const summary = { ...summaryOf(others), name, fields: fields && fieldSummaries(fields) }
  const isOther = fields !== undefined || Object.keys(others).length > 0
  return [
    ...(searchStatements.length > 0 ? [tableEntry(table, searchAction)] : []),
    ...(isOther ? [tableEntry(table, name === undefined ? 'table.change' : 'table.rename', summary)] : [])
  ]
}

/** Creates the function that changes the metadata of a table, its name and its search index. */
export const createTableUpdates = (options: TableUpdatesOptions) => {
  const { registry, clock, writes, reservations, renames, searchIndexes } = options

  /** Commits changes of the registration together with a rename. Returns the tokens that named the old name. */
  const commitRename = async (caller: Caller, id: number, rename: Rename, changeWith: ChangeWith) => {
    let tokens: readonly NamingToken[] = []
    const table = await writes.restructure(
      caller,
      id,
      async (before) => {
        const { unit, roles } = await renames.unitOf(before, rename)
        return { ...(await changeWith(before, unit)), roles }
      },
      (results, before) => {
        const row = results.at(-1)?.rows[0]
        tokens = row ? renames.applied(results, before, rename) : renames.reloaded(before, rename)
        if (row) registry.rename(before, row)
      }
    )
    return { table, tokens }
  }

  /**
   * @throws TABLE_NOT_FOUND, TABLE_UNUSABLE, VALIDATION_FAILED, UNIQUE_VIOLATION for a client name that is taken,
   * STRUCTURE_CHANGED for a search index of an outdated table, TABLE_EXISTS, TABLE_REGISTERED, TABLE_READ_ONLY,
   * STRUCTURE_IN_USE and RIGHTS_CONFLICT for a rename
   */
  const update = async (caller: Caller, id: number, changes: TableChanges): Promise<UpdatedTable> => {
    const { fields = [], clientName: sentName, labelField, searchIndex, name, updateTokens, ...metadata } = changes
    if (metadata.isEditable) checkEditable(registry.get(id))
    const rename = renameIn(name, updateTokens)
    // A table may be older than a suffix or a reserved word, so its name is not checked again.
    const clientName = sentName === registry.get(id).choices.clientName ? undefined : sentName
    const changeWith: ChangeWith = async (table, renaming) => {
      const choices = {
        ...changedChoices(table, fields),
        ...(clientName !== undefined && { clientName }),
        ...(labelField !== undefined && { labelField })
      }
      if (labelField !== undefined) checkLabelField(table, choices, registry.hiddenSources({ ...table, choices }))
      const setSearchIndex = await searchIndexes.set(caller, table, searchIndex)
      // A label that was only a copy of the name follows it.
      const label = rename && table.label === table.name ? rename.name : table.label
      // SQLite renames the table in the triggers of its search index, too.
      const updated = updateMetadata(table, { ...table, label, ...metadata, choices }, clock())
      return { unit: [...setSearchIndex, ...renaming, updated], entries: entriesOf(table, changes, setSearchIndex) }
    }
    const commitChanges = async (): Promise<UpdatedTable> =>
      rename
        ? commitRename(caller, id, rename, changeWith)
        : { table: await writes.change(caller, id, (table) => changeWith(table, [])), tokens: null }
    if (clientName === undefined) return commitChanges()
    checkTableClientName(clientName)
    return reservations.reserve(id, clientName, commitChanges)
  }

  return update
}
