import type { Param, Statement } from './statement.ts'

/** The table with the results of a unit that are stored with an Idempotency-Key. It is empty after each unit. */
const TABLE = '_rowhouse_unit_results'

/** A result of an operation in SQL, as the operation reads it: see `WriteResult`. */
export interface ResultSql {
  /** The number of changed rows. 1 if it is absent. */
  readonly changes?: string
  /** The `record` of the returned row; NULL or absent: no row. */
  readonly record?: string
  /** The parameters of both. */
  readonly params: readonly Param[]
}

/** The results of an operation in their order: those that are stored before its unit, and those after it. */
export interface Receipt {
  readonly before?: readonly ResultSql[]
  readonly after?: readonly ResultSql[]
}

/** The number of rows that the statement before this one has changed. */
export const CHANGES = 'changes()'

/** Stores a result. `operation`, `position`: of the operation in the unit, and of the result in the operation. */
export const storeResult = (
  operation: number,
  position: number,
  { changes = '1', record = 'NULL', params }: ResultSql
): Statement<Param> => ({
  sql: `INSERT INTO ${TABLE} (operation, position, changes, record) SELECT ?, ?, ${changes}, ${record}`,
  params: [BigInt(operation), BigInt(position), ...params]
})

/**
 * An expression for the results of all operations as JSON text: `[[{ changes, rows: [{ record }] }, …], …]`. Its parameter
 * is a JSON array of the operations' numbers.
 */
export const RESULTS_TEXT = `(SELECT json_group_array(json((
    SELECT json_group_array(json_object('changes', changes, 'rows',
      json(iif(record IS NULL, '[]', json_array(json_object('record', record))))) ORDER BY position)
    FROM ${TABLE} WHERE operation = numbers.value)) ORDER BY numbers.value)
  FROM temp.json_each(?) AS numbers)`

export const DELETE_RESULTS: Statement = { sql: `DELETE FROM ${TABLE}`, params: [] }
