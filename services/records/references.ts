import type { Database } from '../engine/database.ts'
import { foldName } from '../model/names.ts'
import type { SqlValue } from '../model/sql-value.ts'
import type { RegisteredTable } from '../model/table.ts'
import { selectForeignKeys, selectIfMissing } from '../sql/introspection.ts'
import type { Assignment } from '../sql/records.ts'

interface Reference {
  readonly parent: string
  readonly child: string
  readonly key: string
}

/** Returns the foreign keys of a table, each as a list of its columns. */
const foreignKeysOf = async (db: Database, table: string): Promise<readonly (readonly Reference[])[]> => {
  const keys = new Map<unknown, Reference[]>()
  for (const { id, parent, child, key } of await db.read(selectForeignKeys(table))) {
    const reference = { parent: String(parent), child: String(child), key: String(key) }
    keys.set(id, [...(keys.get(id) ?? []), reference])
  }
  return [...keys.values()]
}

/**
 * Returns the names of the sent fields that refer to a record that does not exist. SQLite's message names no column, so
 * each foreign key is checked again. Skips a key of which not all columns were sent, and a record that refers to itself.
 */
export const brokenReferences = async (db: Database, { name }: RegisteredTable, sent: readonly Assignment[]) => {
  const assignmentOf = (column: string) => sent.find(([sentColumn]) => foldName(sentColumn.name) === foldName(column))
  const sentValue = (column: string): SqlValue => assignmentOf(column)?.[1] ?? null

  const isBroken = async (references: readonly Reference[]) => {
    if (references.some(({ child }) => sentValue(child) === null)) return false
    const parent = String(references[0]?.parent)
    const isItself = references.every(({ child, key }) => sentValue(child) === sentValue(key))
    if (isItself && foldName(parent) === foldName(name)) return false
    const values = references.map(({ child, key }) => [key, sentValue(child)] as const)
    return (await db.read(selectIfMissing(parent, values))).length > 0
  }

  const names = new Set<string>()
  for (const references of await foreignKeysOf(db, name)) {
    if (!(await isBroken(references))) continue
    for (const { child } of references) names.add(String(assignmentOf(child)?.[0].name))
  }
  return [...names]
}
