import { lastingRowid, type RegisteredTable } from '../model/table.ts'
import type { Condition } from './conditions.ts'
import { orAbortUpdate } from './conflicts.ts'
import { columnRef, identifier } from './identifiers.ts'
import { namesOf, timestampUpdate, type UnitAssignment, valuesOf } from './records.ts'
import { type Param, type Statement, type Unit, UnitValue } from './statement.ts'
import { toNewValue, uniqueChecks } from './unique-checks.ts'
import { storeValue } from './unit-values.ts'

/** Records to change by a condition. */
interface RecordsToChange {
  readonly table: RegisteredTable
  readonly condition: Condition
  /** More records than this fail the unit. */
  readonly maxAffected: number
  /** The end of the statement that changes the records: see `changeGuard`. */
  readonly guard: string
}

/** Returns one row if the condition matches at most `maxAffected` records. */
const assertAtMost = ({ table, condition, maxAffected }: RecordsToChange): Statement => ({
  sql: `SELECT 1 WHERE (SELECT count(*) FROM (
    SELECT 1 FROM ${identifier(table.name)} WHERE ${condition.sql} LIMIT ?)) <= ?`,
  params: [...condition.params, BigInt(maxAffected) + 1n, BigInt(maxAffected)],
  expect: 1
})

/** A part of a key as JSON. An array has the digits of a BLOB. */
const partToJson = (value: string) =>
  `CASE typeof(${value}) WHEN 'blob' THEN json_array(hex(${value})) ELSE ${value} END`

const partOfJson = (json: string, index: number) =>
  `CASE json_type(${json}, '$[${index}]') WHEN 'array' THEN unhex(${json} ->> '$[${index}][0]') ELSE ${json} ->> ${index} END`

const identityOf = (table: RegisteredTable) => {
  const rowid = lastingRowid(table)
  return (rowid === null ? table.structure.key : [rowid]).map((name) => columnRef(table.name, name))
}

/**
 * Returns the statements before and after an update that check that each changed record is still one of `rows`. One that a
 * trigger has deleted, or moved to another key, is not found again: the check fails.
 */
const rowChecksOf = ({ table, condition }: RecordsToChange, rows: Condition) => {
  const name = identifier(table.name)
  const identity = identityOf(table)
  const keys = new UnitValue()
  const json = `json_array(${identity.map(partToJson).join(', ')})`
  const isSame = identity.map((part, index) => `${part} = ${partOfJson('changed.value', index)}`).join(' AND ')
  const check: Statement<Param> = {
    sql: `SELECT 1 FROM temp.json_each(?) AS changed LEFT JOIN ${name} ON ${isSame}
      WHERE ${identity[0]} IS NULL OR (${rows.sql}) IS NOT TRUE LIMIT 1`,
    params: [keys, ...rows.params],
    expect: 0,
    isRowCheck: true
  }
  const collected = `(SELECT json_group_array(${json}) FROM ${name} WHERE ${condition.sql})`
  return { before: [storeValue(keys, collected, condition.params)], after: [check] }
}

/**
 * Updates the records that a condition matches. The first statement counts them. `rows`: the records that the caller can
 * change; null: all. With `rows`, the last statement but one changes them, otherwise the last one.
 */
export const updateFiltered = (
  records: RecordsToChange,
  rows: Condition | null,
  assignments: readonly UnitAssignment[],
  now: number
): Unit<Param> => {
  const { table, condition, guard } = records
  const timestamp = timestampUpdate(table)
  const sets = namesOf(assignments)
    .map((name) => `${identifier(name)} = ?`)
    .join(', ')
  const sql = `UPDATE${orAbortUpdate(table, namesOf(assignments))} ${identifier(table.name)} SET ${sets}${timestamp.sql} WHERE ${condition.sql}${guard}`
  const params = [...valuesOf(assignments), ...timestamp.params(now), ...condition.params]
  const checks = uniqueChecks(table, assignments.map(toNewValue), () => ({
    where: condition.sql,
    params: condition.params
  }))
  const { before, after } = rows ? rowChecksOf(records, rows) : { before: [], after: [] }
  return [assertAtMost(records), ...checks, ...before, { sql, params }, ...after]
}

/** Deletes the records that a condition matches. The last statement deletes them. */
export const deleteFiltered = (records: RecordsToChange): Unit => {
  const { table, condition, guard } = records
  return [
    assertAtMost(records),
    { sql: `DELETE FROM ${identifier(table.name)} WHERE ${condition.sql}${guard}`, params: condition.params }
  ]
}
