import type { AuditFilter } from '../../schemas/audit.ts'
import type { SqlValue } from '../model/sql-value.ts'
import { type Dialect, tableGuard } from '../sql/dialect.ts'
import type { Statement } from '../sql/statement.ts'

const TABLE = '_rowhouse_audit'

/** Which rows a statement reads. */
export interface AuditRange extends AuditFilter {
  readonly before?: number
  readonly size: number
}

/** A condition with its value. undefined: not requested. */
type Condition = readonly [sql: string, value: SqlValue | undefined]

const toInteger = (value: number | undefined) => (value === undefined ? undefined : BigInt(value))

const conditionsOf = ({ action, caller, target, from, to, before }: Omit<AuditRange, 'size'>): readonly Condition[] => [
  ['id < ?', toInteger(before)],
  ['at >= ?', toInteger(from)],
  ['at < ?', toInteger(to)],
  ["instr(action || '.', ?) = 1", action && `${action}.`],
  ['caller_name = ? COLLATE NOCASE', caller],
  ['target = ? COLLATE NOCASE', target]
]

/** Reads rows, the latest first. For reader threads: a filter may match few of many rows. */
export const selectAudit = ({ size, ...range }: AuditRange, dialect: Dialect): Statement => {
  const requested = conditionsOf(range).flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]))
  const where = [tableGuard(TABLE, 'id', dialect), ...requested.map(({ sql }) => sql)].join(' AND ')
  return {
    sql: `SELECT * FROM ${TABLE} WHERE ${where} ORDER BY id DESC LIMIT ? + 0`,
    params: [...requested.map(({ value }) => value), BigInt(size)]
  }
}

/** Rows that one unit deletes. */
const MAX_PURGED = 1000

/** Deletes some rows that are older than a time, in epoch milliseconds. */
export const purgeAudit = (before: number): Statement => ({
  sql: `DELETE FROM ${TABLE} WHERE id IN (SELECT id FROM ${TABLE} WHERE at < ? ORDER BY at, id LIMIT ${MAX_PURGED})`,
  params: [BigInt(before)]
})
