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

/** The value of a field of the record that an earlier operation of the batch returns. */
export class Result {
  readonly operation: number
  readonly field: Field

  constructor(operation: number, field: Field) {
    this.operation = operation
    this.field = field
  }
}

type Value = Stored | Result
export type Assignment = readonly [Field, Value]

/** The state in which a change runs. */
export interface Run {
  /** Returns the rows before the request. A failure is explained with them, because the request was rolled back. */
  readonly rowsBefore: (stored: StoredTable) => readonly Row[]
  readonly resultOf: (result: Result) => Stored
  /** The record in the response. Only a random key of SQLite is read from it. */
  readonly returned: Body | undefined
}

/** The data of a response, and the record that later operations of a batch can use. */
export interface Effect {
  readonly data: unknown
  readonly row?: Row
}

/** A change whose request is valid. Stores it, or throws the Refusal that the stored rows cause. */
export type Change = (run: Run) => Effect

/** Runs the only change of a request. */
export const runOnly = (change: Change, returned?: Body) => {
  const rowsBefore = ({ rows }: StoredTable) => rows
  return change({ rowsBefore, resultOf: () => invalid(), returned }).data
}

/** Checked first: the records of a table that is gone are refused before the request is checked. */
export const storedOf = (model: Model, { name }: Registered): StoredTable =>
  findStored(model, name) ?? refuse(409, 'STRUCTURE_CHANGED')

/** Also refuses a view: not even an administrator can write to it. */
export const storedForWrite = (model: Model, table: Registered): StoredTable => {
  const stored = storedOf(model, table)
  return table.kind === 'view' ? refuse(403, 'TABLE_READ_ONLY') : stored
}

export const isWritable = ({ hasTimestamps }: Registered, { name, isReadonly }: Field) =>
  !isReadonly && !(hasTimestamps && TIMESTAMPS.includes(name))

export const mayBeNull = ({ isRowidKey }: Registered, { isPrimary, nullable }: Field) =>
  isPrimary ? isRowidKey : nullable

export const isRequired = (table: Registered, field: Field) => !mayBeNull(table, field) && field.defaultValue === null

/** Returns the JSON of these fields of a row. */
export const showRow = (fields: readonly Field[], row: Row) =>
  Object.fromEntries(fields.map(({ name, jsonType }) => [name, toJson(jsonType, row.get(name) ?? null)]))

const toRecord = (table: Registered, viewer: Viewer, row: Row) => showRow(visibleFields(table, viewer), row)

/** Returns the fields and values of a body. Refuses all of it if a key is unknown or a value has the wrong type. */
export const readBody = (table: Registered, viewer: Viewer, body: Body) => {
  const fields = visibleFields(table, viewer)
  return Object.entries(body).map(([name, value]): Assignment => {
    const field = fields.find((candidate) => candidate.name === name) ?? invalid()
    if (value instanceof Result) return value.field.jsonType === field.jsonType ? [field, value] : invalid()
    if (value === null) return mayBeNull(table, field) ? [field, null] : invalid()
    return [field, toStored(field.jsonType, value) ?? invalid()]
  })
}

const checkRequired = (table: Registered, viewer: Viewer, sent: readonly Field[]) => {
  const missing = table.fields.filter((field) => isRequired(table, field) && !sent.includes(field))
  if (missing.some((field) => visibleFields(table, viewer).includes(field))) invalid()
  if (missing.length > 0) refuse(400, 'CONSTRAINT_VIOLATION')
}

export const readNewRecord = (table: Registered, viewer: Viewer, body: Body) => {
  const sent = readBody(table, viewer, body)
  if (sent.some(([field]) => !isWritable(table, field))) invalid()
  const fields = sent.map(([field]) => field)
  checkRequired(table, viewer, fields)
  return sent
}

/** Returns the values to store. One that an earlier operation returns may be NULL where the table allows none. */
export const resolve = (table: Registered, sent: readonly Assignment[], { resultOf }: Run): Map<string, Stored> => {
  const values = sent.map(([field, value]): [string, Stored] => {
    const stored = value instanceof Result ? resultOf(value) : value
    return stored === null && !mayBeNull(table, field) ? refuse(400, 'CONSTRAINT_VIOLATION') : [field.name, stored]
  })
  return new Map(values)
}

export const insertRow = (
  model: Model,
  table: Registered,
  stored: StoredTable,
  values: Map<string, Stored>,
  { returned }: Run,
  ignoresConflict = false
) => {
  if (table.hasTimestamps) for (const name of TIMESTAMPS) values.set(name, BigInt(model.now))
  const randomKey = () => BigInt(String(returned?.[stored.key[0] as string]))
  return insert(stored, values, { randomKey, ignoresConflict })
}

export const prepareCreate = (
  model: Model,
  table: Registered,
  viewer: Viewer,
  body: Body,
  ignoresConflict = false
): Change => {
  const stored = storedForWrite(model, table)
  const sent = readNewRecord(table, viewer, body)
  return (run) => {
    const row = insertRow(model, table, stored, resolve(table, sent, run), run, ignoresConflict)
    if (!row && ignoresConflict) return { data: { ignored: true } }
    return row ? { data: toRecord(table, viewer, row), row } : refuse(409, 'UNIQUE_VIOLATION')
  }
}

/** `returned` is the record in the response. Only a random key of SQLite is read from it. */
export const createRecord = (model: Model, table: Registered, viewer: Viewer, body: Body, returned: Body | undefined) =>
  runOnly(prepareCreate(model, table, viewer, body), returned)

/** Returns one part of a key as text. */
const partText = (value: Stored) => String(value)

const encodePart = (value: Stored) => encodeURIComponent(partText(value))

export const formatKey = (key: readonly Stored[]) =>
  key.length === 1 ? partText(key[0] ?? null) : key.map(encodePart).join(',')

/** A key as text, or the result of an operation. */
type Key = string | Result

const findRow = (rows: readonly Row[], table: Registered, pk: string) =>
  rows.find((row) => formatKey(keyOf(table, row)) === pk)

const notFound = () => refuse(404, 'RECORD_NOT_FOUND')

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

/** A result can be the key only if the key is one field of its type. */
export const checkResultAsKey = ({ key, fields }: Registered, pk: Result) => {
  const field = key.length === 1 ? fields.find(({ name }) => name === key[0]) : undefined
  if (field?.jsonType !== pk.field.jsonType) invalid()
}

/** Refuses a text that cannot be a key of the table, before any other check. */
const checkKeyFormat = (table: Registered, pk: Key) => {
  if (pk instanceof Result) return
  const parts = partsOf(table, pk)
  const keys = table.key.map((name) => table.fields.find((field) => field.name === name) as Field)
  const isKey = parts.length === keys.length && keys.every((field, index) => isKeyPart(table, field, parts[index]))
  if (!isKey) notFound()
}

const refuseOtherKey = (table: Registered, pk: Key, sent: readonly Assignment[]) => {
  const parts = pk instanceof Result ? [] : partsOf(table, pk)
  const isOther = ([{ name, isPrimary }, value]: Assignment) =>
    isPrimary && (value instanceof Result || parts[table.key.indexOf(name)] !== partText(value))
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

interface Target {
  readonly table: Registered
  readonly stored: StoredTable
  readonly pk: Key
  readonly hasTag: ((row: Row) => boolean) | undefined
  /** Whether the change fits the row. */
  readonly fits: (row: Row) => boolean
  /** Refuses the change, for a row before the request. Otherwise another operation of the request is the reason. */
  readonly explain: (row: Row) => void
}

/** Returns the row to change. */
const findTarget = ({ table, stored, pk, hasTag, fits, explain }: Target, { resultOf, rowsBefore }: Run): Row => {
  const text = pk instanceof Result ? formatKey([resultOf(pk)]) : pk
  const row = findRow(stored.rows, table, text)
  if (row && hasTag?.(row) === false) refuse(412, 'PRECONDITION_FAILED')
  if (row && fits(row)) return row
  const before = pk instanceof Result ? undefined : findRow(rowsBefore(stored), table, text)
  if (before) explain(before)
  return notFound()
}

/** Stores new values of a row, unless another row has the same ones in a unique index. */
export const change = (model: Model, table: Registered, row: Row, values: ReadonlyMap<string, Stored>) => {
  const stored = storedOf(model, table)
  const next: Row = new Map([...row, ...values])
  touch(model, table, next)
  if (isTaken(stored, next, row)) refuse(409, 'UNIQUE_VIOLATION')
  for (const [name, value] of next) row.set(name, value)
}

export const readRow = (model: Model, table: Registered, pk: string) => {
  const stored = storedOf(model, table)
  checkKeyFormat(table, pk)
  return findRow(stored.rows, table, pk) ?? notFound()
}

export const readRecord = (model: Model, table: Registered, viewer: Viewer, pk: string) =>
  toRecord(table, viewer, readRow(model, table, pk))

interface RecordChange {
  readonly pk: Key
  /** The condition `If-Match`. undefined: none, or `*`. */
  readonly hasTag?: ((row: Row) => boolean) | undefined
  readonly returnsRecord?: boolean
  /** Whether the caller has the right to read. Otherwise it cannot compare the change with the record. */
  readonly mayRead: boolean
}

const checkComparable = ({ hasTag, mayRead }: Pick<RecordChange, 'hasTag' | 'mayRead'>) => {
  if (hasTag && !mayRead) refuse(412, 'PRECONDITION_FAILED')
}

export const prepareUpdate = (
  model: Model,
  table: Registered,
  viewer: Viewer,
  { pk, hasTag, body, returnsRecord = false, mayRead }: RecordChange & { readonly body: Body }
): Change => {
  const stored = storedForWrite(model, table)
  checkKeyFormat(table, pk)
  checkComparable({ hasTag, mayRead })
  const sent = readBody(table, viewer, body)
  refuseOtherKey(table, pk, sent)
  const changes = sent.filter(([field]) => !field.isPrimary && isWritable(table, field))
  if (changes.length === 0) invalid()
  const fixed = sent.filter(([field]) => !field.isPrimary && !isWritable(table, field))
  if (fixed.some(([, value]) => value instanceof Result || !mayRead)) invalid()
  const fits = (row: Row) => fixed.every(([{ name }, value]) => compare(row.get(name) ?? null, value as Stored) === 0)
  const explain = () => fixed.length > 0 && invalid()
  return (run) => {
    const row = findTarget({ table, stored, pk, hasTag, fits, explain }, run)
    change(model, table, row, resolve(table, changes, run))
    return { data: changed(table, viewer, row, returnsRecord) }
  }
}

export const updateRecord = (...args: Parameters<typeof prepareUpdate>) => runOnly(prepareUpdate(...args))

export const prepareDelete = (
  model: Model,
  table: Registered,
  viewer: Viewer,
  { pk, hasTag, returnsRecord = false, mayRead }: RecordChange
): Change => {
  const stored = storedForWrite(model, table)
  checkKeyFormat(table, pk)
  checkComparable({ hasTag, mayRead })
  return (run) => {
    const row = findTarget({ table, stored, pk, hasTag, fits: () => true, explain: () => {} }, run)
    stored.rows = stored.rows.filter((other) => other !== row)
    return { data: changed(table, viewer, row, returnsRecord) }
  }
}

export const deleteRecord = (...args: Parameters<typeof prepareDelete>) => runOnly(prepareDelete(...args))

/** Returns the sum, or undefined on overflow. NULL counts as 0. */
const add = (value: Stored, count: Stored): Stored | undefined => {
  if (typeof count === 'bigint') {
    const sum = BigInt(value ?? 0) + count
    return isInt64(sum) ? sum : undefined
  }
  const sum = Number(value ?? 0) + Number(count)
  return Number.isFinite(sum) ? sum : undefined
}

export interface Increment extends Omit<RecordChange, 'pk'> {
  readonly pk: number | Key
  readonly field: string
  readonly count?: number | string
}

const overflow = () => refuse(409, 'INCREMENT_OVERFLOW')

export const prepareIncrement = (
  model: Model,
  table: Registered,
  viewer: Viewer,
  { pk: sentKey, field: name, count = 1, hasTag, returnsRecord = false, mayRead }: Increment
): Change => {
  const stored = storedForWrite(model, table)
  const pk = typeof sentKey === 'number' ? String(sentKey) : sentKey
  const field = visibleFields(table, viewer).find((candidate) => candidate.name === name) ?? invalid()
  if (!isNumeric(field) || field.isPrimary || !isWritable(table, field)) refuse(400, 'NOT_INCREMENTABLE')
  const checked = toStored(field.jsonType, count) ?? invalid()
  checkKeyFormat(table, pk)
  checkComparable({ hasTag, mayRead })
  const sumIn = (row: Row) => add(row.get(name) ?? null, checked)
  const fits = (row: Row) => sumIn(row) !== undefined
  const explain = (row: Row) => fits(row) || overflow()
  return (run) => {
    const row = findTarget({ table, stored, pk, hasTag, fits, explain }, run)
    change(model, table, row, new Map([[name, sumIn(row) ?? overflow()]]))
    return { data: changed(table, viewer, row, returnsRecord) }
  }
}

export const increment = (...args: Parameters<typeof prepareIncrement>) => runOnly(prepareIncrement(...args))
