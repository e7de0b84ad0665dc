import type { PlainField as Field } from '../../../services/model/table.ts'
import {
  CONFIRMED,
  findStored,
  invalid,
  type Model,
  type Registered,
  refuse,
  type Viewer,
  visibleFields
} from './model.ts'
import { insert, isTaken, keyOf, type Row, type StoredTable } from './stored-tables.ts'
import { compare, isInt64, isNumeric, type Stored, toJson, toStored } from './values.ts'

export type Body = Record<string, unknown>

const TIMESTAMPS = ['created_at', 'updated_at']

/** Checked first: the records of a table that is gone are refused before the request is checked. */
export const storedOf = (model: Model, { name }: Registered): StoredTable =>
  findStored(model, name) ?? refuse(409, 'STRUCTURE_CHANGED')

/** The same for a write. Not even an administrator can write to a view. */
const storedForWrite = (model: Model, table: Registered): StoredTable => {
  const stored = storedOf(model, table)
  return table.kind === 'view' ? refuse(403, 'TABLE_READ_ONLY') : stored
}

const isWritable = ({ hasTimestamps }: Registered, { name, isReadonly }: Field) =>
  !isReadonly && !(hasTimestamps && TIMESTAMPS.includes(name))

export const mayBeNull = ({ isRowidKey }: Registered, { isPrimary, nullable }: Field) =>
  isPrimary ? isRowidKey : nullable

export const isRequired = (table: Registered, field: Field) => !mayBeNull(table, field) && field.defaultValue === null

/** Returns the JSON of these fields of a row. */
export const showRow = (fields: readonly Field[], row: Row) =>
  Object.fromEntries(fields.map(({ name, jsonType }) => [name, toJson(jsonType, row.get(name) ?? null)]))

const toRecord = (table: Registered, viewer: Viewer, row: Row) => showRow(visibleFields(table, viewer), row)

/** Returns the fields and values of a body. Refuses all of it if a key is unknown or a value has the wrong type. */
const readBody = (table: Registered, viewer: Viewer, body: Body) => {
  const fields = visibleFields(table, viewer)
  return Object.entries(body).map(([name, value]): readonly [Field, Stored] => {
    const field = fields.find((candidate) => candidate.name === name) ?? invalid()
    if (value === null) return mayBeNull(table, field) ? [field, null] : invalid()
    return [field, toStored(field.jsonType, value) ?? invalid()]
  })
}

const checkRequired = (table: Registered, viewer: Viewer, sent: readonly Field[]) => {
  const missing = table.fields.filter((field) => isRequired(table, field) && !sent.includes(field))
  if (missing.some((field) => visibleFields(table, viewer).includes(field))) invalid()
  if (missing.length > 0) refuse(400, 'CONSTRAINT_VIOLATION')
}

/** `returned` is the record in the response. Only a random key of SQLite is read from it. */
export const createRecord = (
  model: Model,
  table: Registered,
  viewer: Viewer,
  body: Body,
  returned: Body | undefined
) => {
  const stored = storedForWrite(model, table)
  const sent = readBody(table, viewer, body)
  if (sent.some(([field]) => !isWritable(table, field))) invalid()
  const fields = sent.map(([field]) => field)
  checkRequired(table, viewer, fields)
  const values = new Map(sent.map(([{ name }, value]) => [name, value]))
  if (table.hasTimestamps) for (const name of TIMESTAMPS) values.set(name, BigInt(model.now))
  const randomKey = () => BigInt(String(returned?.[stored.key[0] as string]))
  const row = insert(stored, values, randomKey) ?? refuse(409, 'UNIQUE_VIOLATION')
  return toRecord(table, viewer, row)
}

/** Returns one part of a key as text. */
const partText = (value: Stored) => String(value)

const encodePart = (value: Stored) => encodeURIComponent(partText(value))

export const formatKey = (key: readonly Stored[]) =>
  key.length === 1 ? partText(key[0] ?? null) : key.map(encodePart).join(',')

const find = ({ rows }: StoredTable, table: Registered, pk: string): Row =>
  rows.find((row) => formatKey(keyOf(table, row)) === pk) ?? refuse(404, 'RECORD_NOT_FOUND')

const decode = (part: string) => {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

const partsOf = ({ key }: Registered, pk: string) => (key.length === 1 ? [pk] : pk.split(',').map(decode))

const looksNumeric = (part: string) => /^[+-]?\d/.test(part) && Number.isFinite(Number(part))

const isKeyPart = ({ isRowidKey }: Registered, { jsonType }: Field, part: string | undefined) => {
  if (part === undefined) return false
  if (isRowidKey) return /^(?:0|-?[1-9]\d*)$/.test(part) && isInt64(BigInt(part))
  return jsonType === 'string' || !looksNumeric(part) || String(Number(part)) === part
}

/** Refuses a text that cannot be a key of the table, before any other check. */
const checkKeyFormat = (table: Registered, pk: string) => {
  const parts = partsOf(table, pk)
  const keys = table.key.map((name) => table.fields.find((field) => field.name === name) as Field)
  const isKey = parts.length === keys.length && keys.every((field, index) => isKeyPart(table, field, parts[index]))
  if (!isKey) refuse(404, 'RECORD_NOT_FOUND')
}

const refuseOtherKey = (table: Registered, pk: string, sent: readonly (readonly [Field, Stored])[]) => {
  const parts = partsOf(table, pk)
  const isOther = ([{ name, isPrimary }, value]: readonly [Field, Stored]) =>
    isPrimary && parts[table.key.indexOf(name)] !== partText(value)
  if (sent.some(isOther)) invalid()
}

/** The response to a change of a row. `returnsRecord`: the request has `return=record`. */
const changed = (table: Registered, viewer: Viewer, row: Row, returnsRecord: boolean) =>
  returnsRecord ? { ...CONFIRMED, record: toRecord(table, viewer, row) } : CONFIRMED

const touch = (model: Model, table: Registered, row: Row) => {
  if (!table.hasTimestamps) return
  const previous = row.get('updated_at') as bigint | null
  row.set('updated_at', BigInt(Math.max(model.now, previous === null ? 0 : Number(previous) + 1)))
}

/** Stores new values of a row, unless another row has the same ones in a unique index. */
const change = (model: Model, table: Registered, row: Row, values: ReadonlyMap<string, Stored>) => {
  const stored = storedOf(model, table)
  const next: Row = new Map([...row, ...values])
  touch(model, table, next)
  if (isTaken(stored, next, row)) refuse(409, 'UNIQUE_VIOLATION')
  for (const [name, value] of next) row.set(name, value)
}

export const readRecord = (model: Model, table: Registered, viewer: Viewer, pk: string) => {
  const stored = storedOf(model, table)
  checkKeyFormat(table, pk)
  return toRecord(table, viewer, find(stored, table, pk))
}

interface Change {
  readonly pk: string
  readonly returnsRecord: boolean
}

export const updateRecord = (
  model: Model,
  table: Registered,
  viewer: Viewer,
  { pk, body, returnsRecord }: Change & { readonly body: Body }
) => {
  const stored = storedForWrite(model, table)
  checkKeyFormat(table, pk)
  const sent = readBody(table, viewer, body)
  refuseOtherKey(table, pk, sent)
  const changes = sent.filter(([field]) => !field.isPrimary && isWritable(table, field))
  if (changes.length === 0) invalid()
  const row = find(stored, table, pk)
  const fixed = sent.filter(([field]) => !isWritable(table, field))
  if (fixed.some(([{ name }, value]) => compare(row.get(name) ?? null, value) !== 0)) invalid()
  change(model, table, row, new Map(changes.map(([{ name }, value]) => [name, value])))
  return changed(table, viewer, row, returnsRecord)
}

export const deleteRecord = (model: Model, table: Registered, viewer: Viewer, { pk, returnsRecord }: Change) => {
  const stored = storedForWrite(model, table)
  checkKeyFormat(table, pk)
  const row = find(stored, table, pk)
  stored.rows = stored.rows.filter((other) => other !== row)
  return changed(table, viewer, row, returnsRecord)
}

/** Returns the sum, or undefined on overflow. NULL counts as 0. */
const add = (value: Stored, count: Stored): Stored | undefined => {
  if (typeof count === 'bigint') {
    const sum = BigInt(value ?? 0) + count
    return isInt64(sum) ? sum : undefined
  }
  const sum = Number(value ?? 0) + Number(count)
  return Number.isFinite(sum) ? sum : undefined
}

export interface Increment {
  readonly pk: string | number
  readonly field: string
  readonly count?: number | string
}

export const increment = (
  model: Model,
  table: Registered,
  { pk, field: name, count = 1 }: Increment,
  returnsRecord: boolean
) => {
  const stored = storedOf(model, table)
  const field = visibleFields(table, 'token').find((candidate) => candidate.name === name) ?? invalid()
  if (!isNumeric(field) || field.isPrimary || !isWritable(table, field)) refuse(400, 'NOT_INCREMENTABLE')
  const checked = toStored(field.jsonType, count) ?? invalid()
  checkKeyFormat(table, String(pk))
  const row = find(stored, table, String(pk))
  const sum = add(row.get(name) ?? null, checked) ?? refuse(409, 'INCREMENT_OVERFLOW')
  change(model, table, row, new Map([[name, sum]]))
  return changed(table, 'token', row, returnsRecord)
}
