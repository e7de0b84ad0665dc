import type { ErrorDetail } from '../../schemas/error.ts'
import type { NewField, NewTable } from '../../schemas/table.ts'
import { storedTypeOf } from '../model/column-types.ts'
import { invalid } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { SqlValue } from '../model/sql-value.ts'
import { type Column, type Structure, TIMESTAMPS } from '../model/table.ts'
import { checkValue } from '../model/values.ts'
import { reachableRowid } from '../sql/introspection.ts'

const timestampField = (name: string): NewField => ({ name, jsonType: 'integer', isReadonly: true })

const KEY_TYPES = ['integer', 'number', 'string']

const toColumn = (field: NewField): Column => ({
  name: field.name,
  label: field.label ?? field.name,
  sqliteType: storedTypeOf[field.jsonType],
  jsonType: field.jsonType,
  nullable: field.nullable ?? true,
  defaultValue: field.defaultValue ?? null,
  isPrimary: field.isPrimary ?? false,
  isAutoIncrement: field.isAutoIncrement ?? false,
  isHidden: field.isHidden ?? false,
  isReadonly: field.isReadonly ?? false,
  declaredType: storedTypeOf[field.jsonType],
  isGenerated: false
})

/** A rule that a field may break: where, by which code, and in which words. */
type Rule = readonly [broken: boolean, property: string, code: string, says: string]

const rulesOf = (field: NewField): readonly Rule[] => {
  const { name, jsonType, sqliteType, isPrimary = false, isAutoIncrement = false, isHidden = false } = field
  const stored = storedTypeOf[jsonType]
  return [
    [
      sqliteType !== undefined && sqliteType !== stored,
      'sqliteType',
      'type',
      `'${name}': ${jsonType} is stored as ${stored}.`
    ],
    [/^sqlite_/i.test(name), 'name', 'format', `'${name}' begins with sqlite_, which is SQLite's own.`],
    [
      isPrimary && !KEY_TYPES.includes(jsonType),
      'isPrimary',
      'type',
      `'${name}' can be the key only as ${KEY_TYPES.join(', ')}.`
    ],
    [
      isAutoIncrement && !(isPrimary && jsonType === 'integer'),
      'isAutoIncrement',
      'type',
      `'${name}' can auto-increment only as an integer primary key.`
    ],
    [isPrimary && isHidden, 'isHidden', 'key', `'${name}' is the key and cannot be hidden.`],
    [
      isPrimary && jsonType === 'integer' && (field.defaultValue ?? null) !== null,
      'defaultValue',
      'key',
      `'${name}' generates its values and takes no default.`
    ]
  ]
}

const ruleFaults = (field: NewField, path: string): ErrorDetail[] =>
  rulesOf(field)
    .filter(([broken]) => broken)
    .map(([, property, code, message]) => ({ path: `${path}/${property}`, code, message }))

/** Every row that leaves out the field shows its default, so long ones would make long answers of short requests. */
const LONGEST_DEFAULT = 4000
/** Of a table, together. */
const LONGEST_DEFAULTS = 64 * 1024

const defaultLength = ({ defaultValue }: Column) => (defaultValue === null ? 0 : JSON.stringify(defaultValue).length)

/** `added`: the columns that are new, after those that the table has. @throws VALIDATION_FAILED */
export const checkDefaults = (
  before: readonly Column[],
  added: readonly Column[],
  pathOf: (index: number) => string
) => {
  let length = before.reduce((sum, column) => sum + defaultLength(column), 0)
  for (const [index, column] of added.entries()) {
    const own = defaultLength(column)
    length += own
    if (own === 0 || length <= LONGEST_DEFAULTS) continue
    const message = `With that of '${column.name}', the defaults of the table must have ${LONGEST_DEFAULTS} characters at most together, as JSON.`
    throw invalid([{ path: `${pathOf(index)}/defaultValue`, code: 'length', message }])
  }
}

const longDefaultFault = (column: Column, path: string): ErrorDetail[] => {
  const { name } = column
  if (defaultLength(column) <= LONGEST_DEFAULT) return []
  const message = `The default of '${name}' must have ${LONGEST_DEFAULT} characters at most, as JSON.`
  return [{ path: `${path}/defaultValue`, code: 'length', message }]
}

const defaultFault = (column: Column, path: string): ErrorDetail[] => {
  if (column.defaultValue === null) return []
  const checked = checkValue(column, column.defaultValue)
  if (!('fault' in checked)) return longDefaultFault(column, path)
  const { code, message, below = '' } = checked.fault
  return [
    { path: `${path}/defaultValue${below}`, code, message: `The default of '${column.name}${below}' ${message}.` }
  ]
}

const checkField = (field: NewField, path: string) => {
  const faults = [...ruleFaults(field, path), ...defaultFault(toColumn(field), path)]
  if (faults.length > 0) throw invalid(faults)
}

/** What SQLite stores where no value is sent. */
const storedDefault = (column: Column): SqlValue => {
  if (column.defaultValue === null) return null
  // `checkField` has refused any other.
  const { value } = checkValue(column, column.defaultValue) as { readonly value: SqlValue }
  return value
}

/** `added`: fields that the service adds by itself. */
const checkNames = (fields: readonly NewField[], added: readonly NewField[]) => {
  const own = new Set(added.map(({ name }) => name))
  const seen = new Set<string>()
  for (const [index, { name }] of fields.entries()) {
    const folded = foldName(name)
    if (seen.has(folded) || own.has(folded)) {
      const says = own.has(folded) ? 'is added by autoTimestamps' : 'is declared twice'
      throw invalid([{ path: `/fields/${index}/name`, code: 'unique', message: `The field '${name}' ${says}.` }])
    }
    seen.add(folded)
  }
}

/** Without a declared key, an integer `id` becomes it, and is added in front where there is none. */
const withKey = (fields: readonly NewField[]): readonly NewField[] => {
  const keys = fields.filter(({ isPrimary }) => isPrimary)
  if (keys.length > 1) throw invalid([{ path: '/fields', code: 'key', message: 'A table has one primary field.' }])
  if (keys.length === 1) return fields
  const declared = fields.findIndex(({ name }) => foldName(name) === 'id')
  const key = fields[declared]
  if (!key) return [{ name: 'id', jsonType: 'integer', isPrimary: true, isAutoIncrement: true }, ...fields]
  if (key.jsonType !== 'integer') {
    throw invalid(
      [
        {
          path: `/fields/${declared}`,
          code: 'key',
          message: `'${key.name}' is not an integer, so it cannot be the key that every table needs.`
        }
      ],
      'Mark a primary field, or give this one another name.'
    )
  }
  return fields.with(declared, { ...key, isPrimary: true, isAutoIncrement: true })
}

interface NewStructure {
  readonly structure: Structure
  /** The stored default of each column. */
  readonly defaults: readonly SqlValue[]
}

/** The structure that a declaration asks for. @throws VALIDATION_FAILED */
export const declareStructure = ({ fields, autoTimestamps = false }: NewTable): NewStructure => {
  const timestamps = autoTimestamps ? TIMESTAMPS.map(timestampField) : []
  const sent = [...fields, ...timestamps]
  const declared = withKey(sent)
  checkNames(fields, timestamps)
  // A key that was added in front is no field of the request.
  const added = declared.length - sent.length
  const pathOf = (index: number) => `/fields/${index - added}`
  for (const [index, field] of declared.entries()) checkField(field, pathOf(index))
  const columns = declared.map(toColumn)
  checkDefaults([], columns, pathOf)
  const key = columns.find((column) => column.isPrimary) as Column
  const isRowidKey = key.sqliteType === 'INTEGER'
  const structure = {
    columns,
    isStrict: true,
    key: [key.name],
    isRowidKey,
    rowid: isRowidKey ? key.name : reachableRowid(columns),
    autoTimestamps
  }
  return { structure, defaults: columns.map(storedDefault) }
}

/** A field for a table that has rows already. @throws VALIDATION_FAILED, FIELD_EXISTS is the database's to say */
export const declareField = (field: NewField): { column: Column; defaultValue: SqlValue } => {
  if (field.isPrimary || field.isAutoIncrement) {
    const path = field.isPrimary ? '/field/isPrimary' : '/field/isAutoIncrement'
    throw invalid([{ path, code: 'key', message: 'A table keeps the key that it was made with.' }])
  }
  checkField(field, '/field')
  const column = toColumn(field)
  if (!column.nullable && column.defaultValue === null) {
    throw invalid([
      {
        path: '/field/defaultValue',
        code: 'required',
        message: `'${field.name}' must not be null, so the rows that exist need a default.`
      }
    ])
  }
  return { column, defaultValue: storedDefault(column) }
}
