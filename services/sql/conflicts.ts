import { foldName } from '../model/names.ts'
import type { RegisteredTable, Structure } from '../model/table.ts'
import type { UniqueKey } from '../model/unique-key.ts'

/**
 * Returns the conflict clause of an INSERT or UPDATE of a table. ABORT overrides the clauses that its constraints declare.
 * SQLite also applies it to every statement of a trigger that fires, so that an INSERT OR REPLACE there would fail: only
 * where it is needed.
 */
export const orAbort = ({ conflicts }: Pick<Structure, 'conflicts'>) => (conflicts === null ? '' : ' OR ABORT')

type Target = Pick<RegisteredTable, 'structure' | 'hasConflictTriggers'>

/** Whether OR ABORT would break a trigger of the table. Its statements then need `uniqueChecks` or ON CONFLICT DO NOTHING. */
export const mustNotAbort = ({ structure, hasConflictTriggers }: Target) =>
  structure.conflicts !== null && hasConflictTriggers

/** Returns the conflict clause of an UPDATE of these fields. If it is empty, `uniqueChecks` run before the UPDATE. */
export const orAbortUpdate = (table: Target, changed: readonly string[]) => {
  const { conflicts } = table.structure
  const mayConflict = changed.some((name) => conflicts?.fields.includes(foldName(name)))
  const isUnchecked = mayConflict && conflicts?.keys === null
  return mustNotAbort(table) && !isUnchecked ? '' : orAbort(table.structure)
}

/** Returns the unique keys that an UPDATE of these fields may violate, and that its conflict clause does not protect. */
export const keysToCheck = (table: Target, changed: readonly string[]): readonly UniqueKey[] => {
  if (!mustNotAbort(table)) return []
  const names = changed.map(foldName)
  const keys = table.structure.conflicts?.keys ?? []
  return keys.filter(({ fields }) => fields.some(({ name }) => names.includes(foldName(name))))
}

/** Without OR ABORT, an INSERT stores nothing in a conflict. The number of its rows shows this. */
export const insertClauses = (table: Target) =>
  mustNotAbort(table)
    ? { before: '', after: ' ON CONFLICT DO NOTHING' }
    : { before: orAbort(table.structure), after: '' }
