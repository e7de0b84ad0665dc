import type { RegisteredTable } from '../model/table.ts'
import type { Database } from './database.ts'

/** Returns where unbounded statements on the table run: those on SQL views run apart from all others. */
export const scansOf = (
  db: Database,
  { structure }: Pick<RegisteredTable, 'structure'>
): Pick<Database['viewScans'], 'scan' | 'holdReader'> => (structure.isView ? db.viewScans : db)
