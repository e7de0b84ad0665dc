import { foldName } from '../model/names.ts'
import type { Column, RegisteredTable } from '../model/table.ts'
import type { UniqueKey } from '../model/unique-key.ts'
import { keysToCheck } from './conflicts.ts'
import { columnRef, identifier } from './identifiers.ts'
import type { Param, RowCondition, Unit } from './statement.ts'

/** The value that an update stores in a field, in each record. */
export interface NewValue {
  readonly name: string
  /** An expression in SQL. */
  readonly sql: string
  readonly param: Param
}

/** Returns the new value of a field that a parameter sets. */
export const toNewValue = ([{ name }, param]: readonly [Column, Param]): NewValue => ({ name, sql: '?', param })

const CHANGED = '_rowhouse_changed'

const keyPart = (position: number) => columnRef(CHANGED, `key_${position}`)
const idPart = (position: number) => columnRef(CHANGED, `id_${position}`)

/** Two records of a table without a rowid differ in their key, also if the collation of a column hides it. */
const idsOf = ({ name, structure: { rowid, key } }: RegisteredTable) =>
  rowid === null ? key.map((part) => `${columnRef(name, part)} COLLATE BINARY`) : [columnRef(name, rowid)]

const newValueOf = (values: readonly NewValue[], field: string) =>
  values.find(({ name }) => foldName(name) === foldName(field))

/** Selects a row if the changed records have the values of another record in a unique key, or of each other. */
const selectConflict = (table: RegisteredTable, { fields }: UniqueKey, values: readonly NewValue[], where: string) => {
  const name = identifier(table.name)
  const newValue = (field: string) => newValueOf(values, field)?.sql ?? columnRef(table.name, field)
  const ids = idsOf(table)
  const columns = [
    ...fields.map((field, position) => `${newValue(field.name)} AS key_${position}`),
    ...ids.map((id, position) => `${id} AS id_${position}`)
  ]
  const inIndex = fields.map(({ collation }, position) => `${keyPart(position)} COLLATE ${identifier(collation)}`)
  const sameKey = fields.map((field, position) => `${columnRef(table.name, field.name)} = ${inIndex[position]}`)
  const sameRecord = ids.map((id, position) => `${id} IS ${idPart(position)}`)
  return `WITH ${CHANGED} AS (SELECT ${columns.join(', ')} FROM ${name} WHERE ${where})
    SELECT 1 FROM ${CHANGED} JOIN ${name} ON ${sameKey.join(' AND ')} WHERE NOT (${sameRecord.join(' AND ')})
    UNION ALL
    SELECT 1 FROM ${CHANGED} WHERE ${fields.map((_, position) => `${keyPart(position)} IS NOT NULL`).join(' AND ')}
    GROUP BY ${inIndex.join(', ')} HAVING count(*) > 1`
}

/**
 * Returns a statement that fails if an update to these values violates a unique key; none if OR ABORT protects them.
 * `changed`: the condition of the records that it changes.
 */
export const uniqueChecks = (
  table: RegisteredTable,
  values: readonly NewValue[],
  changed: () => RowCondition
): Unit<Param> => {
  const keys = keysToCheck(
    table,
    values.map(({ name }) => name)
  )
  if (keys.length === 0) return []
  const { where, params } = changed()
  const paramsOf = ({ fields }: UniqueKey) =>
    fields.flatMap(({ name }) => newValueOf(values, name) ?? []).map(({ param }) => param)
  return [
    {
      sql: `SELECT 1 WHERE ${keys.map((key) => `EXISTS (${selectConflict(table, key, values, where)})`).join(' OR ')}`,
      params: keys.flatMap((key) => [...paramsOf(key), ...params]),
      expect: 0
    }
  ]
}
