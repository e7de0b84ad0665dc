import type { Column, RegisteredTable } from '../model/table.ts'
import type { UniqueField, UniqueKey } from '../model/unique-key.ts'
import type { Condition } from './conditions.ts'
import { insertClauses } from './conflicts.ts'
import { columnRef, identifier } from './identifiers.ts'
import {
  checkRow,
  composeInsert,
  insertedRow,
  namesOf,
  recordAt,
  returnRecord,
  returnValue,
  timestampUpdate,
  type UnitAssignment,
  valuesOf,
  withComputedKey
} from './records.ts'
import { isValue, type Param, type RowCondition, type Statement } from './statement.ts'
import { hasKey } from './unique-keys.ts'
import type { Receipt } from './unit-results.ts'
import { storeField, type UsedField } from './unit-values.ts'

interface Upsert {
  readonly table: RegisteredTable
  /** All values of a new record. */
  readonly assignments: readonly UnitAssignment[]
  readonly key: UniqueKey
  /** The columns that change in a record that exists. */
  readonly changed: readonly Column[]
  /** Columns of the primary key that are sent, if `key` is another one. A record that exists must have these values. */
  readonly unchanged: readonly Column[]
  /** The records that can be changed. null: all of them. */
  readonly rows: Condition | null
  /** An expression for the record that is returned. */
  readonly json: string
  /** A record that exists is not changed. */
  readonly onlyCreates: boolean
  /** Triggers or foreign key actions may change the record after it was stored. */
  readonly hasEffects: boolean
  /** Epoch milliseconds. */
  readonly now: number
}

/** Columns that the statement sets in a record that exists. It must set one, so it may set a column to its own value. */
const setsOf = ({ table: { name }, changed, key }: Upsert, timestamp: string) => {
  if (changed.length > 0) {
    return (
      changed.map((column) => `${identifier(column.name)} = excluded.${identifier(column.name)}`).join(', ') + timestamp
    )
  }
  const [first] = key.fields.map((field) => field.name)
  return `${identifier(String(first))} = ${columnRef(name, String(first))}`
}

/** Two unique indexes can have the same fields, with different collations. The rowid has no index. */
const conflictColumn = ({ structure }: RegisteredTable, { name, collation }: UniqueField) =>
  name === structure.rowid ? identifier(name) : `${identifier(name)} COLLATE ${identifier(collation)}`

/** The record with the values of an upsert in its key, as a condition. */
const recordOf = ({ table, assignments, key }: Pick<Upsert, 'table' | 'assignments' | 'key'>): RowCondition => ({
  where: hasKey(table.name, key, () => '?'),
  params: key.fields.map((field) => assignments.find(([column]) => column.name === field.name)?.[1] as Param)
})

/** Adds to a condition that of the records that can be changed. */
const within = ({ rows }: Pick<Upsert, 'rows'>, { where, params }: RowCondition): RowCondition =>
  rows ? { where: `${where} AND ${rows.sql}`, params: [...params, ...rows.params] } : { where, params }

/** Selects a row if the record exists, and can be changed. */
export const selectUpserted = (upsert: Pick<Upsert, 'table' | 'assignments' | 'key' | 'rows'>): Statement<Param> => {
  const { where, params } = within(upsert, recordOf(upsert))
  return { sql: `SELECT 1 FROM ${identifier(upsert.table.name)} WHERE ${where}`, params }
}

/**
 * Returns the record after an upsert, as a condition, with the values of a new record and the statements that compute its
 * key. A NULL in the key of the upsert conflicts with nothing, as in the index itself: the record is new.
 */
const storedRow = (upsert: Upsert) => {
  const { table } = upsert
  const found = recordOf(upsert)
  const known = found.params.every(isValue)
  if (known && !found.params.includes(null)) return { before: [], assignments: upsert.assignments, row: found }
  const { before, assignments } = withComputedKey(table, upsert.assignments)
  const inserted = insertedRow(table, assignments)
  if (known) return { before, assignments, row: inserted }
  // A value that an earlier statement stores may be NULL.
  const hasNull = found.params.map(() => '? IS NULL').join(' OR ')
  const where = `(${found.where}) OR ((${hasNull}) AND ${inserted.where})`
  return { before, assignments, row: { where, params: [...found.params, ...found.params, ...inserted.params] } }
}

/**
 * Returns the statements of an upsert. `before`: a statement that returns a row if the record exists, and those that compute
 * the key. `unit`: the statements that change it and return the `record`; the first one changes one row. `used`: the fields
 * that later statements use. `receipt`: the results of the first and the last statement.
 */
export const upsertStatements = (upsert: Upsert, used: readonly UsedField[] = []) => {
  const { table, unchanged, json, hasEffects, now } = upsert
  const name = identifier(table.name)
  const { before, assignments, row } = storedRow(upsert)
  const target = upsert.key.fields.map((field) => conflictColumn(table, field)).join(', ')
  const timestamp = timestampUpdate(table)
  const conditions = [
    ...unchanged.map((column) => `${columnRef(table.name, column.name)} IS excluded.${identifier(column.name)}`),
    ...(upsert.rows ? [upsert.rows.sql] : [])
  ]
  const action = upsert.onlyCreates
    ? 'NOTHING'
    : `UPDATE SET ${setsOf(upsert, timestamp.sql)}${conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : ''}`
  const setsTimestamp = !upsert.onlyCreates && upsert.changed.length > 0
  const insert = `${composeInsert(table, namesOf(assignments))} ON CONFLICT (${target}) DO ${action}${insertClauses(table).after}`
  const rowParams = upsert.onlyCreates ? [] : (upsert.rows?.params ?? [])
  const params = [...valuesOf(assignments), ...(setsTimestamp ? timestamp.params(now) : []), ...rowParams]
  const found = selectUpserted(upsert)
  const exists = `EXISTS (${found.sql})`
  const find = { sql: returnValue('1', 'found', exists), params: found.params }
  const checks = upsert.rows ? [checkRow(table, upsert.rows, row)] : []
  const change = hasEffects
    ? [
        { sql: insert, params, expect: 1 },
        ...checks,
        { sql: returnRecord(name, json, row.where), params: [...row.params, ...row.params], expect: 1 }
      ]
    : [{ sql: `${insert} RETURNING ${json} AS record`, params, expect: 1 }, ...checks]
  const receipt = (): Receipt => ({
    before: [{ record: `(SELECT '' WHERE ${exists})`, params: found.params }],
    after: [{ record: recordAt(name, json, row.where), params: row.params }]
  })
  const fields = used.map((field) => storeField(field, table.name, row))
  return { before: [find, ...before], unit: [...change, ...fields], receipt }
}
