import type { Database, ScanCaller } from '../engine/database.ts'
import { foldName } from '../model/names.ts'
import type { Row } from '../model/sql-value.ts'
import type { Structure } from '../model/table.ts'
import { describeAll, describeTable, describeTables, toStructure } from '../sql/introspection.ts'
import { notImportable } from './failures.ts'
import { isInternal, isReserved } from './reserved-names.ts'

/** The types of `pragma table_list` that are not ordinary tables. */
const OTHER_TYPES: Record<string, string> = {
  view: 'a view',
  virtual: 'a virtual table',
  shadow: 'a part of a virtual table'
}

/** A table of the file that can be served. */
export interface StoredTable {
  /** As it was declared. */
  readonly name: string
  readonly structure: Structure
}

/** A table or view of the file. If `structure` is null, it cannot be served, and `reason` says why. */
export type StoredObject =
  | (StoredTable & { readonly type: string; readonly reason: null })
  | { readonly name: string; readonly type: string; readonly structure: null; readonly reason: string }

/** `row`: a row of `describeEach` that found a table or view. */
const toStoredObject = (row: Row): StoredObject => {
  const [name, type] = [String(row.stored_name), String(row.stored_type)]
  const notServed = (reason: string) => ({ name, type, structure: null, reason })
  const other = OTHER_TYPES[type]
  if (other) return notServed(`'${name}' is ${other}; only ordinary tables can be served.`)
  if (isReserved(name)) return notServed(`'${name}' is a reserved name.`)
  const structure = toStructure(row)
  if (structure) return { name, type, structure, reason: null }
  return notServed(`'${name}' has no primary key, and its columns hide every name of its rowid.`)
}

const isFound = (row: Row) => row.stored_type !== null

/** @throws TABLE_NOT_IMPORTABLE for anything but an ordinary table with a key */
export const servable = (object: StoredObject): StoredTable => {
  if (object.structure === null) throw notImportable(object.reason)
  return object
}

/** Reads the tables and views of the file, registered or not. SQLite ignores case in their names. */
export const createStoredTables = (db: Database) => ({
  /** Returns null where SQLite has no such table or view. @throws TABLE_NOT_IMPORTABLE */
  read: async (name: string): Promise<StoredTable | null> => {
    const [object] = (await db.read(describeTable(name))).filter(isFound).map(toStoredObject)
    return object ? servable(object) : null
  },
  /** Returns the function that finds those of the names that SQLite has. */
  readNamed: async (names: readonly string[]) => {
    const objects = (await db.read(describeTables(names))).filter(isFound).map(toStoredObject)
    const byName = new Map(objects.map((object) => [foldName(object.name), object]))
    return (name: string) => byName.get(foldName(name))
  },
  /**
   * Returns all tables and views by name, except the parts of virtual tables and the tables of SQLite and of this
   * service. Runs in a reader thread: a file may have thousands.
   */
  readAll: async (caller: ScanCaller): Promise<readonly StoredObject[]> =>
    (await db.scan(describeAll, caller)).map(toStoredObject).filter(({ name }) => !isInternal(name))
})
