import { auditRow } from '../audit/audit-row.ts'
import { type Database, UnexpectedChanges } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { tableNotFound } from '../model/errors.ts'
import type { Row } from '../model/sql-value.ts'
import type { RegisteredTable } from '../model/table.ts'
import { dropSearchIndex } from '../sql/search-index.ts'
import { createAdoption } from './adopt/adopt.ts'
import { refreshSummary, tableEntry } from './audited-table.ts'
import { createFieldAdditions } from './changes/field-additions.ts'
import { createFieldDrops } from './changes/field-drops.ts'
import { createFieldUpdates } from './changes/field-updates.ts'
import { createIndexes } from './changes/indexes.ts'
import { createRenames, type RoleNames, type TokenNames } from './changes/renames.ts'
import { createTableCreation } from './changes/table-creation.ts'
import { createTableDrops } from './changes/table-drops.ts'
import { createTableUpdates } from './changes/table-updates.ts'
import { createTableWrites } from './changes/table-writes.ts'
import { createTrials } from './changes/trials.ts'
import { confirmationRequired, grantedWarnings, otherKind, storedTableGone, tableKeepsChanging } from './failures.ts'
import { createPathNames } from './names/path-names.ts'
import { measuredChoices, refreshedChoices } from './registry/choices.ts'
import { createMeasurement, type ExactTypes } from './registry/exactness.ts'
import { createNameReservations } from './registry/name-reservations.ts'
import { createRegistration } from './registry/registration.ts'
import type { TableRegistry } from './registry/registry.ts'
import { createRowCounts } from './registry/row-counts.ts'
import { createStoredTables } from './registry/stored-tables.ts'
import { combine, keepKey } from './registry/structure.ts'
import { deleteTable, updateChoices } from './registry/table-statements.ts'
import { choicesWithout } from './registry/view-fields.ts'
import { createSearchBuilds } from './search/builds.ts'
import { createSearchIndexes } from './search/indexes.ts'

interface TableServiceOptions {
  readonly db: Database
  readonly registry: TableRegistry
  readonly clock: Clock
  readonly tokenNames: TokenNames
  readonly roleNames: RoleNames
  /** Called when a step of a build fails the first time. It is retried. */
  readonly onBuildFailure: (table: string, error: unknown) => void
}

/** Registration, metadata and structure of tables. The record service serves their records. */
export const createTableService = (options: TableServiceOptions) => {
  const { db, registry, clock, tokenNames, roleNames, onBuildFailure } = options
  const { read: readStored } = createStoredTables(db)
  const reservations = createNameReservations(registry)
  const register = createRegistration(db, registry, reservations)
  const measure = createMeasurement(db)
  const searchIndexes = createSearchIndexes(db)
  const builds = createSearchBuilds({ db, registry, onFailure: onBuildFailure })
  const { tryChange, commit, commitTried } = createTrials({ db, registry, clock, roleNames })
  const writes = createTableWrites({ registry, builds, tryChange, commit })
  const renames = createRenames({ db, registry, tokenNames, roleNames })
  const countStored = createRowCounts(db)

  /**
   * Registers the columns that the stored table has now.
   * @throws TABLE_NOT_FOUND, TABLE_UNUSABLE, TABLE_NOT_IMPORTABLE, STRUCTURE_CHANGED if the stored table is gone
   */
  const refresh = async (caller: Caller, id: number): Promise<RegisteredTable> => {
    const describe = async ({ name, choices: before, structure: { isView } }: RegisteredTable) => {
      const stored = await readStored(caller, name)
      if (!stored) throw storedTableGone(name)
      if (stored.structure.isView !== isView) throw otherKind(name, isView ? 'table' : 'view')
      registry.describe(name, stored.structure)
      const choices = await refreshedChoices(keepKey(stored.structure, before), before)
      return { name, choices, structure: combine(stored.structure, choices).structure }
    }
    await registry.loadFacts()
    // Once, and not for each attempt: a scan may take seconds.
    const [exactTypes] = await measure(caller, [await describe(registry.get(id))])
    return writes.change(caller, id, async (table) => {
      const { choices, structure } = await describe(table)
      const unit = [
        ...(await searchIndexes.rebuild(caller, table, structure)),
        updateChoices(table, measuredChoices(choices, exactTypes as ExactTypes), clock())
      ]
      return { unit, entries: [tableEntry(table, 'table.refresh', refreshSummary(table.choices, choices))] }
    })
  }

  /** Removes the table from the registry. The stored table stays. @throws TABLE_NOT_FOUND, CONFIRMATION_REQUIRED */
  const unregister = async (caller: Caller, id: number, isConfirmed: boolean): Promise<void> => {
    const table = registry.getRegistration(id)
    if (!isConfirmed) throw confirmationRequired(table.name, await countStored(caller, table))
    // Its choices end here, and views may still show what it hides.
    const hiding = choicesWithout(table, registry.all())
    const before = hiding.map(({ view, choices }) => updateChoices(view, choices, clock()))
    const row = auditRow(caller, clock(), tableEntry(table, 'table.unregister'))
    const unit = [...before, deleteTable(id), ...dropSearchIndex(id), row]
    const results = await db.write(unit).catch((error) => {
      if (!(error instanceof UnexpectedChanges)) throw error
      if (error.statement < before.length) throw tableKeepsChanging()
      registry.remove(table)
      throw tableNotFound(id)
    })
    for (const index of before.keys()) registry.apply(results[index]?.rows[0] as Row)
    registry.remove(table)
  }

  /** Returns a sentence for each role and token that names the table. */
  const namedBy = ({ name }: RegisteredTable) => grantedWarnings(roleNames.naming(name), tokenNames.naming(name))

  return {
    ...createTableCreation({ db, registry, clock, register }),
    ...createIndexes({ db, registry, commit, commitTried }),
    ...createAdoption({ db, registry, clock, register }),
    update: createTableUpdates({ registry, clock, writes, reservations, renames, searchIndexes }),
    refresh,
    addField: createFieldAdditions({ db, registry, clock, writes, searchIndexes, tryChange }),
    changeField: createFieldUpdates({ db, clock, writes, searchIndexes, roleNames }),
    dropField: createFieldDrops({ db, registry, clock, writes, searchIndexes, countStored, roleNames }),
    unregister,
    drop: createTableDrops({ registry, countStored, commitTried, roleNames }),
    namedBy,
    builds,
    get: registry.get,
    getByPath: registry.getByPath,
    find: registry.find,
    findByPath: registry.findByPath,
    pathNameOf: createPathNames(registry.findByPath),
    all: registry.all
  }
}

export type TableService = ReturnType<typeof createTableService>
