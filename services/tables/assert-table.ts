import type { RegisteredTable } from '../model/table.ts'
import { viewReadOnly } from './failures.ts'

/** @throws TABLE_READ_ONLY for an SQL view */
export const assertTable = ({ name, structure }: Pick<RegisteredTable, 'name' | 'structure'>) => {
  if (structure.isView) throw viewReadOnly(name)
}
