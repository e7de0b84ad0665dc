import type { Reference } from '../../schemas/table.ts'
import type { IntegerFormat } from '../../schemas/token.ts'
import type { KindSchema } from '../model/kinds/kind.ts'
import { kindOf } from '../model/kinds/kind-of.ts'
import { foldName } from '../model/names.ts'
import { type Column, type DateFormat, isNullable, isRequired, type RegisteredTable } from '../model/table.ts'
import type { Json } from './json.ts'

/** A table as one caller sees it, and what the caller may do with it. */
export interface TypedTable {
  readonly table: RegisteredTable
  /** The name of the table in paths, which needs no percent-encoding if that is possible. */
  readonly pathName: string
  /** The visible columns. */
  readonly columns: readonly Column[]
  /** The columns that a create can set. */
  readonly creatable: readonly Column[]
  /** The columns that an update can have. It changes no key. */
  readonly updatable: readonly Column[]
  /** The targets of foreign keys that the caller may know, by the name of the field. */
  readonly references: ReadonlyMap<string, Reference>
  /** The tables of the document whose records a query can add, by the name of the field that refers to them. */
  readonly expansions: ReadonlyMap<string, RegisteredTable>
  readonly integers: IntegerFormat
  readonly canRead: boolean
  readonly canCreate: boolean
  readonly canUpdate: boolean
  readonly canDelete: boolean
}

export const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

const NO_SINGLE_TYPE = 'The column accepts texts and numbers, so its values have no single type.'
const NOT_ENFORCED = 'SQLite does not enforce the type of this column. A refresh of the table checks the values again.'
const COMPUTED = 'A view computes the value, or shows a column whose values can have any type.'
export const WIDE_INTEGER = 'Beyond ±(2^53−1), decimal text.'

/** Returns the note on integers that appear as text: see `integerJson`. REAL columns have no integers. */
const wideNote = (column: Column, integers: IntegerFormat) => {
  const { name } = kindOf(column)
  const isNumber = name === 'numeric' || (name === 'integer' && integers === 'auto')
  return isNumber && integers !== 'number' ? WIDE_INTEGER : ''
}

/** Returns the text without the end of a block comment: some generators copy descriptions into comments as they are. */
export const inComment = (text: string) => text.replaceAll('*/', '* /')

const sentence = (text: string) => inComment(/[.!?\u2026]$/.test(text) ? text : `${text}.`)

const sentences = (...texts: readonly string[]) =>
  texts
    .filter((text) => text !== '')
    .map(sentence)
    .join(' ')

const isReadOnly = ({ creatable, updatable }: TypedTable, column: Column) =>
  !creatable.includes(column) && !updatable.includes(column)

/**
 * Returns the properties of a column that JSON Schema has no keyword for:
 * https://spec.openapis.org/oas/v3.1.0#specification-extensions
 */
const extensionsOf = (typed: TypedTable, column: Column): Json => ({
  ...(column.isPrimary && { 'x-primary-key': true }),
  ...(isReadOnly(typed, column) && { 'x-read-only': true }),
  ...(typed.references.has(column.name) && { 'x-references': typed.references.get(column.name) }),
  // `TEXT` adds nothing to the type of the schema; `VARCHAR(20)` and `DATETIME` do.
  ...(![column.sqliteType, ''].includes(column.declaredType.toUpperCase()) && {
    'x-sqlite-type': column.declaredType
  })
})

/** Characters of a value that generators keep, or replace by `_`, in the name of a constant. */
const CONSTANT = /^[A-Za-z0-9 _./:-]+$/

const folded = (value: unknown) =>
  String(value)
    .toLowerCase()
    .replaceAll(/[ _./:-]/g, '')

/**
 * Whether every generator makes different names from the values. Some fail for the whole document if a value has no
 * name, or the same name as another: `A`, `A-`.
 */
const haveDistinctConstantNames = (values: readonly unknown[]) => {
  const names = new Set(values.map(folded))
  return names.size === values.length && !names.has('') && values.every((value) => CONSTANT.test(String(value)))
}

/** Returns the values for a description, unless an enum contains them. */
const valuesNote = (values: readonly unknown[] | undefined) =>
  values === undefined || haveDistinctConstantNames(values)
    ? ''
    : `One of: ${values.map((value) => JSON.stringify(value)).join(', ')}.`

/**
 * Returns the limits of the CHECK constraints of the table. NULL passes every check, so an enum of a nullable field
 * contains it.
 */
const limitsOf = (column: Column, { type }: KindSchema, nullable: boolean): Json => {
  const { allowedValues, minimum, maximum, minLength, maxLength } = column.checks
  if (kindOf(column).isTextual)
    return {
      ...(allowedValues &&
        haveDistinctConstantNames(allowedValues) && { enum: nullable ? [...allowedValues, null] : allowedValues }),
      ...(minLength !== undefined && { minLength }),
      ...(maxLength !== undefined && { maxLength })
    }
  // `minimum` and `maximum` do not apply to integers in the form of text.
  if (type === 'string') return {}
  return { ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) }
}

const orNull = (schema: KindSchema, nullable: boolean): Json =>
  nullable && schema.type !== undefined ? { ...schema, type: [schema.type, 'null'] } : schema

interface Property {
  readonly column: Column
  readonly integers: IntegerFormat
  readonly nullable: boolean
}

/** Returns the label and the notes. A label that repeats the name is left out: no client needs it, and it takes space. */
const described = ({ label, name }: Column, ...notes: readonly string[]): Json => {
  const description = sentences(label === name ? '' : label, ...notes)
  return description === '' ? {} : { description }
}

const propertyOf = ({ column, integers, nullable }: Property, note: string): Json => {
  const schema = kindOf(column).schema(column, integers)
  return {
    ...orNull(schema, nullable),
    ...limitsOf(column, schema, nullable),
    ...described(column, kindOf(column).isTextual ? valuesNote(column.checks.allowedValues) : '', note)
  }
}

/** Returns the schema of a text with a format that SQLite enforces. Texts and numbers of other formats fail its CHECK. */
const dateProperty = (column: Column, format: DateFormat | undefined, nullable: boolean, note = ''): Json => ({
  type: nullable ? ['string', 'null'] : 'string',
  ...(format && { format }),
  ...described(column, note)
})

/** Returns the schema of a stored value. It has a type only if every value has this type. */
const storedProperty = (typed: TypedTable, column: Column): Json => {
  const { table, integers } = typed
  const nullable = isNullable(table.structure, column)
  if (column.dateFormat) return { ...dateProperty(column, column.dateFormat, nullable), ...extensionsOf(typed, column) }
  const { type } = kindOf(column).schema(column, integers)
  if (type === undefined || !table.exactFields.has(column.name)) {
    const reason = type === undefined ? NO_SINGLE_TYPE : NOT_ENFORCED
    return { ...described(column, table.structure.isView ? COMPUTED : reason), ...extensionsOf(typed, column) }
  }
  const note = wideNote(column, integers)
  return { ...propertyOf({ column, integers, nullable }, note), ...extensionsOf(typed, column) }
}

const defaultNote = ({ defaultLiteral, defaultValue }: Column) => {
  if (defaultLiteral === 'none' || defaultValue === null) return ''
  return defaultLiteral === 'time' || defaultLiteral === 'expression'
    ? 'Without it, SQLite computes the value.'
    : `Without it, the value is ${JSON.stringify(defaultValue)}.`
}

/**
 * Returns the schema of a value to store. The service checks it, so it has a type whenever the column has one. Clients
 * write a `date-time` in several ways, and a CHECK accepts one of them.
 */
const inputProperty = ({ integers }: TypedTable, column: Column, note: string): Json => {
  const nullable = !column.isPrimary && column.nullable
  if (column.dateFormat) return dateProperty(column, column.dateFormat === 'date' ? 'date' : undefined, nullable, note)
  return propertyOf({ column, integers, nullable }, note)
}

/** Assigning to `__proto__` would set no own property. */
export const objectOf = (entries: readonly (readonly [name: string, value: unknown])[]): Json =>
  Object.fromEntries(entries)

/** A schema whose name says enough has no description: each table has one of it. */
export const closedObject = (properties: Json, required: readonly string[], description = ''): Json => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
  ...(description !== '' && { description })
})

export const envelopeOf = (data: Json): Json =>
  closedObject({ success: { type: 'boolean' }, data }, ['success', 'data'])

export const int64 = (description?: string): Json => ({
  type: 'integer',
  format: 'int64',
  ...(description && { description })
})
export const int32 = (description?: string): Json => ({
  type: 'integer',
  format: 'int32',
  ...(description && { description })
})

/** The fields that an update can change. */
export const changeable = ({ updatable }: TypedTable) => updatable.filter(({ isPrimary }) => !isPrimary)

/** The fields that an increment can change. */
export const incrementable = (typed: TypedTable) => changeable(typed).filter((column) => kindOf(column).isNumeric)

const titleOf = ({ label, name, note }: RegisteredTable) => sentences(label || name, note ?? '')

const recordSchemas = (typed: TypedTable, name: string, hasExpansions: boolean): Json => {
  const properties = objectOf([
    ...typed.columns.map((column) => [column.name, storedProperty(typed, column)] as const),
    ...(hasExpansions ? [['expand', refTo(`${name}Expand`)] as const] : [])
  ])
  const names = typed.columns.map((column) => column.name)
  const page = closedObject(
    {
      rows: { type: 'array', items: refTo(name) },
      total: int64(),
      page: int32(),
      size: int32()
    },
    ['rows', 'total', 'page', 'size']
  )
  return {
    [name]: { ...closedObject(properties, names, titleOf(typed.table)), 'x-table': typed.table.name },
    [`${name}Envelope`]: envelopeOf(refTo(name)),
    ...(typed.canRead && { [`${name}Page`]: page, [`${name}PageEnvelope`]: envelopeOf(refTo(`${name}Page`)) })
  }
}

const createSchema = (typed: TypedTable, name: string): Json => {
  const { structure } = typed.table
  const columns = typed.creatable
  const properties = objectOf(columns.map((column) => [column.name, inputProperty(typed, column, defaultNote(column))]))
  const required = columns.filter((column) => isRequired(structure, column)).map((column) => column.name)
  return {
    [`${name}Create`]: closedObject(properties, required)
  }
}

const updateSchema = (typed: TypedTable, name: string): Json => {
  const columns = changeable(typed)
  const properties = objectOf(columns.map((column) => [column.name, inputProperty(typed, column, '')]))
  const update = closedObject(properties, [])
  return { ...(columns.length > 0 && { [`${name}Update`]: { ...update, minProperties: 1 } }) }
}

/** Returns the schema of the name of one of these fields. */
export const fieldName = (names: readonly string[]): Json => ({
  type: 'string',
  ...(haveDistinctConstantNames(names) ? { enum: names } : { description: sentences(valuesNote(names)) })
})

/** The body of an increment with the key in its path. */
export interface TypedAddition {
  /** The name of its schema. */
  readonly request: string
  readonly schemas: Json
}

/** The body of the generic document, which has no name of its own for each table. */
const GENERIC_ADDITION: TypedAddition = { request: 'TableRecordAddition', schemas: {} }

/**
 * Returns the body with the names of the fields. If another table of the document has its name, returns the body of the
 * generic document: see `typedQuery`.
 */
export const typedAddition = (typed: TypedTable, clientNames: ReadonlySet<string>): TypedAddition => {
  const fields = incrementable(typed).map((column) => column.name)
  const request = `${typed.table.choices.clientName}Addition`
  if (clientNames.has(foldName(request))) return GENERIC_ADDITION
  const count = { type: 'number', format: 'double', description: 'The default is 1.' }
  const addition = closedObject({ field: fieldName(fields), count }, ['field'])
  return { request, schemas: { [request]: addition } }
}

/** Returns the schemas of the response to a change. It contains the record if the caller may read it. */
const changedSchemas = ({ canRead }: TypedTable, name: string): Json => {
  const success = { type: 'boolean' }
  const changed = closedObject(
    { success, ...(canRead && { record: refTo(name) }) },
    ['success'],
    canRead ? '`record`: only with `return=record`.' : ''
  )
  return { [`${name}Change`]: changed, [`${name}ChangeEnvelope`]: envelopeOf(refTo(`${name}Change`)) }
}

/**
 * Returns the schemas of a table, by name. Each name is the client name of the table, with or without a suffix.
 * `hasExpansions`: whether a record can have the records to which it refers.
 */
export const typedSchemas = (typed: TypedTable, hasExpansions: boolean): Json => {
  const { canRead, canCreate, canUpdate, canDelete } = typed
  const name = typed.table.choices.clientName
  return {
    ...((canRead || canCreate) && recordSchemas(typed, name, hasExpansions)),
    ...(canCreate && createSchema(typed, name)),
    ...(canUpdate && updateSchema(typed, name)),
    ...((canUpdate || canDelete) && changedSchemas(typed, name))
  }
}
