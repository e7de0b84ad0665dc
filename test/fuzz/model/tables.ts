import type {
  FieldChanges,
  ImportableTable,
  NewField,
  NewTable,
  SqliteType,
  TableChanges,
  TableImport
} from '../../../schemas/table.ts'
import type { PlainField as Field } from '../../../services/model/table.ts'
import {
  CONFIRMED,
  findRegistered,
  findStored,
  invalid,
  type Model,
  nextTimestamp,
  type Registered,
  refuse,
  remove,
  type Table,
  tableOf,
  type Viewer,
  visibleFields
} from './model.ts'
import { addColumn, type Column, describe, findColumn, newIndexes, type StoredTable } from './stored-tables.ts'
import { fold, type Stored, toJson, toStored } from './values.ts'

const SQLITE_TYPE: Record<Field['jsonType'], SqliteType> = {
  integer: 'INTEGER',
  number: 'REAL',
  string: 'TEXT',
  boolean: 'INTEGER',
  object: 'TEXT',
  array: 'TEXT'
}

export const toTable = (table: Registered, viewer: Viewer): Table => ({
  id: table.id,
  name: table.name,
  label: table.label,
  primaryKey: table.key.join(','),
  fields: [...visibleFields(table, viewer)],
  isPublished: table.isPublished,
  isEditable: table.isEditable,
  note: table.note,
  createdAt: table.createdAt,
  updatedAt: table.updatedAt
})

const toField = (sent: NewField): Field => ({
  name: sent.name,
  label: sent.label ?? sent.name,
  sqliteType: SQLITE_TYPE[sent.jsonType],
  jsonType: sent.jsonType,
  nullable: sent.nullable ?? true,
  defaultValue: sent.defaultValue ?? null,
  isPrimary: sent.isPrimary ?? false,
  isAutoIncrement: sent.isAutoIncrement ?? false,
  isHidden: sent.isHidden ?? false,
  isReadonly: sent.isReadonly ?? false
})

const checkField = ({ jsonType, defaultValue, isPrimary, isAutoIncrement, isHidden }: Field) => {
  if (isPrimary && (isHidden || !['integer', 'number', 'string'].includes(jsonType))) invalid()
  if (isPrimary && jsonType === 'integer' && defaultValue !== null) invalid()
  if (isAutoIncrement && !(isPrimary && jsonType === 'integer')) invalid()
  if (defaultValue !== null && toStored(jsonType, defaultValue) === undefined) invalid()
}

const checkNames = (names: readonly string[]) => {
  if (names.some((name) => /^_|^sqlite_/i.test(name))) invalid()
  if (new Set(names.map(fold)).size < names.length) invalid()
}

const AUTOMATIC = { isPrimary: true, isAutoIncrement: true }

/** Without a declared key, an integer field `id` becomes the key. Without such a field, one is added in front. */
const withKey = (fields: readonly Field[]): readonly Field[] => {
  const keys = fields.filter(({ isPrimary }) => isPrimary)
  if (keys.length > 1) invalid()
  if (keys.length === 1) return fields
  const id = fields.find(({ name }) => fold(name) === 'id')
  if (!id) return [{ ...toField({ name: 'id', jsonType: 'integer' }), ...AUTOMATIC }, ...fields]
  if (id.jsonType !== 'integer') invalid()
  return fields.map((field) => (field === id ? { ...id, ...AUTOMATIC } : field))
}

const TIMESTAMPS = ['created_at', 'updated_at'].map(
  (name): Field => ({ ...toField({ name, jsonType: 'integer' }), isReadonly: true })
)

/** A key that SQLite does not generate is NOT NULL, whatever the field declares. */
const toColumn = ({ name, sqliteType, jsonType, nullable, defaultValue, isPrimary }: Field): Column => ({
  name,
  sqliteType,
  notNull: !nullable || (isPrimary && jsonType !== 'integer'),
  defaultValue: defaultValue === null ? null : (toStored(jsonType, defaultValue) as Stored)
})

const hasVisibilityFlags = (fields: readonly NewField[]) =>
  fields.some(({ isHidden, isReadonly }) => isHidden !== undefined || isReadonly !== undefined)

/** A token may not set the flags that limit tokens. */
export const checkTokenFields = (fields: readonly NewField[]) => {
  if (hasVisibilityFlags(fields)) invalid()
}

const register = (model: Model, table: Pick<Registered, 'id' | 'name' | 'fields' | 'key' | 'isRowidKey'>) => {
  const times = { createdAt: model.now, updatedAt: model.now }
  const registered = { label: '', note: null, isPublished: true, isEditable: true, hasTimestamps: false, ...times }
  model.registered.push({ ...registered, ...table })
  return model.registered.at(-1) as Registered
}

const toStoredTable = (name: string, fields: readonly Field[]): StoredTable => {
  const field = fields.find(({ isPrimary }) => isPrimary) as Field
  const key = [field.name]
  const isRowidKey = field.jsonType === 'integer'
  return {
    name,
    columns: fields.map(toColumn),
    key,
    isRowidKey,
    isAutoIncrement: field.isAutoIncrement,
    indexes: newIndexes({ name, key, isRowidKey }),
    rows: [],
    sequence: 0n
  }
}

export const createTable = (model: Model, sent: NewTable, id: number, viewer: Viewer): Table => {
  const { name, label, note = null, autoTimestamps = false } = sent
  if (/^sqlite_/i.test(name)) invalid()
  const all = [...sent.fields.map(toField), ...(autoTimestamps ? TIMESTAMPS : [])]
  const fields = withKey(all)
  checkNames(all.map((field) => field.name))
  fields.forEach(checkField)
  if (findStored(model, name)) refuse(409, 'TABLE_EXISTS')
  if (findRegistered(model, name)) refuse(409, 'TABLE_REGISTERED')
  const stored = toStoredTable(name, fields)
  model.stored.push(stored)
  const table = register(model, {
    id,
    name,
    fields: [...fields],
    key: stored.key,
    isRowidKey: stored.isRowidKey
  })
  return toTable(Object.assign(table, { label, note, hasTimestamps: autoTimestamps }), viewer)
}

const assertFree = (model: Model, name: string) => {
  if (/^(?:_rowhouse_|sqlite_)/i.test(name)) refuse(400, 'TABLE_NOT_IMPORTABLE')
  if (findRegistered(model, name)) refuse(409, 'TABLE_REGISTERED')
}

const importTable = (model: Model, stored: StoredTable, id: number) => {
  const { name, key, isRowidKey } = stored
  const fields = stored.columns.map((column) => describe(stored, column))
  return register(model, { id, name, fields, key, isRowidKey })
}

const unregistered = (model: Model) =>
  model.stored.map(({ name }) => name).filter((name) => !findRegistered(model, name))

const changeField = ({ hasTimestamps }: Registered, fields: Field[], { name, ...change }: FieldChanges) => {
  const index = fields.findIndex((field) => field.name === name)
  const field = fields[index] ?? invalid()
  if (field.isPrimary && change.isHidden) invalid()
  const isTimestamp = hasTimestamps && TIMESTAMPS.some((timestamp) => timestamp.name === name)
  fields[index] = { ...field, ...change, ...(isTimestamp && { isReadonly: true }) }
}

const applyChanges = (table: Registered, { fields: changes = [], ...metadata }: TableChanges) => {
  const fields = [...table.fields]
  for (const change of changes) changeField(table, fields, change)
  Object.assign(table, metadata, { fields })
}

export const updateTable = (model: Model, id: number, changes: TableChanges): Table => {
  if (Object.keys(changes).length === 0) invalid()
  const table = tableOf(model, id)
  applyChanges(table, changes)
  table.updatedAt = nextTimestamp(model, table.updatedAt)
  return toTable(table, 'administrator')
}

/** The tables of the model are too small for an estimate. */
export const listImportable = (model: Model): readonly Omit<ImportableTable, 'kind'>[] =>
  unregistered(model)
    .sort()
    .map((name) => ({ name, rows: findStored(model, name)?.rows.length ?? null, isImportable: true, reason: null }))

/** The request has one of `name` and `names`. `ids`: those of the response, in its order. */
export const importTables = (model: Model, { name, names, ...changes }: TableImport, ids: readonly number[]) => {
  const list = names?.[0] === '*' ? unregistered(model).sort() : (names ?? [String(name)])
  if (new Set(list.map(fold)).size < list.length) invalid()
  for (const one of list) assertFree(model, one)
  const stored = list.map((one) => findStored(model, one) ?? refuse(404, 'TABLE_NOT_FOUND'))
  const before = [...model.registered]
  try {
    const imported = stored.map((table, index) => importTable(model, table, ids[index] ?? 0))
    for (const table of imported) applyChanges(table, changes)
    const shown = imported.map((table) => toTable(table, 'administrator'))
    return names ? shown : shown[0]
  } catch (error) {
    model.registered.splice(0, model.registered.length, ...before)
    throw error
  }
}

/** Returns the field of a column, with the label, flags and type that an administrator has chosen. New ones fail closed. */
const refreshField =
  (stored: StoredTable, before: readonly Field[]) =>
  (column: Column): Field => {
    const fresh = describe(stored, column)
    const old = before.find(({ name }) => name === column.name)
    if (!old) return { ...fresh, isHidden: before.some(({ isHidden }) => isHidden) }
    const { label, isHidden, isReadonly, jsonType } = old
    const nullable = old.isPrimary ? old.nullable : fresh.nullable
    return {
      ...fresh,
      label,
      isHidden,
      isReadonly,
      jsonType,
      nullable,
      defaultValue: toJson(jsonType, column.defaultValue)
    }
  }

export const refreshTable = (model: Model, id: number): Table => {
  const table = tableOf(model, id)
  const stored = findStored(model, table.name) ?? refuse(409, 'STRUCTURE_CHANGED')
  table.fields = stored.columns.map(refreshField(stored, table.fields))
  table.updatedAt = nextTimestamp(model, table.updatedAt)
  return toTable(table, 'administrator')
}

/** The stored table is gone: the registry has the choices, and no facts. */
export const loseFacts = (table: Registered) => {
  table.fields = table.fields.map((field) => ({
    ...field,
    sqliteType: SQLITE_TYPE[field.jsonType],
    nullable: !field.isPrimary || field.nullable,
    defaultValue: null,
    isAutoIncrement: false
  }))
  table.key = table.fields.filter(({ isPrimary }) => isPrimary).map(({ name }) => name)
}

export const unregisterTable = (model: Model, id: number, confirm: boolean) => {
  const table = tableOf(model, id)
  if (!confirm) refuse(400, 'CONFIRMATION_REQUIRED')
  remove(model.registered, table)
  return CONFIRMED
}

export const addField = (model: Model, table: Registered, sent: NewField, viewer: Viewer): Table => {
  const field = toField(sent)
  checkNames([field.name])
  if (field.isPrimary || field.isAutoIncrement) invalid()
  checkField(field)
  if (!field.nullable && field.defaultValue === null) invalid()
  if (table.fields.some(({ name }) => fold(name) === fold(sent.name))) refuse(409, 'FIELD_EXISTS')
  const stored = findStored(model, table.name) ?? refuse(409, 'STRUCTURE_CHANGED')
  if (findColumn(stored, sent.name)) refuse(409, 'FIELD_EXISTS')
  addColumn(stored, toColumn(field))
  table.fields = [...table.fields, field]
  table.updatedAt = nextTimestamp(model, table.updatedAt)
  return toTable(table, viewer)
}
