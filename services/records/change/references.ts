import type { ForeignKey } from '../../../schemas/table.ts'
import type { Database } from '../../engine/database.ts'
import { foldName } from '../../model/names.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { selectIfMissing } from '../../sql/foreign-keys.ts'
import type { UnitAssignment } from '../../sql/records.ts'
import { isValue } from '../../sql/statement.ts'

/**
 * Returns the names of the sent fields that refer to a record that does not exist. SQLite's message names no column, so
 * each foreign key is checked again. Skips a key of which not all values are known, and a record that refers to itself.
 */
export const brokenReferences = async (
  db: Database,
  { name, structure }: RegisteredTable,
  sent: readonly UnitAssignment[]
) => {
  const sentValue = (field: string): SqlValue => {
    const value = sent.find(([column]) => foldName(column.name) === foldName(field))?.[1] ?? null
    return isValue(value) ? value : null
  }

  const isBroken = async ({ fields, table, targetFields }: ForeignKey) => {
    const values = fields.map(sentValue)
    if (values.includes(null)) return false
    const isItself = targetFields.every((field, index) => sentValue(field) === values[index])
    if (isItself && foldName(table) === foldName(name)) return false
    const targets = targetFields.map((field, index) => [field, values[index] as SqlValue] as const)
    return (await db.read(selectIfMissing(table, targets))).length > 0
  }

  const names = new Set<string>()
  for (const key of structure.foreignKeys) {
    if (!(await isBroken(key))) continue
    for (const field of key.fields) names.add(field)
  }
  return [...names]
}
