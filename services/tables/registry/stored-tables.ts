import type { Database, ScanCaller } from '../../engine/database.ts'
import { foldName } from '../../model/names.ts'
import type { Row } from '../../model/sql-value.ts'
import type { Structure } from '../../model/table.ts'
import { describeAll, describeTable, describeTables, toStructure } from '../../sql/introspection.ts'
import { notImportable } from '../failures.ts'
import { isInternal, isReserved } from '../names/reserved-names.ts'
import { readView } from './stored-views.ts'

/** The types of `pragma table_list` that cannot be served. */
const OTHER_TYPES: Record<string, string> = {
  virtual: 'a virtual table',
  shadow: 'a part of a virtual table'
}

/** A table or view of the file that can be served. */
export interface StoredTable {
  /** As it was declared. */
  readonly name: string
  readonly structure: Structure
}

/** A table or view of the file. If `structure` is null, it cannot be served, for the `reason`. */
export type StoredObject =
  | (StoredTable & { readonly type: string; readonly reason: null })
  | { readonly name: string; readonly type: string; readonly structure: null; readonly reason: string }

/** `row`: a row of `describeEach` that found a table or view. `view`: the structure of a view, or why it has none. */
const toStoredObject = (row: Row, view?: Structure | string): StoredObject => {
  const [name, type] = [String(row.stored_name), String(row.stored_type)]
  const notServed = (reason: string) => ({ name, type, structure: null, reason })
  const other = OTHER_TYPES[type]
  if (other) return notServed(`'${name}' is ${other}; only ordinary tables and views can be served.`)
  if (isReserved(name)) return notServed(`'${name}' is a reserved name.`)
  if (typeof view === 'string')
    return notServed(`SQLite cannot prepare the view '${name}': ${view.replace(/\.$/, '')}.`)
  const structure = view ?? toStructure(row)
  if (structure) return { name, type, structure, reason: null }
  return notServed(`'${name}' has no primary key, and its columns hide every name of its rowid.`)
}

const isFound = (row: Row) => row.stored_type !== null

/** @throws TABLE_NOT_IMPORTABLE for anything but an ordinary table with a key, or a view that SQLite can prepare */
export const servable = (object: StoredObject): StoredTable => {
  if (object.structure === null) throw notImportable(object.reason)
  return object
}

/** Reads the tables and views of the file, registered or not. SQLite ignores case in their names. */
export const createStoredTables = (db: Database) => {
  const describe = async (caller: ScanCaller, row: Row): Promise<StoredObject> =>
    row.stored_type === 'view'
      ? toStoredObject(row, await readView(db, caller, String(row.stored_name)))
      : toStoredObject(row)

  const describeFound = async (caller: ScanCaller, rows: readonly Row[]) => {
    const objects: StoredObject[] = []
    for (const row of rows.filter(isFound)) objects.push(await describe(caller, row))
    return objects
  }

  return {
    /** Returns null where SQLite has no such table or view. @throws TABLE_NOT_IMPORTABLE */
    read: async (caller: ScanCaller, name: string): Promise<StoredTable | null> => {
      const [object] = await describeFound(caller, await db.read(describeTable(name)))
      return object ? servable(object) : null
    },
    /** Returns the function that finds those of the names that SQLite has. */
    readNamed: async (caller: ScanCaller, names: readonly string[]) => {
      const objects = await describeFound(caller, await db.read(describeTables(names)))
      const byName = new Map(objects.map((object) => [foldName(object.name), object]))
      return (name: string) => byName.get(foldName(name))
    },
    /**
     * Returns the tables and views by name that `isListed` accepts, except the parts of virtual tables and the tables of
     * SQLite and of this service. Runs in a reader thread: a file may have thousands.
     */
    readAll: async (caller: ScanCaller, isListed: (name: string) => boolean): Promise<readonly StoredObject[]> => {
      const rows = await db.scan(describeAll, caller)
      const listed = rows.filter(({ stored_name }) => !isInternal(String(stored_name)) && isListed(String(stored_name)))
      return describeFound(caller, listed)
    }
  }
}
