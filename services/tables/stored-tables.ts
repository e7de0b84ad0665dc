import type { Database } from '../engine/database.ts'
import type { Structure } from '../model/table.ts'
import { describeTable, toStructure } from '../sql/introspection.ts'
import { notImportable } from './failures.ts'

/** The types of `pragma table_list` that are not ordinary tables. */
const OTHER_TYPES: Record<string, string> = {
  view: 'a view',
  virtual: 'a virtual table',
  shadow: 'a part of a virtual table'
}

interface StoredTable {
  /** As it was declared. */
  readonly name: string
  readonly structure: Structure
}

/**
 * Returns the function that reads a stored table by its name, ignoring case. It returns null where SQLite has no such
 * table or view. @throws TABLE_NOT_IMPORTABLE for anything but an ordinary table with a key
 */
export const createStoredTables =
  (db: Database) =>
  async (name: string): Promise<StoredTable | null> => {
    const [row] = await db.read(describeTable(name))
    const type = row?.stored_type ?? null
    if (!row || type === null) return null
    const stored = String(row.stored_name)
    const other = OTHER_TYPES[String(type)]
    if (other) throw notImportable(`'${stored}' is ${other}; only ordinary tables can be served.`)
    const structure = toStructure(row)
    if (structure) return { name: stored, structure }
    throw notImportable(`'${stored}' has no primary key, and its columns hide every name of its rowid.`)
  }
