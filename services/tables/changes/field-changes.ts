import { isDeepStrictEqual } from 'node:util'
import type { JsonType } from '../../../schemas/table.ts'
import type { FieldRedefinition } from '../../../schemas/table-changes.ts'
import { isStorableAs, storedTypeOf } from '../../model/column-types.ts'
import { invalid } from '../../model/errors.ts'
import { foldName } from '../../model/names.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import { type Choices, type Column, type RegisteredTable, type Structure, TIMESTAMPS } from '../../model/table.ts'
import { assertTable } from '../assert-table.ts'
import { fieldExists, fieldNotFound, structureInUse, tableOutdated } from '../failures.ts'
import { checkDefaults, checkFieldName, defaultViolations, jsonDefault, storedDefault } from './field-rules.ts'

/** What a request changes of a field, compared with the field as it is. undefined: unchanged. */
export interface FieldChange {
  readonly column: Column
  readonly name: string | undefined
  readonly label: string | undefined
  readonly jsonType: JsonType | undefined
  /** The declared type, if the stored values must be converted. */
  readonly storedType: string | undefined
  readonly isNotNull: boolean | undefined
  /** As SQLite stores it; null for none. */
  readonly defaultValue: SqlValue | undefined
}

/** @throws FIELD_NOT_FOUND */
export const fieldOf = ({ structure }: RegisteredTable, name: string): Column => {
  const column = structure.columns.find((other) => other.name === name)
  if (column) return column
  throw fieldNotFound(
    name,
    structure.columns.map((other) => other.name)
  )
}

const isTimestamp = ({ autoTimestamps }: Structure, { name }: Column) => autoTimestamps && TIMESTAMPS.includes(name)

/** The column as the request defines it, with the default that the request has or the one that it keeps. */
const redefinedColumn = (column: Column, { jsonType = column.jsonType, defaultValue }: FieldRedefinition): Column => {
  const isKept = isStorableAs(jsonType, column.sqliteType)
  return {
    ...column,
    jsonType,
    sqliteType: isKept ? column.sqliteType : storedTypeOf[jsonType],
    defaultValue: defaultValue === undefined ? column.defaultValue : jsonDefault({ jsonType, defaultValue }),
    checks: isKept ? column.checks : {}
  }
}

const hasNewDefault = (column: Column, defined: Column, { defaultValue }: FieldRedefinition) =>
  defaultValue !== undefined &&
  (defined.jsonType !== column.jsonType || !isDeepStrictEqual(defined.defaultValue, column.defaultValue))

/** @throws VALIDATION_FAILED */
const checkNewDefault = ({ columns }: Structure, column: Column, defined: Column, sent: FieldRedefinition) => {
  if (sent.defaultValue === undefined && column.defaultValue !== null && defined.jsonType !== column.jsonType) {
    const message = `'${column.name}' has a default. Send 'defaultValue', too: a value of the new type, or null.`
    throw invalid([{ path: '/defaultValue', code: 'required', message }])
  }
  if (!hasNewDefault(column, defined, sent)) return
  const details = defaultViolations(defined, '')
  if (details.length > 0) throw invalid(details)
  checkDefaults(
    columns.filter((other) => other !== column),
    [defined],
    () => ''
  )
}

/** @throws STRUCTURE_IN_USE, FIELD_EXISTS, VALIDATION_FAILED */
const checkChange = (table: RegisteredTable, change: FieldChange) => {
  const { column, name, jsonType, isNotNull, defaultValue } = change
  const isRedefined = jsonType !== undefined || isNotNull !== undefined || defaultValue !== undefined
  if (!isRedefined && name === undefined) return
  assertTable(table)
  if (table.isOutdated) throw tableOutdated(table.name)
  if (isTimestamp(table.structure, column)) {
    throw structureInUse(
      `'${column.name}' is a timestamp that Rowhouse fills (autoTimestamps). Only its label can change.`,
      'To change it, drop the other timestamp first: this switches autoTimestamps off.'
    )
  }
  if (isRedefined && column.isPrimary) {
    throw structureInUse(`'${column.name}' is the key, or a part of it. Only its name and its label can change.`)
  }
  if (isRedefined && column.isGenerated) throw structureInUse(`'${column.name}' is a generated column.`)
  if (name === undefined) return
  checkFieldName(name, '')
  const others = table.structure.columns.filter((other) => other !== column)
  if (others.some((other) => foldName(other.name) === foldName(name))) throw fieldExists(name)
}

/**
 * Compares a request with the field as it is.
 * @throws FIELD_NOT_FOUND, VALIDATION_FAILED, TABLE_READ_ONLY, STRUCTURE_CHANGED, STRUCTURE_IN_USE, FIELD_EXISTS
 */
export const readFieldChange = (table: RegisteredTable, field: string, sent: FieldRedefinition): FieldChange => {
  const column = fieldOf(table, field)
  const defined = redefinedColumn(column, sent)
  checkNewDefault(table.structure, column, defined, sent)
  const { label, nullable = column.nullable } = sent
  const change = {
    column,
    name: sent.name === column.name ? undefined : sent.name,
    label,
    jsonType: defined.jsonType === column.jsonType ? undefined : defined.jsonType,
    storedType: defined.sqliteType === column.sqliteType ? undefined : defined.sqliteType,
    isNotNull: nullable === column.nullable ? undefined : !nullable,
    defaultValue: hasNewDefault(column, defined, sent) ? storedDefault(defined) : undefined
  }
  checkChange(table, change)
  return change
}

/** The choices for the table after the change. The stored values were found to fit the new type. */
export const choicesAfter = (choices: Choices, change: FieldChange): Choices => {
  const { column, name = column.name, jsonType = column.jsonType, storedType = column.declaredType } = change
  const fields = choices.fields.map((field) => {
    if (field.name !== column.name) return field
    // A label that was only a copy of the name follows it.
    const { label = field.label === column.name ? name : field.label } = change
    return { ...field, name, label, jsonType, ...(change.jsonType !== undefined && { exactType: storedType }) }
  })
  return { ...choices, fields, ...(choices.labelField === column.name && { labelField: name }) }
}

/** The choices for the table without the field. */
export const choicesWithout = (choices: Choices, name: string): Choices => ({
  ...choices,
  fields: choices.fields.filter((field) => field.name !== name),
  ...(choices.labelField === name && { labelField: null }),
  autoTimestamps: choices.autoTimestamps && !TIMESTAMPS.includes(name)
})

/** The structure after the change, under the old name of the field. */
export const structureAfter = (structure: Structure, { column, jsonType, storedType }: FieldChange): Structure => {
  const { sqliteType, declaredType } = column
  const changed = {
    ...column,
    jsonType: jsonType ?? column.jsonType,
    sqliteType: jsonType && storedType ? storedTypeOf[jsonType] : sqliteType,
    declaredType: storedType ?? declaredType
  }
  return { ...structure, columns: structure.columns.map((other) => (other === column ? changed : other)) }
}
