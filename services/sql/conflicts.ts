import type { Structure } from '../model/table.ts'

/**
 * Returns the conflict clause of an INSERT or UPDATE of a table. ABORT overrides the clauses that its constraints declare.
 * SQLite also applies it to every statement of a trigger that fires, so that an INSERT OR REPLACE there would fail: only
 * where it is needed.
 */
export const orAbort = ({ declaresConflicts }: Pick<Structure, 'declaresConflicts'>) =>
  declaresConflicts ? ' OR ABORT' : ''
