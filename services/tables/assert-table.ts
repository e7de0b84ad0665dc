import type { RegisteredTable } from '../model/table.ts'
import { notReplicable, viewReadOnly } from './failures.ts'

/** @throws TABLE_READ_ONLY for an SQL view */
export const assertNoView = ({ name, structure }: Pick<RegisteredTable, 'name' | 'structure'>) => {
  if (structure.isView) throw viewReadOnly(name)
}

/** @throws TABLE_READ_ONLY for an SQL view; NOT_REPLICABLE for a table that the nodes of a cluster would store differently */
export const assertTable = (table: Pick<RegisteredTable, 'name' | 'structure' | 'unreplicable'>) => {
  assertNoView(table)
  if (table.unreplicable) throw notReplicable(table.name, table.unreplicable)
}
