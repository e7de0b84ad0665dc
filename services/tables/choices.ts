import { suggestName } from '../../schemas/similar-names.ts'
import type { FieldChanges, JsonType } from '../../schemas/table.ts'
import { fits, storedTypeOf } from '../model/column-types.ts'
import { excerpt, invalid } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import {
  type Choices,
  type Column,
  type FieldChoices,
  isFilledIn,
  type RegisteredTable,
  type Structure,
  TIMESTAMPS
} from '../model/table.ts'

const VERSION = 1

/** The choices as the registry stores them. */
export const writeChoices = ({ fields, autoTimestamps }: Choices) =>
  JSON.stringify({ version: VERSION, autoTimestamps, fields })

type Unknown = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Unknown => typeof value === 'object' && value !== null

const isBoolean = (value: unknown) => typeof value === 'boolean'

const isJsonType = (value: unknown): value is JsonType =>
  typeof value === 'string' && Object.hasOwn(storedTypeOf, value)

/** SQL text cannot hold a name with NUL. */
const isName = (value: unknown) => typeof value === 'string' && !value.includes('\0')

const isField = (value: unknown): value is FieldChoices =>
  isObject(value) &&
  isName(value.name) &&
  typeof value.label === 'string' &&
  isJsonType(value.jsonType) &&
  isBoolean(value.isHidden) &&
  isBoolean(value.isReadonly) &&
  (value.isNullableKey === undefined || isBoolean(value.isNullableKey))

const isFields = (value: unknown): value is readonly FieldChoices[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every(isField) &&
  new Set(value.map(({ name }) => foldName(name))).size === value.length

/** @throws an Error with the reason when the text cannot be read */
export const readChoices = (text: string): Choices => {
  const stored: unknown = JSON.parse(text)
  if (!isObject(stored)) throw new Error('The choices are not an object.')
  if (stored.version !== VERSION) {
    throw new Error(`The choices have version ${excerpt(String(stored.version))}; this Rowhouse reads ${VERSION}.`)
  }
  const { fields, autoTimestamps } = stored
  if (typeof autoTimestamps !== 'boolean') throw new Error('`autoTimestamps` must be a boolean.')
  if (!isFields(fields)) throw new Error('`fields` is not a list of named fields.')
  return { fields, autoTimestamps }
}

/** The choices for a column when it is registered. */
export const registeredField = (column: Column): FieldChoices => {
  const { name, label, jsonType, isHidden, isReadonly, isPrimary, nullable } = column
  return { name, label, jsonType, isHidden, isReadonly, ...(isPrimary && { isNullableKey: nullable }) }
}

/** The choices that a declaration makes. */
export const declaredChoices = ({ columns, autoTimestamps }: Structure): Choices => ({
  fields: columns.map(registeredField),
  autoTimestamps
})

/** The choices for a table that is imported: none. */
export const importedChoices = ({ columns }: Structure): Choices => ({
  fields: columns.map(registeredField),
  autoTimestamps: false
})

/** The choices for a column that SQLite described again. */
const refreshedField = (column: Column, { isNullableKey, ...before }: FieldChoices): FieldChoices => ({
  ...before,
  name: column.name,
  jsonType: fits(before.jsonType, column.sqliteType) ? before.jsonType : column.jsonType,
  isHidden: before.isHidden && !column.isPrimary,
  isReadonly: before.isReadonly || column.isGenerated,
  ...(column.isPrimary && isNullableKey !== undefined && { isNullableKey })
})

/**
 * The choices for a table that SQLite described again. Columns keep theirs; SQLite ignores case in their names. A new
 * column is hidden if the table hides any: it may be a hidden column under another name.
 */
export const refreshedChoices = ({ columns }: Structure, before: Choices): Choices => {
  const known = new Map(before.fields.map((field) => [foldName(field.name), field]))
  const hidesAny = before.fields.some(({ isHidden }) => isHidden)
  const fields = columns.map((column) => {
    const field = known.get(foldName(column.name))
    if (field) return refreshedField(column, field)
    return { ...registeredField(column), isHidden: hidesAny && !column.isPrimary }
  })
  const has = (name: string) => fields.some((field) => field.name === name)
  return { fields, autoTimestamps: before.autoTimestamps && TIMESTAMPS.every(has) }
}

const unknownField = (index: number, name: string, table: string, names: Iterable<string>) => {
  const message = `'${excerpt(name)}' is not a field of the table '${table}'.`
  return invalid([{ path: `/fields/${index}/name`, code: 'unknown', message }], suggestName(name, names))
}

const hiddenKey = (index: number, name: string) =>
  invalid([{ path: `/fields/${index}/isHidden`, code: 'key', message: `'${name}' is the key and cannot be hidden.` }])

type Chosen = Pick<RegisteredTable, 'name' | 'structure' | 'choices'>

/** The choices after changes to labels and flags of fields. @throws VALIDATION_FAILED */
export const changedChoices = (
  { name: table, structure, choices }: Chosen,
  changes: readonly FieldChanges[]
): Choices => {
  const columns = new Map(structure.columns.map((column) => [column.name, column]))
  const fields = new Map(choices.fields.map((field) => [field.name, field]))
  for (const [index, { name, ...change }] of changes.entries()) {
    const [column, field] = [columns.get(name), fields.get(name)]
    if (!column || !field) throw unknownField(index, name, table, fields.keys())
    if (column.isPrimary && change.isHidden) throw hiddenKey(index, name)
    const isReadonly = isFilledIn(structure, column) || (change.isReadonly ?? field.isReadonly)
    fields.set(name, { ...field, ...change, isReadonly })
  }
  return { ...choices, fields: [...fields.values()] }
}
