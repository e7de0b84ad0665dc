import type { NewField, NewTable, TableChanges } from '../../schemas/table.ts'
import { type Database, UnexpectedChanges } from '../engine/database.ts'
import { scansOf } from '../engine/scans.ts'
import type { Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { hasCode, invalid, tableNotFound } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { Row } from '../model/sql-value.ts'
import type { RegisteredTable, Registration, Structure } from '../model/table.ts'
import { addColumnSql, createTableSql } from '../sql/ddl.ts'
import { countRows } from '../sql/lists.ts'
import { dropSearchIndex } from '../sql/search-index.ts'
import type { Unit } from '../sql/statement.ts'
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
  confirmationRequired,
  fieldExists,
  nameTaken,
  otherKind,
  storedTableGone,
  tableChanged,
  tableOutdated
} from './failures.ts'
import { checkDefaults } from './field-rules.ts'
import { createImports } from './imports.ts'
import { createIndexes } from './indexes.ts'
import { createNameClaims } from './name-claims.ts'
import { declareField, declareStructure } from './new-table.ts'
import { createRegistration } from './registration.ts'
import type { DeriveFacts, TableRegistry } from './registry.ts'
import { RESERVED_NEW } from './reserved-names.ts'
import { createSearchBuilds } from './search-builds.ts'
import { createSearchIndexes } from './search-indexes.ts'
import { createStoredTables } from './stored-tables.ts'
import { combine, keepKey, withColumn } from './structure.ts'
import { deleteTable, selectNamed, updateChoices, updateMetadata } from './table-statements.ts'
import { openToTokens } from './token-access.ts'

interface TableServiceOptions {
  readonly db: Database
  readonly registry: TableRegistry
  readonly clock: Clock
  /** Called when a step of a build fails the first time. It is retried. */
  readonly onBuildFailure: (table: string, error: unknown) => void
}

/** Leaves room for the JSON of a record and for SQLite's limit of 2,000 columns. */
const MAX_FIELDS = 1000
const MAX_ATTEMPTS = 5

/** Registration, metadata and structure of tables. The record service serves their records. */
export const createTableService = ({ db, registry, clock, onBuildFailure }: TableServiceOptions) => {
  const { read: readStored } = createStoredTables(db)
  const claims = createNameClaims(registry)
  const register = createRegistration(db, registry, claims)
  const measure = createMeasurement(db)
  const searchIndexes = createSearchIndexes(db)
  const builds = createSearchBuilds({ db, registry, onFailure: onBuildFailure })

  /** Commits a unit whose last statement returns the row of the registry. */
  const commit = async (unit: Unit, derive?: DeriveFacts) => {
    const results = await db.write(unit)
    const table = registry.apply(results.at(-1)?.rows[0] as Row, derive)
    builds.start(table)
    return table
  }

  /**
   * Commits a change of a table. If the table was changed concurrently, retries on the new state after checking the
   * caller's right again.
   */
  const change = async (
    caller: Caller,
    id: number,
    unitOf: (table: RegisteredTable) => Unit | Promise<Unit>,
    derive?: DeriveFacts
  ) => {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const unit = await unitOf(registry.get(id))
      try {
        return await commit(unit, derive)
      } catch (error) {
        if (!(error instanceof UnexpectedChanges)) throw error
        await registry.reload()
        await caller.confirm()
      }
    }
    throw tableChanged()
  }

  /**
   * Checks the caller's right again after the name was looked up.
   * @throws TABLE_EXISTS, TABLE_REGISTERED, VALIDATION_FAILED
   */
  const create = async (caller: Caller, table: NewTable): Promise<RegisteredTable> => {
    const { name, label, note = null } = table
    if (RESERVED_NEW.test(name)) {
      const message = `'${name}' begins with sqlite_ or pragma_, which SQLite reserves. Choose another name.`
      throw invalid([{ path: '/name', code: 'format', message }])
    }
    const { structure, defaults } = declareStructure(table)
    const [existing] = await db.read(selectNamed(name))
    if (existing) throw nameTaken(String(existing.name), String(existing.type))
    await caller.confirm()
    const flags = { isPublished: true, isEditable: true }
    const choices = await declaredChoices(structure)
    const [created] = await register([{ name, structure, label, note, ...flags, choices }], clock(), [
      { sql: createTableSql(name, structure, defaults), params: [] }
    ])
    return created as RegisteredTable
  }

  /**
   * @throws TABLE_NOT_FOUND, TABLE_UNUSABLE, VALIDATION_FAILED, UNIQUE_VIOLATION for a client name that is taken,
   * STRUCTURE_CHANGED for a search index of an outdated table
   */
  const update = async (caller: Caller, id: number, changes: TableChanges): Promise<RegisteredTable> => {
    const { fields = [], clientName: sentName, searchIndex, ...metadata } = changes
    if (metadata.isEditable) checkEditable(registry.get(id))
    // A table may be older than a suffix or a reserved word, so its name is not checked again.
    const clientName = sentName === registry.get(id).choices.clientName ? undefined : sentName
    const commitChanges = () =>
      change(caller, id, async (table) => {
        const choices = { ...changedChoices(table, fields), ...(clientName !== undefined && { clientName }) }
        const setSearchIndex = await searchIndexes.set(caller, table, searchIndex)
        return [...setSearchIndex, updateMetadata(table, { ...table, ...metadata, choices }, clock())]
      })
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
   * @throws TABLE_NOT_FOUND, TABLE_UNUSABLE, TABLE_READ_ONLY, STRUCTURE_CHANGED, FIELD_EXISTS, VALIDATION_FAILED
   */
  const addField = async (caller: Caller, id: number, field: NewField): Promise<RegisteredTable> => {
    registry.get(id) // A table that does not exist is reported before errors of the field.
    const { column, defaultValue } = declareField(field)
    const unitOf = async (table: RegisteredTable) => {
      if (caller.kind === 'token') openToTokens(table, table.name, true)
      const { choices, structure } = table
      checkRoomFor(column.name, structure)
      assertTable(table)
      if (table.isOutdated) throw tableOutdated(table.name)
      checkDefaults(structure.columns, [column], () => '/field')
      return [
        { sql: addColumnSql(table.name, column, defaultValue), params: [] },
        ...(await searchIndexes.renew(caller, table, withColumn(structure, column))),
        updateChoices(table, await extendedChoices(choices, column), clock())
      ]
    }
    return change(caller, id, unitOf, (known) => (known ? withColumn(known, column) : null))
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

  return {
    create,
    ...createIndexes({ db, registry }),
    ...createImports({ db, registry, clock, register }),
    update,
    refresh,
    addField,
    unregister,
    builds,
    get: registry.get,
    getByName: registry.getByName,
    find: registry.find,
    all: registry.all
  }
}

export type TableService = ReturnType<typeof createTableService>
