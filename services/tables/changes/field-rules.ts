import type { ErrorDetail } from '../../../schemas/error.ts'
import type { NewField } from '../../../schemas/new-table.ts'
import { declarableTypesOf, storedTypeOf } from '../../model/column-types.ts'
import { invalid } from '../../model/errors.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import type { Column, DefaultLiteral } from '../../model/table.ts'
import { checkValue } from '../../model/values.ts'
import { checkViolations, declaredChecks, passes } from './field-checks.ts'

const KEY_TYPES = ['integer', 'number', 'string']

/** Characters of one default as JSON. The response to a create contains all defaults, however short the request is. */
const MAX_DEFAULT_LENGTH = 4000
/** Characters of all defaults of a table together. */
const MAX_DEFAULTS_LENGTH = 64 * 1024

/** How `createTableSql` writes the default of a field. */
const declaredLiteral = ({ jsonType, sqliteType, defaultValue = null }: NewField): DefaultLiteral => {
  if (defaultValue === null) return 'none'
  if (sqliteType === 'BLOB') return 'blob'
  return storedTypeOf[jsonType] === 'TEXT' ? 'text' : 'number'
}

/** Returns the default as JSON has it. A `bigint` is a wide integer, which the JSON of a table has as decimal text. */
export const jsonDefault = ({ jsonType, defaultValue = null }: Pick<NewField, 'jsonType' | 'defaultValue'>) => {
  if (typeof defaultValue !== 'bigint') return defaultValue
  return jsonType === 'integer' ? String(defaultValue) : Number(defaultValue)
}

/** Returns the column for a declared field. `isComposite`: the key of the table has several fields. */
export const toColumn = (field: NewField, isComposite = false): Column => {
  const { isPrimary = false } = field
  const sqliteType = field.sqliteType ?? storedTypeOf[field.jsonType]
  return {
    name: field.name,
    label: field.label ?? field.name,
    sqliteType,
    jsonType: field.jsonType,
    nullable: field.nullable ?? true,
    defaultValue: jsonDefault(field),
    isPrimary,
    isAutoIncrement: field.isAutoIncrement ?? false,
    isHidden: field.isHidden ?? false,
    isReadonly: field.isReadonly ?? false,
    // Of a table, `withIndexFacts` sets both.
    isIndexed: field.isIndexed === true || field.isUnique === true,
    isUnique: field.isUnique === true,
    declaredType: sqliteType,
    isGenerated: false,
    isNotNull: isPrimary ? isComposite || sqliteType !== 'INTEGER' : field.nullable === false,
    defaultLiteral: declaredLiteral(field),
    checks: declaredChecks(field)
  }
}

/** A rule for a declared field. `property` and `code` are those of the error detail. */
type Rule = readonly [isViolated: boolean, property: string, code: string, message: string]

export const isReservedFieldName = (name: string) => /^sqlite_/i.test(name)

const rulesOf = (field: NewField, isComposite: boolean): readonly Rule[] => {
  const { name, jsonType, sqliteType, isPrimary = false, isAutoIncrement = false, isHidden = false } = field
  const types = declarableTypesOf(jsonType)
  return [
    [
      sqliteType !== undefined && !types.includes(sqliteType),
      'sqliteType',
      'type',
      `The sqliteType of '${name}' must be ${types.join(' or ')}, because its jsonType is ${jsonType}.`
    ],
    [
      isPrimary && !KEY_TYPES.includes(jsonType),
      'isPrimary',
      'type',
      `'${name}' cannot be the key: its jsonType must be one of ${KEY_TYPES.join(', ')}.`
    ],
    [
      isAutoIncrement && (isComposite || !(isPrimary && jsonType === 'integer')),
      'isAutoIncrement',
      'type',
      `'${name}' cannot be auto-incremented: it is not the integer key of the table.`
    ],
    [isPrimary && isHidden, 'isHidden', 'key', `'${name}' is the key and cannot be hidden.`],
    [
      isPrimary && !isComposite && jsonType === 'integer' && (field.defaultValue ?? null) !== null,
      'defaultValue',
      'key',
      `'${name}' cannot have a default: it is an integer key, whose values SQLite generates.`
    ],
    [
      field.references?.onDelete === 'setNull' && (isPrimary || field.nullable === false),
      'references/onDelete',
      'conflict',
      `A delete cannot set '${name}' to null, because it must not be null.`
    ]
  ]
}

const violationsIn = (rules: readonly Rule[], path: string): ErrorDetail[] =>
  rules
    .filter(([isViolated]) => isViolated)
    .map(([, property, code, message]) => ({ path: `${path}/${property}`, code, message }))

/** Checks the new name of a field. `path`: where the field is in the request. @throws VALIDATION_FAILED */
export const checkFieldName = (name: string, path: string) => {
  if (!isReservedFieldName(name)) return
  const message = `'${name}' must not begin with sqlite_, which SQLite reserves.`
  throw invalid([{ path: `${path}/name`, code: 'format', message }])
}

const violations = (field: NewField, path: string, isComposite: boolean): ErrorDetail[] => [
  ...violationsIn(rulesOf(field, isComposite), path),
  ...checkViolations(field, path)
]

const defaultLength = ({ defaultValue }: Column) => (defaultValue === null ? 0 : JSON.stringify(defaultValue).length)

/**
 * Checks the length of all defaults together. `before`: the existing columns. `added`: the new columns.
 * @throws VALIDATION_FAILED
 */
export const checkDefaults = (
  before: readonly Column[],
  added: readonly Column[],
  pathOf: (index: number) => string
) => {
  let total = before.reduce((sum, column) => sum + defaultLength(column), 0)
  for (const [index, column] of added.entries()) {
    const length = defaultLength(column)
    total += length
    if (length === 0 || total <= MAX_DEFAULTS_LENGTH) continue
    const message = `The default of '${column.name}' is too long: all defaults of a table must have at most ${MAX_DEFAULTS_LENGTH} characters together, as JSON.`
    throw invalid([{ path: `${pathOf(index)}/defaultValue`, code: 'length', message }])
  }
}

const checkDefaultLength = (column: Column, path: string): ErrorDetail[] => {
  if (defaultLength(column) <= MAX_DEFAULT_LENGTH) return []
  const message = `The default of '${column.name}' must have at most ${MAX_DEFAULT_LENGTH} characters as JSON.`
  return [{ path: `${path}/defaultValue`, code: 'length', message }]
}

const checkDefaultRules = ({ name, defaultValue, checks }: Column, path: string): ErrorDetail[] => {
  if (passes(defaultValue, checks)) return []
  return [{ path: `${path}/defaultValue`, code: 'range', message: `The default of '${name}' violates its rules.` }]
}

/** Returns what is wrong with the default of a column. `path`: where the field is in the request. */
export const defaultViolations = (column: Column, path: string): ErrorDetail[] => {
  if (column.defaultValue === null) return []
  const checked = checkValue(column, column.defaultValue)
  if (!('violation' in checked)) return [...checkDefaultLength(column, path), ...checkDefaultRules(column, path)]
  const { code, message, subPath = '' } = checked.violation
  return [
    { path: `${path}/defaultValue${subPath}`, code, message: `The default of '${column.name}${subPath}' ${message}.` }
  ]
}

/** Checks one field without its name. `path`: where it is in the request. @throws VALIDATION_FAILED */
export const checkField = (field: NewField, path: string, isComposite = false) => {
  const details = [...violations(field, path, isComposite), ...defaultViolations(toColumn(field, isComposite), path)]
  if (details.length > 0) throw invalid(details)
}

/** Returns the default as SQLite stores it, for a column that has passed `checkField`. */
export const storedDefault = (column: Column): SqlValue => {
  if (column.defaultValue === null) return null
  const { value } = checkValue(column, column.defaultValue) as { readonly value: SqlValue }
  return value
}
