import type { NamingToken, NewField, NewTable, TableChanges } from '../../schemas/table.ts'
import type { Database } from '../engine/database.ts'
import { scansOf } from '../engine/scans.ts'
import type { Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { hasCode, invalid, tableNotFound } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { Row } from '../model/sql-value.ts'
import type { RegisteredTable, Registration, Structure } from '../model/table.ts'
import { addColumnSql, compileForeignKeys, createTableSql } from '../sql/ddl.ts'
import { createIndex } from '../sql/indexes.ts'
import { countRows } from '../sql/lists.ts'
import { dropSearchIndex } from '../sql/search-index.ts'
import type { Statement, Unit } from '../sql/statement.ts'
import {
  changedChoices,
  checkTableClientName,
  declaredChoices,
  extendedChoices,
  measuredChoices,
  refreshedChoices
} from './choices.ts'
import { createMeasurement, type ExactTypes } from './exactness.ts'
import {
  assertTable,
  checkEditable,
  checkNewName,
  confirmationRequired,
  fieldExists,
  nameTaken,
  otherKind,
  sameDefault,
  storedTableGone,
  tableOutdated
} from './failures.ts'
import { checkDefaults } from './field-rules.ts'
import { createImports } from './imports.ts'
import { freeIndexName } from './index-names.ts'
import { createIndexes } from './indexes.ts'
import { createNameClaims } from './name-claims.ts'
import { declareField, declareStructure, type NewStructure } from './new-table.ts'
import { NOTHING_REFERABLE, type Referable, referenceFinder } from './references.ts'
import { createRegistration } from './registration.ts'
import type { TableRegistry } from './registry.ts'
import { createRenames, type Rename, renameIn, type TokenNames } from './renames.ts'
import { createRestructuring } from './restructuring.ts'
import { createSearchBuilds } from './search-builds.ts'
import { createSearchIndexes } from './search-indexes.ts'
import { createStoredTables } from './stored-tables.ts'
import { combine, keepKey, withColumn } from './structure.ts'
import { deleteTable, selectNamed, updateChoices, updateMetadata } from './table-statements.ts'
import { createTableWrites } from './table-writes.ts'
import { openToTokens } from './token-access.ts'

interface TableServiceOptions {
  readonly db: Database
  readonly registry: TableRegistry
  readonly clock: Clock
  readonly tokenNames: TokenNames
  /** Called when a step of a build fails the first time. It is retried. */
  readonly onBuildFailure: (table: string, error: unknown) => void
}

/** Returns the unit of an update that contains the statements of a rename. */
type UnitWith = (table: RegisteredTable, renaming: Unit) => Promise<Unit>

/** The result of an update. `tokens`: those that named the table by its old name; null without a rename. */
export interface UpdatedTable {
  readonly table: RegisteredTable
  readonly tokens: readonly NamingToken[] | null
}

/** Leaves room for the JSON of a record and for SQLite's limit of 2,000 columns. */
const MAX_FIELDS = 1000

/** Registration, metadata and structure of tables. The record service serves their records. */
export const createTableService = ({ db, registry, clock, tokenNames, onBuildFailure }: TableServiceOptions) => {
  const { read: readStored } = createStoredTables(db)
  const claims = createNameClaims(registry)
  const register = createRegistration(db, registry, claims)
  const measure = createMeasurement(db)
  const searchIndexes = createSearchIndexes(db)
  const builds = createSearchBuilds({ db, registry, onFailure: onBuildFailure })
  const writes = createTableWrites(db, registry)
  const renames = createRenames({ db, registry, tokenNames })

  const started = (table: RegisteredTable) => {
    builds.start(table)
    return table
  }

  /** Commits a change of a table, and continues or starts the build of its search index. */
  const change = async (...args: Parameters<typeof writes.change>) => started(await writes.change(...args))

  /** Returns the statements that create the table with its indexes. */
  const createStored = async (name: string, declared: NewStructure, isReferable: Referable): Promise<Unit> => {
    const { structure, declarations, indexes, references } = declared
    const findTarget = referenceFinder(registry.find, isReferable, { name, columns: structure.columns })
    const targets = new Map(references.map((sent) => [sent.column, findTarget(sent)]))
    const columns = declarations.map((declaration) => ({ ...declaration, references: targets.get(declaration.column) }))
    const created: Statement[] = [{ sql: createTableSql(name, columns, structure.key), params: [] }]
    for (const index of indexes) created.push(createIndex(await freeIndexName(db, name, index), name, index))
    const [first] = references
    return first ? [...created, compileForeignKeys(name, first.column.name)] : created
  }

  /** Returns the structure of a new table, whose name is free. @throws TABLE_EXISTS, VALIDATION_FAILED */
  const declare = async (table: NewTable): Promise<NewStructure> => {
    checkNewName(table.name)
    const declared = declareStructure(table)
    const [existing] = await db.read(selectNamed(table.name))
    if (existing) throw nameTaken(String(existing.name), String(existing.type))
    return declared
  }

  /**
   * Checks the caller's right again after the name was looked up. `isReferable`: whether the caller may declare a foreign
   * key to a field.
   * @throws TABLE_EXISTS, TABLE_REGISTERED, VALIDATION_FAILED, STRUCTURE_CHANGED
   */
  const create = async (
    caller: Caller,
    table: NewTable,
    isReferable = NOTHING_REFERABLE,
    isPublished = true
  ): Promise<RegisteredTable> => {
    const { name, label, note = null } = table
    const declared = await declare(table)
    const { structure } = declared
    await caller.confirm()
    const stored = await createStored(name, declared, isReferable)
    const flags = { isPublished, isEditable: true }
    const choices = await declaredChoices(structure)
    const registered = await register([{ name, structure, label, note, ...flags, choices }], clock(), stored)
    const [created] = registered as [RegisteredTable]
    if (declared.references.length === 0) return created
    // The foreign keys are facts of the table, and their actions are effects of writes to other tables.
    await registry.reload()
    return registry.get(created.id)
  }

  /** Commits changes of the registration together with a rename. Returns the tokens that named the old name. */
  const commitRename = async (caller: Caller, id: number, rename: Rename, unitOf: UnitWith) => {
    let tokens: readonly NamingToken[] = []
    const table = await writes.restructure(
      caller,
      id,
      async (before) => unitOf(before, await renames.unitOf(before, rename)),
      (results, before) => {
        tokens = renames.applied(results, before, rename)
        registry.rename(before, results.at(-1)?.rows[0] as Row)
      }
    )
    return { table: started(table), tokens }
  }

  /**
   * @throws TABLE_NOT_FOUND, TABLE_UNUSABLE, VALIDATION_FAILED, UNIQUE_VIOLATION for a client name that is taken,
   * STRUCTURE_CHANGED for a search index of an outdated table, TABLE_EXISTS, TABLE_REGISTERED, TABLE_READ_ONLY and
   * STRUCTURE_IN_USE for a rename
   */
  const update = async (caller: Caller, id: number, changes: TableChanges): Promise<UpdatedTable> => {
    const { fields = [], clientName: sentName, searchIndex, name, updateTokens, ...metadata } = changes
    if (metadata.isEditable) checkEditable(registry.get(id))
    const rename = renameIn(name, updateTokens)
    // A table may be older than a suffix or a reserved word, so its name is not checked again.
    const clientName = sentName === registry.get(id).choices.clientName ? undefined : sentName
    const unitOf: UnitWith = async (table, renaming) => {
      const choices = { ...changedChoices(table, fields), ...(clientName !== undefined && { clientName }) }
      const setSearchIndex = await searchIndexes.set(caller, table, searchIndex)
      // SQLite renames the table in the triggers of its search index, too.
      return [...setSearchIndex, ...renaming, updateMetadata(table, { ...table, ...metadata, choices }, clock())]
    }
    const commitChanges = async (): Promise<UpdatedTable> =>
      rename
        ? commitRename(caller, id, rename, unitOf)
        : { table: await change(caller, id, (table) => unitOf(table, [])), tokens: null }
    if (clientName === undefined) return commitChanges()
    checkTableClientName(clientName)
    return claims.claim(id, clientName, commitChanges)
  }

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
    // Once, and not for each attempt: a scan may take seconds.
    const [exactTypes] = await measure(caller, [await describe(registry.get(id))])
    return change(caller, id, async (table) => {
      const { choices, structure } = await describe(table)
      return [
        ...(await searchIndexes.renew(caller, table, structure)),
        updateChoices(table, measuredChoices(choices, exactTypes as ExactTypes), clock())
      ]
    })
  }

  const checkRoomFor = (name: string, { columns }: Structure) => {
    if (columns.some((column) => foldName(column.name) === foldName(name))) throw fieldExists(name)
    if (columns.length < MAX_FIELDS) return
    throw invalid([{ path: '/field', code: 'range', message: `A table has at most ${MAX_FIELDS} fields.` }])
  }

  /**
   * Adds a field to a table. A token needs a published and editable table.
   * @throws TABLE_NOT_FOUND, TABLE_UNUSABLE, TABLE_READ_ONLY, STRUCTURE_CHANGED, FIELD_EXISTS, VALIDATION_FAILED,
   * UNIQUE_VIOLATION
   */
  const addField = async (
    caller: Caller,
    id: number,
    field: NewField,
    isReferable = NOTHING_REFERABLE
  ): Promise<RegisteredTable> => {
    registry.get(id) // A table that does not exist is reported before errors of the field.
    const { index, ...declaration } = declareField(field)
    const { column } = declaration
    const sent = field.references && { column, references: field.references, path: '/field' }
    const unitOf = async (table: RegisteredTable) => {
      if (caller.kind === 'token') openToTokens(table, table.name, true)
      const { name, choices, structure } = table
      checkRoomFor(column.name, structure)
      assertTable(table)
      if (table.isOutdated) throw tableOutdated(name)
      checkDefaults(structure.columns, [column], () => '/field')
      const references = sent && referenceFinder(registry.find, isReferable, { name, columns: structure.columns })(sent)
      return [
        { sql: addColumnSql(name, { ...declaration, references }), params: [] },
        ...(index ? [createIndex(await freeIndexName(db, name, index), name, index)] : []),
        ...(references ? [compileForeignKeys(name, column.name)] : []),
        ...(await searchIndexes.renew(caller, table, withColumn(structure, column))),
        updateChoices(table, await extendedChoices(choices, column), clock())
      ]
    }
    try {
      if (sent) return started(await writes.restructure(caller, id, unitOf))
      return await change(caller, id, unitOf, (known) => (known ? withColumn(known, column) : null))
    } catch (error) {
      throw hasCode(error, 'UNIQUE_VIOLATION') ? sameDefault(column.name) : error
    }
  }

  /** Returns null for a table that cannot be counted: another program may have dropped or changed it. */
  const countStored = async (caller: Caller, table: Registration): Promise<number | null> => {
    if (table.structure === null || table.isOutdated) return null
    try {
      const [row] = await scansOf(db, table).scan(countRows({ table, dialect: db.dialect, filter: null }), caller)
      return Number(row?.total)
    } catch (error) {
      if (hasCode(error, 'AUTHENTICATION_REQUIRED')) throw error
      return null
    }
  }

  /** Removes the table from the registry. The stored table stays. @throws TABLE_NOT_FOUND, CONFIRMATION_REQUIRED */
  const unregister = async (caller: Caller, id: number, isConfirmed: boolean): Promise<void> => {
    const table = registry.getRegistration(id)
    if (!isConfirmed) throw confirmationRequired(table.name, await countStored(caller, table))
    const [deleted] = await db.write([deleteTable(id), ...dropSearchIndex(id)])
    registry.remove(table)
    if (deleted?.changes === 0) throw tableNotFound(id)
  }

  const { changeField, dropField, drop } = createRestructuring({
    db,
    registry,
    clock,
    writes,
    searchIndexes,
    countStored
  })

  return {
    declare,
    create,
    ...createIndexes({ db, registry }),
    ...createImports({ db, registry, clock, register }),
    update,
    refresh,
    addField,
    changeField: async (...args: Parameters<typeof changeField>) => started(await changeField(...args)),
    dropField: async (...args: Parameters<typeof dropField>) => started(await dropField(...args)),
    unregister,
    drop,
    builds,
    get: registry.get,
    getByName: registry.getByName,
    find: registry.find,
    all: registry.all
  }
}

export type TableService = ReturnType<typeof createTableService>
