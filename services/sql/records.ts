import type { SqlValue, Statement } from '../database/database.ts'
import type { Column, RegisteredTable } from '../tables/registered-table.ts'
import { identifier } from './identifiers.ts'
import { keyMatch } from './keys.ts'

/** A column and the value that SQLite stores for it. */
export type Assignment = readonly [column: Column, value: SqlValue]

export const selectRecordSql = ({ name, structure }: RegisteredTable, json: string) =>
  `SELECT ${json} AS record FROM ${identifier(name)} WHERE ${keyMatch(structure)}`

export const recordExists = ({ name, structure }: RegisteredTable, key: readonly SqlValue[]): Statement => ({
  sql: `SELECT 1 FROM ${identifier(name)} WHERE ${keyMatch(structure)}`,
  params: key
})

const insertSql = ({ name }: RegisteredTable, assignments: readonly Assignment[]) => {
  if (assignments.length === 0) return `INSERT INTO ${identifier(name)} DEFAULT VALUES`
  const columns = assignments.map(([column]) => identifier(column.name)).join(', ')
  return `INSERT INTO ${identifier(name)} (${columns}) VALUES (${assignments.map(() => '?').join(', ')})`
}

const valuesOf = (assignments: readonly Assignment[]) => assignments.map(([, value]) => value)

/** Inserts a record and returns it as JSON text. RETURNING shows the row as it was before AFTER triggers. */
export const insertRecord = (table: RegisteredTable, json: string, assignments: readonly Assignment[]): Statement => ({
  sql: `${insertSql(table, assignments)} RETURNING ${json} AS record`,
  params: valuesOf(assignments),
  expect: 1
})

const insertedRow = ({ structure }: RegisteredTable, assignments: readonly Assignment[]) => {
  if (structure.rowid !== null) return { where: `${identifier(structure.rowid)} = last_insert_rowid()`, params: [] }
  const key = assignments.filter(([{ isPrimary }]) => isPrimary)
  if (key.length < structure.key.length) return null
  return { where: key.map(([{ name }]) => `${identifier(name)} IS ?`).join(' AND '), params: valuesOf(key) }
}

/**
 * The same for tables with triggers: the record is read after they have run, in the same unit. Only a key that is a
 * default of the table, and no rowid, cannot be known beforehand: such a record is given as it was before them.
 */
export const insertThenSelect = (
  table: RegisteredTable,
  json: string,
  assignments: readonly Assignment[]
): readonly Statement[] => {
  const inserted = insertedRow(table, assignments)
  if (!inserted) return [insertRecord(table, json, assignments)]
  const { where, params } = inserted
  return [
    { sql: insertSql(table, assignments), params: valuesOf(assignments), expect: 1 },
    { sql: `SELECT ${json} AS record FROM ${identifier(table.name)} WHERE ${where}`, params, expect: 1 }
  ]
}

export interface RecordUpdate {
  readonly key: readonly SqlValue[]
  readonly assignments: readonly Assignment[]
  /** Read-only fields that were sent along: the record changes only if they are what is stored. */
  readonly unchanged: readonly Assignment[]
  /** Epoch milliseconds. */
  readonly now: number
}

/** A clock may stand still or go back; `updated_at` always moves. */
const touch = ({ structure }: RegisteredTable, now: number) =>
  structure.autoTimestamps
    ? { sql: ', "updated_at" = max(?, coalesce("updated_at", 0) + 1)', params: [BigInt(now)] }
    : { sql: '', params: [] }

export const updateRecord = (table: RegisteredTable, update: RecordUpdate): Statement => {
  const { key, assignments, unchanged, now } = update
  const touched = touch(table, now)
  const set = assignments.map(([column]) => `${identifier(column.name)} = ?`).join(', ')
  const same = unchanged.map(([column]) => ` AND ${identifier(column.name)} IS ?`).join('')
  return {
    sql: `UPDATE ${identifier(table.name)} SET ${set}${touched.sql} WHERE ${keyMatch(table.structure)}${same}`,
    params: [...valuesOf(assignments), ...touched.params, ...key, ...valuesOf(unchanged)],
    expect: 1
  }
}

export const deleteRecord = ({ name, structure }: RegisteredTable, key: readonly SqlValue[]): Statement => ({
  sql: `DELETE FROM ${identifier(name)} WHERE ${keyMatch(structure)}`,
  params: key,
  expect: 1
})

/**
 * Adds to a number in one statement; NULL counts as 0. The row stays as it is, and the statement misses its
 * expectation, where the field holds no number or the sum would not fit: outside STRICT tables SQLite would silently
 * turn an integer that overflows into a REAL, and text into a number.
 */
export const incrementRecord = (
  table: RegisteredTable,
  column: Column,
  { key, count, now }: { key: readonly SqlValue[]; count: SqlValue; now: number }
): Statement => {
  const before = `coalesce(${identifier(column.name)}, 0)`
  const touched = touch(table, now)
  const fits = [
    `typeof(${before}) IN ('integer', 'real')`,
    `${before} + ? BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308`,
    `(typeof(${before} + ?) = 'integer' OR typeof(${before}) = 'real' OR typeof(?) = 'real')`
  ]
  return {
    sql: `UPDATE ${identifier(table.name)} SET ${identifier(column.name)} = ${before} + ?${touched.sql}
      WHERE ${keyMatch(table.structure)} AND ${fits.join(' AND ')}`,
    params: [count, ...touched.params, ...key, count, count, count],
    expect: 1
  }
}
