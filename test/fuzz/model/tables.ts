import type { ImportableTable, TableImport } from '../../../schemas/adoption.ts'
import type { ErrorCode } from '../../../schemas/error.ts'
import type { NewField, NewTable } from '../../../schemas/new-table.ts'
import type { SqliteType } from '../../../schemas/table.ts'
import type { FieldChanges, TableChanges } from '../../../schemas/table-changes.ts'
import type { PlainField as Field } from '../../../services/model/table.ts'
import {
  CONFIRMED,
  findRegistered,
  findStored,
  findView,
  invalid,
  isBroken,
  isStored,
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
import {
  addColumn,
  type Column,
  describe,
  findColumn,
  isSame,
  keyOf,
  newIndexes,
  type StoredTable
} from './stored-tables.ts'
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
  kind: table.kind,
  isPublished: table.isPublished,
  isEditable: table.isEditable,
  note: table.note,
  searchIndex: table.searchIndex,
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

const checkField = ({ jsonType, defaultValue, isPrimary, isAutoIncrement, isHidden }: Field, isComposite = false) => {
  if (isPrimary && (isHidden || !['integer', 'number', 'string'].includes(jsonType))) invalid()
  if (isPrimary && !isComposite && jsonType === 'integer' && defaultValue !== null) invalid()
  if (isAutoIncrement && (isComposite || !(isPrimary && jsonType === 'integer'))) invalid()
  if (defaultValue !== null && toStored(jsonType, defaultValue) === undefined) invalid()
}

const isReserved = (name: string) => /^sqlite_/i.test(name)

const checkNames = (names: readonly string[]) => {
  if (names.some(isReserved)) invalid()
  if (new Set(names.map(fold)).size < names.length) invalid()
}

const AUTOMATIC = { isPrimary: true, isAutoIncrement: true }

/** Without a declared key, an integer field `id` becomes the key. Without such a field, one is added in front. */
const withKey = (fields: readonly Field[]): readonly Field[] => {
  if (fields.some(({ isPrimary }) => isPrimary)) return fields
  const id = fields.find(({ name }) => fold(name) === 'id')
  if (!id) return [{ ...toField({ name: 'id', jsonType: 'integer' }), ...AUTOMATIC }, ...fields]
  if (id.jsonType !== 'integer') invalid()
  return fields.map((field) => (field === id ? { ...id, ...AUTOMATIC } : field))
}

const TIMESTAMPS = ['created_at', 'updated_at'].map(
  (name): Field => ({ ...toField({ name, jsonType: 'integer' }), isReadonly: true })
)

/** A key that SQLite does not generate is NOT NULL, whatever the field declares. */
const toColumn = (field: Field, isComposite = false): Column => ({
  name: field.name,
  sqliteType: field.sqliteType,
  notNull: !field.nullable || (field.isPrimary && (isComposite || field.jsonType !== 'integer')),
  defaultValue: field.defaultValue === null ? null : (toStored(field.jsonType, field.defaultValue) as Stored)
})

const hasVisibilityFlags = (fields: readonly NewField[]) =>
  fields.some(({ isHidden, isReadonly }) => isHidden !== undefined || isReadonly !== undefined)

/** A token may not set the flags that limit tokens. */
export const checkTokenFields = (fields: readonly NewField[]) => {
  if (hasVisibilityFlags(fields)) invalid()
}

const register = (model: Model, table: Pick<Registered, 'id' | 'name' | 'kind' | 'fields' | 'key' | 'isRowidKey'>) => {
  const times = { createdAt: model.now, updatedAt: model.now }
  const flags = { isPublished: true, isEditable: table.kind === 'table', hasTimestamps: false, searchIndex: false }
  const registered = { label: '', note: null, ...flags, ...times }
  model.registered.push({ ...registered, ...table })
  return model.registered.at(-1) as Registered
}

const toStoredTable = (name: string, fields: readonly Field[]): StoredTable => {
  const keys = fields.filter(({ isPrimary }) => isPrimary)
  const key = keys.map((field) => field.name)
  const isComposite = keys.length > 1
  const isRowidKey = !isComposite && keys.some(({ jsonType }) => jsonType === 'integer')
  return {
    name,
    columns: fields.map((field) => toColumn(field, isComposite)),
    key,
    isRowidKey,
    isAutoIncrement: keys.some((field) => field.isAutoIncrement),
    isView: false,
    indexes: newIndexes({ name, key, isRowidKey }),
    rows: [],
    sequence: 0n
  }
}

export const createTable = (model: Model, sent: NewTable, id: number, viewer: Viewer): Table => {
  const { name, label = name, note = null, autoTimestamps = false } = sent
  if (/^sqlite_/i.test(name)) invalid()
  const all = [...sent.fields.map(toField), ...(autoTimestamps ? TIMESTAMPS : [])]
  const fields = withKey(all)
  checkNames(all.map((field) => field.name))
  const isComposite = fields.filter(({ isPrimary }) => isPrimary).length > 1
  for (const field of fields) checkField(field, isComposite)
  if (isStored(model, name)) refuse(409, 'TABLE_EXISTS')
  if (findRegistered(model, name)) refuse(409, 'TABLE_REGISTERED')
  const stored = toStoredTable(name, fields)
  model.stored.push(stored)
  const table = register(model, {
    id,
    name,
    kind: 'table',
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
  const { name, key, isRowidKey, isView } = stored
  const fields = stored.columns.map((column) => describe(stored, column))
  return register(model, { id, name, kind: isView ? 'view' : 'table', fields, key, isRowidKey })
}

const unregistered = (model: Model) =>
  [...model.stored, ...model.views].map(({ name }) => name).filter((name) => !findRegistered(model, name))

/** By name. */
const importable = (model: Model) =>
  unregistered(model)
    .filter((name) => findStored(model, name))
    .sort()

/** Returns the error for a name that has no columns: SQLite has nothing of the name, or a view that it cannot prepare. */
const refuseMissing = (model: Model, name: string, status: number, code: ErrorCode) =>
  findView(model, name) ? refuse(400, 'TABLE_NOT_IMPORTABLE') : refuse(status, code)

const changeField = (
  { hasTimestamps }: Registered,
  fields: Field[],
  { name, ...change }: FieldChanges,
  isComputed: boolean
) => {
  const index = fields.findIndex((field) => field.name === name)
  const field = fields[index] ?? invalid()
  if (field.isPrimary && change.isHidden) invalid()
  const isTimestamp = hasTimestamps && TIMESTAMPS.some((timestamp) => timestamp.name === name)
  fields[index] = { ...field, ...change, ...((isTimestamp || isComputed) && { isReadonly: true }) }
}

/** A table with this key and a text can have a search index. */
const checkSearchable = (model: Model, { name, isRowidKey, key, fields }: Registered) => {
  if (!findStored(model, name)) refuse(409, 'STRUCTURE_CHANGED')
  if (!isRowidKey || key[0] === 'rowid' || fields.every(({ jsonType }) => jsonType !== 'string')) invalid()
}

const applyChanges = (model: Model, table: Registered, { fields: changes = [], ...metadata }: TableChanges) => {
  if (metadata.isEditable && table.kind === 'view') invalid()
  const isComputed = table.kind === 'view' && findStored(model, table.name) !== undefined
  const fields = [...table.fields]
  for (const change of changes) changeField(table, fields, change, isComputed)
  if (metadata.searchIndex) checkSearchable(model, table)
  Object.assign(table, metadata, { fields })
}

export const updateTable = (model: Model, id: number, changes: TableChanges): Table => {
  if (Object.keys(changes).length === 0) invalid()
  const table = tableOf(model, id)
  applyChanges(model, table, changes)
  table.updatedAt = nextTimestamp(model, table.updatedAt)
  return toTable(table, 'administrator')
}

const IMPORTABLE = { isImportable: true, reason: null }

const toImportableField = ({ name, jsonType, isPrimary }: Field) => ({ name, jsonType, isPrimary })

/** The tables of the model are too small for an estimate. */
export const listImportable = (model: Model): readonly ImportableTable[] =>
  unregistered(model)
    .sort()
    .map((name) => {
      const view = findView(model, name)
      const stored = findStored(model, name)
      const fields = stored ? stored.columns.map((column) => toImportableField(describe(stored, column))) : []
      if (!view) return { name, rows: stored?.rows.length ?? null, ...IMPORTABLE, kind: 'table', fields }
      if (!isBroken(model, view)) return { name, rows: null, ...IMPORTABLE, kind: 'view', fields }
      const reason = `SQLite cannot prepare the view '${name}': no such table: main.${view.base.name}.`
      return { name, rows: null, isImportable: false, reason, kind: 'view', fields }
    })

/** Returns a view with the key that the request names. */
const withViewKey = (stored: StoredTable, key: readonly string[]): StoredTable => {
  const isKey = key.every(
    (name, index) => stored.columns.some((column) => column.name === name) && key.indexOf(name) === index
  )
  return stored.isView && isKey ? { ...stored, key } : invalid()
}

/** Whether no row has NULL in the key, and no two rows have the same key. */
export const identifiesRows = ({ rows }: StoredTable, key: readonly string[]) =>
  rows.every(
    (row, index) =>
      !keyOf({ key }, row).includes(null) && !rows.slice(0, index).some((other) => isSame(row, other, key))
  )

const checkViewKey = (stored: StoredTable) => {
  const { isView, key } = stored
  if (isView && key.length > 0 && !identifiesRows(stored, key)) refuse(409, 'UNIQUE_VIOLATION')
}

/** The request has one of `name` and `names`. `ids`: those of the response, in its order. */
export const importTables = (
  model: Model,
  { name, names, primaryKey, ...changes }: TableImport,
  ids: readonly number[]
) => {
  const list = names?.[0] === '*' ? importable(model) : (names ?? [String(name)])
  if (new Set(list.map(fold)).size < list.length) invalid()
  for (const one of list) assertFree(model, one)
  const found = list.map((one) => findStored(model, one) ?? refuseMissing(model, one, 404, 'TABLE_NOT_FOUND'))
  const stored = primaryKey ? found.map((table) => withViewKey(table, [primaryKey].flat())) : found
  const before = [...model.registered]
  try {
    const imported = stored.map((table, index) => importTable(model, table, ids[index] ?? 0))
    for (const table of imported) applyChanges(model, table, changes)
    for (const table of stored) checkViewKey(table)
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
  const found = findStored(model, table.name) ?? refuseMissing(model, table.name, 409, 'STRUCTURE_CHANGED')
  const stored = { ...found, key: table.key }
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
  if (table.kind === 'view') return
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
  if (field.isPrimary || field.isAutoIncrement) invalid()
  checkField(field)
  if (!field.nullable && field.defaultValue === null) invalid()
  if (isReserved(sent.name)) return viewer === 'token' ? refuse(409, 'FIELD_EXISTS') : invalid()
  if (table.fields.some(({ name }) => fold(name) === fold(sent.name))) refuse(409, 'FIELD_EXISTS')
  if (table.kind === 'view') refuse(403, 'TABLE_READ_ONLY')
  const stored = findStored(model, table.name) ?? refuse(409, 'STRUCTURE_CHANGED')
  if (findColumn(stored, sent.name)) refuse(409, 'FIELD_EXISTS')
  addColumn(stored, toColumn(field))
  table.fields = [...table.fields, field]
  table.updatedAt = nextTimestamp(model, table.updatedAt)
  return toTable(table, viewer)
}
