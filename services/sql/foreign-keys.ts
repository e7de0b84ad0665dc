import type { ForeignKey } from '../../schemas/table.ts'
import type { Row, SqlValue } from '../model/sql-value.ts'
import type { RegisteredTable } from '../model/table.ts'
import type { Condition } from './conditions.ts'
import { columnRef, identifier } from './identifiers.ts'
import type { RowCondition, Statement } from './statement.ts'
import { joinTerms } from './terms.ts'

/**
 * Returns SQL for the columns of the foreign keys of the stored table that `table` names, as JSON for `toForeignKeys`.
 * `tables`: a source of the `name` and `type` of all tables. SQLite numbers the foreign keys from the last to the first.
 */
export const foreignKeysJson = (table: string, tables: string) => `(
  SELECT json_group_array(json_object('id', f.id, 'field', f."from", 'table', target.name, 'targetField', (
      SELECT c.name FROM temp.pragma_table_xinfo(target.name) AS c
      WHERE CASE WHEN f."to" IS NULL THEN c.pk = f.seq + 1 ELSE c.name = f."to" COLLATE NOCASE END))
    ORDER BY f.id DESC, f.seq)
  FROM temp.pragma_foreign_key_list(${table}) AS f
  LEFT JOIN ${tables} AS target ON target.name = f."table" COLLATE NOCASE AND target.type = 'table')`

/** A column of a foreign key. The names of the target are null if it does not exist. */
interface KeyColumn {
  readonly id: number
  readonly field: string
  readonly table: string | null
  readonly targetField: string | null
}

/** The boundary where the JSON of `foreignKeysJson` gets its type. */
const keyColumns = ({ stored_foreign_keys }: Row) => JSON.parse(String(stored_foreign_keys)) as readonly KeyColumn[]

/** Returns the foreign keys whose target exists. */
export const toForeignKeys = (row: Row): readonly ForeignKey[] => {
  const keys = new Map<number, ForeignKey>()
  const broken = new Set<number>()
  for (const { id, field, table, targetField } of keyColumns(row)) {
    if (table === null || targetField === null) {
      broken.add(id)
      continue
    }
    const { fields, targetFields } = keys.get(id) ?? { fields: [], targetFields: [] }
    keys.set(id, { fields: [...fields, field], table, targetFields: [...targetFields, targetField] })
  }
  return [...keys].filter(([id]) => !broken.has(id)).map(([, key]) => key)
}

/** Selects a row if no record of the target table has these values, by column. */
export const selectIfMissing = (table: string, values: readonly (readonly [column: string, SqlValue])[]): Statement => {
  const isSame = values.map(([column]) => `${columnRef(table, column)} = ?`).join(' AND ')
  return {
    sql: `SELECT 1 AS missing WHERE NOT EXISTS (SELECT 1 FROM ${identifier(table)} WHERE ${isSame})`,
    params: values.map(([, value]) => value)
  }
}

/**
 * Returns the condition of the rows of a table that refer to one record by a foreign key. `+` removes the affinity of the
 * target, so the values are compared as in a filter of the table. `record`: the condition of the record.
 */
export const refersTo = (
  child: string,
  { fields, table, targetFields }: ForeignKey,
  { where, params }: RowCondition
): Condition => {
  const comparisons = fields.map((column, index) => {
    const value = `(SELECT +${columnRef(table, targetFields[index] as string)} FROM ${identifier(table)} WHERE ${where})`
    return {
      column,
      operator: '=' as const,
      sql: `${columnRef(child, column)} = ${value}`,
      params: params as readonly SqlValue[]
    }
  })
  return {
    sql: joinTerms(
      comparisons.map(({ sql }) => sql),
      'AND'
    ),
    params: comparisons.flatMap((comparison) => comparison.params),
    width: '0',
    tests: comparisons.length,
    comparisons,
    isIndexable: false,
    match: null
  }
}

/**
 * Returns the condition that a row of a table refers by a foreign key to a record that meets a condition. NULL refers to none.
 * `+` removes the affinity of the field, so that SQLite compares as the foreign key does. `alias`: the name of the parent in
 * `condition`.
 */
export const hasParent = (
  { name }: Pick<RegisteredTable, 'name'>,
  { fields, table, targetFields }: ForeignKey,
  alias: string,
  condition: Condition
): Condition => {
  const isParent = fields.map(
    (field, index) => `${columnRef(alias, targetFields[index] as string)} = +${columnRef(name, field)}`
  )
  const where = [...isParent, condition.sql].join(' AND ')
  return {
    sql: `EXISTS (SELECT 1 FROM ${identifier(table)} AS ${identifier(alias)} WHERE ${where})`,
    params: condition.params,
    width: '0',
    tests: fields.length + condition.tests,
    comparisons: [],
    isIndexable: false,
    match: null
  }
}
