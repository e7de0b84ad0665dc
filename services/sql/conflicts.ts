import { foldName } from '../model/names.ts'
import type { RegisteredTable, Structure } from '../model/table.ts'

/**
 * Returns the conflict clause of an INSERT or UPDATE of a table. ABORT overrides the clauses that its constraints declare.
 * SQLite also applies it to every statement of a trigger that fires, so that an INSERT OR REPLACE there would fail: only
 * where it is needed.
 */
export const orAbort = ({ conflictFields }: Pick<Structure, 'conflictFields'>) =>
  conflictFields === null ? '' : ' OR ABORT'

type Target = Pick<RegisteredTable, 'structure' | 'hasConflictTriggers'>

/** Returns the conflict clause of an UPDATE of these fields. */
export const orAbortUpdate = ({ structure, hasConflictTriggers }: Target, changed: readonly string[]) => {
  const mayConflict = changed.some((name) => structure.conflictFields?.includes(foldName(name)))
  return hasConflictTriggers && !mayConflict ? '' : orAbort(structure)
}

/** Whether an INSERT must ignore a conflict, and so store nothing, because OR ABORT would break a trigger. */
export const insertsOrIgnores = ({ structure, hasConflictTriggers }: Target) =>
  structure.conflictFields !== null && hasConflictTriggers
