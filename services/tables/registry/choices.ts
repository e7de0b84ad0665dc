import { CLIENT_NAME_PATTERN } from '../../../schemas/patterns.ts'
import { suggestName } from '../../../schemas/similar-names.ts'
import type { JsonType } from '../../../schemas/table.ts'
import type { FieldChanges } from '../../../schemas/table-changes.ts'
import { isStorableAs, storedTypeOf } from '../../model/column-types.ts'
import { excerpt, invalid } from '../../model/errors.ts'
import { foldName } from '../../model/names.ts'
import {
  type Choices,
  type Column,
  type FieldChoices,
  type HiddenSource,
  isFilledIn,
  type RegisteredTable,
  type Structure,
  TIMESTAMPS
} from '../../model/table.ts'
import { clientNameTaken } from '../failures.ts'
import { isReservedTable, nameFields } from '../names/client-names.ts'
import { isReservedForFields } from '../names/reserved-words.ts'
import { type ExactTypes, withExactTypes } from './exactness.ts'

/** Version 2 adds names for clients and exact types: choices-upgrade.ts. */
export const VERSION = 2

/** The choices as the registry stores them. */
export const writeChoices = ({ clientName, fields, autoTimestamps, labelField, viewKey }: Choices) =>
  JSON.stringify({ version: VERSION, clientName, autoTimestamps, labelField, viewKey, fields })

type Unknown = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Unknown => typeof value === 'object' && value !== null

const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'

const isText = (value: unknown): value is string => typeof value === 'string'

const isJsonType = (value: unknown): value is JsonType =>
  typeof value === 'string' && Object.hasOwn(storedTypeOf, value)

/** SQL text cannot hold a name with NUL. */
const isName = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0')

const CLIENT_NAME = new RegExp(CLIENT_NAME_PATTERN)

const isClientName = (value: unknown): value is string => typeof value === 'string' && CLIENT_NAME.test(value)

const isOptional = <T>(value: unknown, isValid: (value: unknown) => value is T): value is T | undefined =>
  value === undefined || isValid(value)

const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText)

const isField = (value: unknown): value is FieldChoices =>
  isObject(value) &&
  isName(value.name) &&
  isClientName(value.clientName) &&
  typeof value.label === 'string' &&
  isJsonType(value.jsonType) &&
  isBoolean(value.isHidden) &&
  isOptional(value.unhides, isTexts) &&
  isBoolean(value.isReadonly) &&
  isOptional(value.isNullableKey, isBoolean) &&
  isOptional(value.exactType, isText)

const isFields = (value: unknown): value is readonly FieldChoices[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every(isField) &&
  new Set(value.map(({ name }) => foldName(name))).size === value.length

const isKey = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isName)

const isLabelField = (value: unknown): value is string | null => value === null || isName(value)

/** @throws an Error with the reason when the text cannot be read */
export const readChoices = (text: string): Choices => {
  const stored: unknown = JSON.parse(text)
  if (!isObject(stored)) throw new Error('The choices are not an object.')
  if (stored.version !== VERSION) {
    throw new Error(`The choices have version ${excerpt(String(stored.version))}; this Rowhouse reads ${VERSION}.`)
  }
  const { clientName, fields, autoTimestamps, labelField, viewKey } = stored
  if (!isClientName(clientName)) throw new Error('`clientName` is not a name for generated clients.')
  if (typeof autoTimestamps !== 'boolean') throw new Error('`autoTimestamps` must be a boolean.')
  if (!isFields(fields)) throw new Error('`fields` is not a list of named fields.')
  if (!isOptional(labelField, isLabelField)) throw new Error('`labelField` is neither a name nor null.')
  if (!isOptional(viewKey, isKey)) throw new Error('`viewKey` is not a list of names.')
  return {
    clientName,
    fields,
    autoTimestamps,
    ...(labelField !== undefined && { labelField }),
    ...(viewKey !== undefined && { viewKey })
  }
}

/** The choices for a column when it is registered. */
const registeredField = (column: Column, clientName: string): FieldChoices => {
  const { name, label, jsonType, isHidden, isReadonly, isPrimary, nullable } = column
  return { name, label, jsonType, isHidden, isReadonly, clientName, ...(isPrimary && { isNullableKey: nullable }) }
}

/** The choices for a column without values, or with values that our own declaration has checked: its type is exact. */
const declaredField = (column: Column, clientName: string): FieldChoices => ({
  ...registeredField(column, clientName),
  exactType: column.declaredType
})

/** The choices for a table that is registered, before it gets its name for clients and its label field. */
export type UnnamedChoices = Omit<Choices, 'clientName' | 'labelField'>

const namesOf = (columns: readonly Column[]) => columns.map(({ name }) => name)

/** The choices that a declaration makes. */
export const declaredChoices = async ({ columns, autoTimestamps }: Structure): Promise<UnnamedChoices> => {
  const clientNames = await nameFields(namesOf(columns))
  return { fields: columns.map((column, index) => declaredField(column, String(clientNames[index]))), autoTimestamps }
}

/** The choices for a table that is imported: none. */
export const adoptedChoices = async ({ columns, isView, key }: Structure): Promise<UnnamedChoices> => {
  const clientNames = await nameFields(namesOf(columns))
  const fields = columns.map((column, index) => registeredField(column, String(clientNames[index])))
  return { fields, autoTimestamps: false, ...(isView && { viewKey: key }) }
}

/** The choices with what a scan has found. */
export const measuredChoices = <T extends UnnamedChoices>(choices: T, exactTypes: ExactTypes): T => ({
  ...choices,
  fields: withExactTypes(choices.fields, exactTypes)
})

const clientNamesOf = (fields: readonly FieldChoices[]) => fields.map(({ clientName }) => clientName)

/** The choices for a column that SQLite described again. */
const refreshedField = (column: Column, { isNullableKey, ...before }: FieldChoices): FieldChoices => ({
  ...before,
  name: column.name,
  jsonType: isStorableAs(before.jsonType, column.sqliteType) ? before.jsonType : column.jsonType,
  isHidden: before.isHidden && !column.isPrimary,
  isReadonly: before.isReadonly || column.isGenerated,
  ...(column.isPrimary && isNullableKey !== undefined && { isNullableKey })
})

/** The label field as SQLite spells it now; null if it is gone. */
const refreshedLabel = (fields: readonly FieldChoices[], { labelField }: Choices) =>
  (labelField && fields.find(({ name }) => foldName(name) === foldName(labelField))?.name) || null

/**
 * The choices for a table that SQLite described again. Columns keep theirs; SQLite ignores case in their names. A new
 * column is hidden if the table hides any: it may be a hidden column under another name.
 */
export const refreshedChoices = async ({ columns, isView, key }: Structure, before: Choices): Promise<Choices> => {
  const known = new Map(before.fields.map((field) => [foldName(field.name), field]))
  const hidesAny = before.fields.some(({ isHidden }) => isHidden)
  const added = columns.filter(({ name }) => !known.has(foldName(name)))
  // Names of fields that vanished are not given again.
  const clientNames = await nameFields(namesOf(added), clientNamesOf(before.fields))
  const addedNames = new Map(added.map(({ name }, index) => [name, String(clientNames[index])]))
  const fields = columns.map((column) => {
    const field = known.get(foldName(column.name))
    if (field) return refreshedField(column, field)
    const clientName = String(addedNames.get(column.name))
    return { ...registeredField(column, clientName), isHidden: hidesAny && !column.isPrimary }
  })
  const has = (name: string) => fields.some((field) => field.name === name)
  const autoTimestamps = before.autoTimestamps && TIMESTAMPS.every(has)
  return {
    ...before,
    fields,
    autoTimestamps,
    labelField: refreshedLabel(fields, before),
    ...(isView && { viewKey: key })
  }
}

/** The choices for a table with one more declared column. */
export const extendedChoices = async (before: Choices, column: Column): Promise<Choices> => {
  const [clientName] = await nameFields([column.name], clientNamesOf(before.fields))
  return { ...before, fields: [...before.fields, declaredField(column, String(clientName))] }
}

const unknownField = (index: number, name: string, table: string, names: Iterable<string>) => {
  const message = `'${excerpt(name)}' is not a field of the table '${table}'.`
  return invalid([{ path: `/fields/${index}/name`, code: 'unknown', message }], suggestName(name, names))
}

const hiddenKey = (index: number, name: string) =>
  invalid([{ path: `/fields/${index}/isHidden`, code: 'key', message: `'${name}' is the key and cannot be hidden.` }])

const reservedName = (path: string, clientName: string) => {
  const message = `'${clientName}' is reserved: a common language or the OpenAPI document uses it. Choose another name.`
  return invalid([{ path, code: 'reserved', message }])
}

/** @throws VALIDATION_FAILED */
export const checkTableClientName = (clientName: string) => {
  if (isReservedTable(clientName)) throw reservedName('/clientName', clientName)
}

/** @throws UNIQUE_VIOLATION */
const checkUnique = (fields: readonly FieldChoices[], { name, clientName }: FieldChoices, path: string) => {
  const folded = foldName(clientName)
  const other = fields.find((field) => field.name !== name && foldName(field.clientName) === folded)
  if (other) throw clientNameTaken(path, clientName, `the field '${other.name}'`)
}

type Chosen<T> = Pick<RegisteredTable, 'name' | 'structure' | 'hiddenSources'> & { readonly choices: T }

/** The choices for a field after a change. To show a field of an SQL view means to show what it shows now. */
const changedField = (field: FieldChoices, change: Partial<FieldChoices>, sources: readonly HiddenSource[]) => {
  if (change.isHidden !== false || sources.length === 0) return { ...field, ...change }
  return { ...field, ...change, unhides: [...(field.unhides ?? []), ...sources.map(({ id }) => id)] }
}

/** The choices after changes to labels, flags and client names of fields. @throws VALIDATION_FAILED, UNIQUE_VIOLATION */
export const changedChoices = <T extends UnnamedChoices>(
  { name: table, structure, choices, hiddenSources }: Chosen<T>,
  changes: readonly FieldChanges[]
): T => {
  const columns = new Map(structure.columns.map((column) => [column.name, column]))
  const fields = new Map(choices.fields.map((field) => [field.name, field]))
  for (const [index, { name, ...change }] of changes.entries()) {
    const [column, field] = [columns.get(name), fields.get(name)]
    if (!column || !field) throw unknownField(index, name, table, fields.keys())
    if (column.isPrimary && change.isHidden) throw hiddenKey(index, name)
    const { clientName } = change
    if (clientName && isReservedForFields(clientName)) throw reservedName(`/fields/${index}/clientName`, clientName)
    const isReadonly = isFilledIn(structure, column) || (change.isReadonly ?? field.isReadonly)
    fields.set(name, { ...changedField(field, change, hiddenSources?.get(name) ?? []), isReadonly })
  }
  const changed = [...fields.values()]
  for (const [index, { name, clientName }] of changes.entries()) {
    if (clientName) checkUnique(changed, fields.get(name) as FieldChoices, `/fields/${index}/clientName`)
  }
  return { ...choices, fields: changed }
}
