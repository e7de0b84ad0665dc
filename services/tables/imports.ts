import type { ImportableTable, TableChanges, TableImport } from '../../schemas/table.ts'
import type { Database } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { excerpt, invalid, tableNotFound } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { RegisteredTable } from '../model/table.ts'
import { changedChoices, importedChoices, measuredChoices, type UnnamedChoices } from './choices.ts'
import { createMeasurement, type ExactTypes } from './exactness.ts'
import { notImportable, tableRegistered, tableUnusable } from './failures.ts'
import type { Register } from './registration.ts'
import type { TableRegistry } from './registry.ts'
import { isReserved } from './reserved-names.ts'
import { createRowEstimates } from './row-estimates.ts'
import { createStoredTables, type StoredObject, type StoredTable, servable } from './stored-tables.ts'

interface ImportOptions {
  readonly db: Database
  readonly registry: TableRegistry
  readonly clock: Clock
  readonly register: Register
}

/** In a list of names, alone: every table that can be imported. */
const ALL = '*'

const violation = (path: string, code: string, message: string) => invalid([{ path, code, message }])

/** @throws VALIDATION_FAILED */
const checkList = (names: readonly string[]) => {
  const seen = new Set<string>()
  for (const [index, name] of names.entries()) {
    const path = `/names/${index}`
    if (name === ALL) throw violation(path, 'format', `'${ALL}' stands for all tables. Send it as the only name.`)
    if (seen.has(foldName(name))) throw violation(path, 'unique', `'${excerpt(name)}' is listed twice.`)
    seen.add(foldName(name))
  }
}

/** Imports register tables that the database already has. */
export const createImports = ({ db, registry, clock, register }: ImportOptions) => {
  const stored = createStoredTables(db)
  const measure = createMeasurement(db)
  const estimateRows = createRowEstimates(db)

  const checkFree = (name: string) => {
    if (isReserved(name)) throw notImportable(`'${name}' is a reserved name.`)
    const registered = registry.find(name)
    if (registered) throw registered.structure ? tableRegistered(name) : tableUnusable(registered.name)
  }

  const readNamed = async (names: readonly string[]): Promise<readonly StoredTable[]> => {
    for (const name of names) checkFree(name)
    const find = await stored.readNamed(names)
    return names.map((name) => {
      const object = find(name)
      if (!object) throw tableNotFound(name)
      return servable(object)
    })
  }

  const readUnregistered = async (caller: Caller): Promise<readonly StoredObject[]> =>
    (await stored.readAll(caller)).filter(({ name }) => registry.find(name) === undefined)

  /** Returns what the file has and the registry has not: tables and views, by name. */
  const listImportable = async (caller: Caller): Promise<ImportableTable[]> => {
    const listed: ImportableTable[] = []
    for (const object of await readUnregistered(caller)) {
      const { name, structure, reason } = object
      listed.push({ name, rows: await estimateRows(caller, object), isImportable: structure !== null, reason })
    }
    return listed
  }

  const readImportable = async (caller: Caller): Promise<readonly StoredTable[]> =>
    (await readUnregistered(caller)).filter((object) => object.structure !== null)

  /** Registers the tables in one unit, so that they are never shown without these choices. */
  const registerAll = async (caller: Caller, tables: readonly StoredTable[], changes: TableChanges) => {
    if (tables.length === 0) return []
    const { label = '', note = null, isPublished = true, isEditable = true, fields = [] } = changes
    // Before the scans, so that an error in the request is reported at once.
    const chosen: UnnamedChoices[] = []
    for (const table of tables) {
      chosen.push(changedChoices({ ...table, choices: await importedChoices(table.structure) }, fields))
    }
    const exactTypes = await measure(caller, tables)
    await caller.confirm()
    const flags = { label, note, isPublished, isEditable }
    const unnamed = tables.map((table, index) => ({
      ...table,
      ...flags,
      choices: measuredChoices(chosen[index] as UnnamedChoices, exactTypes[index] as ExactTypes)
    }))
    return register(unnamed, clock())
  }

  /** @throws TABLE_NOT_FOUND, TABLE_REGISTERED, TABLE_UNUSABLE, TABLE_NOT_IMPORTABLE, VALIDATION_FAILED */
  const importTable = async (caller: Caller, name: string, changes: TableChanges = {}): Promise<RegisteredTable> => {
    const [table] = await registerAll(caller, await readNamed([name]), changes)
    return table as RegisteredTable
  }

  const importList = async (caller: Caller, names: readonly string[], changes: TableChanges) => {
    if (names.length === 1 && names[0] === ALL) return registerAll(caller, await readImportable(caller), changes)
    checkList(names)
    return registerAll(caller, await readNamed(names), changes)
  }

  /**
   * Imports one table or a list, as the request has `name` or `names`, with the same choices for each table. Registers
   * all tables or none.
   * @throws VALIDATION_FAILED, TABLE_NOT_FOUND, TABLE_REGISTERED, TABLE_UNUSABLE, TABLE_NOT_IMPORTABLE
   */
  const importTables = async (caller: Caller, request: TableImport): Promise<RegisteredTable | RegisteredTable[]> => {
    const { name, names, ...changes } = request
    if (names === undefined) {
      if (name === undefined) throw violation('/name', 'required', "'name' is required, or 'names' for several tables.")
      return importTable(caller, name, changes)
    }
    if (name !== undefined) throw violation('/names', 'unknown', "Send 'name' or 'names', not both.")
    return importList(caller, names, changes)
  }

  return { importTable, importTables, listImportable }
}
