import type { ImportableTable, TableImport } from '../../../schemas/adoption.ts'
import { suggestName } from '../../../schemas/similar-names.ts'
import type { TableChanges } from '../../../schemas/table-changes.ts'
import { auditRow } from '../../audit/audit-row.ts'
import type { Database } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import type { Clock } from '../../model/clock.ts'
import { excerpt, invalid, tableNotFound } from '../../model/errors.ts'
import { foldName, splitNames } from '../../model/names.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { findUnusableKey, withViewKey } from '../../sql/views.ts'
import { hiddenIn } from '../audited-table.ts'
import { keyNotUnique, notImportable, tableRegistered, tableUnusable } from '../failures.ts'
import { isReserved } from '../names/reserved-names.ts'
import { adoptedChoices, changedChoices, measuredChoices, type UnnamedChoices } from '../registry/choices.ts'
import { createMeasurement, type ExactTypes } from '../registry/exactness.ts'
import type { Register } from '../registry/registration.ts'
import type { TableRegistry } from '../registry/registry.ts'
import { createRowEstimates } from '../registry/row-estimates.ts'
import { createStoredTables, type StoredObject, type StoredTable, servable } from '../registry/stored-tables.ts'
import { checkVisibleKey } from '../registry/view-fields.ts'
import { checkEditable } from '../token-access.ts'

interface AdoptionOptions {
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

type SingleImport = TableChanges & Pick<TableImport, 'primaryKey'>

/** Returns the columns of a key that was sent as text. A column with exactly this name wins. */
const splitKey = (text: string, names: readonly string[]): readonly string[] =>
  names.includes(text) ? [text] : splitNames(text)

/** Returns a view with its key. @throws VALIDATION_FAILED */
const withKey = (table: StoredTable, sentKey: string | readonly string[]): StoredTable => {
  const { name, structure } = table
  if (!structure.isView) {
    throw violation('/primaryKey', 'conflict', `'${name}' is a table, which has the key that it declares.`)
  }
  const names = structure.columns.map((column) => column.name)
  const primaryKey = typeof sentKey === 'string' ? splitKey(sentKey, names) : sentKey
  for (const [index, column] of primaryKey.entries()) {
    const path = `/primaryKey/${index}`
    if (primaryKey.indexOf(column) < index) throw violation(path, 'unique', `'${excerpt(column)}' is listed twice.`)
    if (names.includes(column)) continue
    const message = `'${excerpt(column)}' is not a field of the view '${name}'.`
    throw invalid([{ path, code: 'unknown', message }], suggestName(column, names))
  }
  return { name, structure: withViewKey(structure, primaryKey) }
}

const fieldsOf = ({ structure }: StoredObject) =>
  (structure?.columns ?? []).map(({ name, jsonType, isPrimary }) => ({ name, jsonType, isPrimary }))

const toImportable = (object: StoredObject, rows: number | null): ImportableTable => {
  const { name, type, structure, reason } = object
  const kind = type === 'view' ? 'view' : 'table'
  return { name, rows, isImportable: structure !== null, reason, kind, fields: fieldsOf(object) }
}

/** Creates the functions that adopt tables and views of the file. */
export const createAdoption = ({ db, registry, clock, register }: AdoptionOptions) => {
  const stored = createStoredTables(db)
  const measure = createMeasurement(db)
  const estimateRows = createRowEstimates(db)

  const checkFree = (name: string) => {
    if (isReserved(name)) throw notImportable(`'${name}' is a reserved name.`)
    const registered = registry.find(name)
    if (registered) throw registered.structure ? tableRegistered(name) : tableUnusable(registered.name)
  }

  const readNamed = async (caller: Caller, names: readonly string[]): Promise<readonly StoredTable[]> => {
    for (const name of names) checkFree(name)
    const find = await stored.readNamed(caller, names)
    return names.map((name) => {
      const object = find(name)
      if (!object) throw tableNotFound(name)
      return servable(object)
    })
  }

  const readUnregistered = (caller: Caller): Promise<readonly StoredObject[]> =>
    stored.readAll(caller, (name) => registry.find(name) === undefined)

  /** Returns what the file has and the registry has not: tables and views, by name. */
  const listAdoptable = async (caller: Caller): Promise<ImportableTable[]> => {
    const listed: ImportableTable[] = []
    for (const object of await readUnregistered(caller)) {
      listed.push(toImportable(object, await estimateRows(caller, object)))
    }
    return listed
  }

  const readImportable = async (caller: Caller): Promise<readonly StoredTable[]> =>
    (await readUnregistered(caller)).filter((object) => object.structure !== null)

  /** @throws UNIQUE_VIOLATION if the key of a view does not identify each of its rows */
  const checkKey = async (caller: Caller, { name, structure: { isView, key } }: StoredTable) => {
    if (!isView || key.length === 0) return
    const [row] = await db.viewScans.scan(findUnusableKey(name, key, db.dialect), caller)
    if (!row) return
    const values = key.map((column, index) => `'${column}' = ${row[`v${index}`]}`)
    throw keyNotUnique(name, Number(row.count), values.join(', '))
  }

  /** Registers the tables in one unit, so that they are never shown without these choices. */
  const registerAll = async (caller: Caller, tables: readonly StoredTable[], changes: TableChanges) => {
    if (tables.length === 0) return []
    const { label = '', note = null, isPublished = true, isEditable, fields = [] } = changes
    await registry.loadFacts()
    // Before the scans, so that an error in the request is reported at once.
    const chosen: UnnamedChoices[] = []
    for (const table of tables) {
      if (isEditable) checkEditable(table)
      const choices = await adoptedChoices(table.structure)
      const hiddenSources = registry.hiddenSources({ ...table, choices })
      const changed = changedChoices({ ...table, choices, hiddenSources }, fields)
      checkVisibleKey(table.structure.key, registry.hiddenSources({ ...table, choices: changed }))
      chosen.push(changed)
    }
    for (const table of tables) await checkKey(caller, table)
    const exactTypes = await measure(caller, tables)
    await caller.confirm()
    const unnamed = tables.map((table, index) => ({
      ...table,
      ...{ label, note, isPublished, isEditable: isEditable ?? !table.structure.isView },
      choices: measuredChoices(chosen[index] as UnnamedChoices, exactTypes[index] as ExactTypes)
    }))
    const now = clock()
    const audit = unnamed.map(({ name: target, isPublished, isEditable, choices }) => {
      const summary = { isPublished, isEditable, hidden: hiddenIn(choices.fields) }
      return auditRow(caller, now, { action: 'table.adopt', target, summary })
    })
    return register(unnamed, { now, audit })
  }

  /** @throws TABLE_NOT_FOUND, TABLE_REGISTERED, TABLE_UNUSABLE, TABLE_NOT_IMPORTABLE, VALIDATION_FAILED, UNIQUE_VIOLATION */
  const adoptTable = async (
    caller: Caller,
    name: string,
    { primaryKey, ...changes }: SingleImport = {}
  ): Promise<RegisteredTable> => {
    const tables = await readNamed(caller, [name])
    const keyed = primaryKey ? tables.map((table) => withKey(table, primaryKey)) : tables
    const [table] = await registerAll(caller, keyed, changes)
    return table as RegisteredTable
  }

  const adoptList = async (caller: Caller, names: readonly string[], changes: TableChanges) => {
    if (names.length === 1 && names[0] === ALL) return registerAll(caller, await readImportable(caller), changes)
    checkList(names)
    return registerAll(caller, await readNamed(caller, names), changes)
  }

  /**
   * Adopts one table or a list, as the request has `name` or `names`, with the same choices for each table. Registers
   * all tables or none.
   * @throws VALIDATION_FAILED, TABLE_NOT_FOUND, TABLE_REGISTERED, TABLE_UNUSABLE, TABLE_NOT_IMPORTABLE, UNIQUE_VIOLATION
   */
  const adoptTables = async (caller: Caller, request: TableImport): Promise<RegisteredTable | RegisteredTable[]> => {
    const { name, names, primaryKey, ...changes } = request
    if (names === undefined) {
      if (name === undefined) throw violation('/name', 'required', "'name' is required, or 'names' for several tables.")
      return adoptTable(caller, name, { ...changes, ...(primaryKey && { primaryKey }) })
    }
    if (primaryKey) throw violation('/primaryKey', 'conflict', "'primaryKey' is for one view. Send 'name'.")
    if (name !== undefined) throw violation('/names', 'unknown', "Send 'name' or 'names', not both.")
    return adoptList(caller, names, changes)
  }

  return { adoptTable, adoptTables, listAdoptable }
}
