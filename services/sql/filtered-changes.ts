import type { RegisteredTable } from '../model/table.ts'
import type { Condition } from './conditions.ts'
import { orAbortUpdate } from './conflicts.ts'
import { identifier } from './identifiers.ts'
import { namesOf, timestampUpdate, type UnitAssignment, valuesOf } from './records.ts'
import type { Param, Statement, Unit } from './statement.ts'
import { toNewValue, uniqueChecks } from './unique-checks.ts'

/** Records to change by a condition. */
interface RecordsToChange {
  readonly table: RegisteredTable
  readonly condition: Condition
  /** More records than this fail the unit. */
  readonly maxAffected: number
}

/** Returns one row if the condition matches at most `maxAffected` records. */
const assertAtMost = ({ table, condition, maxAffected }: RecordsToChange): Statement => ({
  sql: `SELECT 1 WHERE (SELECT count(*) FROM (
    SELECT 1 FROM ${identifier(table.name)} WHERE ${condition.sql} LIMIT ?)) <= ?`,
  params: [...condition.params, BigInt(maxAffected) + 1n, BigInt(maxAffected)],
  expect: 1
})

/** Updates the records that a condition matches. The first statement counts them, and the last one changes them. */
export const updateFiltered = (
  records: RecordsToChange,
  assignments: readonly UnitAssignment[],
  now: number
): Unit<Param> => {
  const { table, condition } = records
  const timestamp = timestampUpdate(table)
  const sets = namesOf(assignments)
    .map((name) => `${identifier(name)} = ?`)
    .join(', ')
  const sql = `UPDATE${orAbortUpdate(table, namesOf(assignments))} ${identifier(table.name)} SET ${sets}${timestamp.sql} WHERE ${condition.sql}`
  const params = [...valuesOf(assignments), ...timestamp.params(now), ...condition.params]
  const checks = uniqueChecks(table, assignments.map(toNewValue), () => ({
    where: condition.sql,
    params: condition.params
  }))
  return [assertAtMost(records), ...checks, { sql, params }]
}

/** Deletes the records that a condition matches. The last statement deletes them. */
export const deleteFiltered = (records: RecordsToChange): Unit => {
  const { table, condition } = records
  return [
    assertAtMost(records),
    { sql: `DELETE FROM ${identifier(table.name)} WHERE ${condition.sql}`, params: condition.params }
  ]
}
