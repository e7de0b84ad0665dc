import type { JsonType } from '../../../schemas/table.ts'
import type { PlainField as Field } from '../../../services/model/table.ts'
import { invalid, type Model, type Registered, refuse, type Viewer, visibleFields } from './model.ts'
import { change, isRequired, isWritable, mayBeNull, storedForWrite } from './records.ts'
import type { TestResponse } from './service.ts'
import { insert, isSame, type Row, type StoredTable } from './stored-tables.ts'
import { isInt64, type Stored, toStored } from './values.ts'

/** A cell of CSV, which is null if it is empty and has no quotes, or a value of NDJSON. */
export type FileValue = { readonly cell: string | null } | { readonly json: unknown }

/** A record of a file with the line where it begins. */
export interface FileRecord {
  readonly line: number
  readonly values: readonly (readonly [name: string, value: FileValue])[]
}

export interface ImportedFile {
  /** The header, which a file of NDJSON does not have. */
  readonly header: readonly string[] | null
  readonly records: readonly FileRecord[]
  readonly isUpsert: boolean
  readonly isDryRun: boolean
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const parseInteger = (text: string): Stored | undefined =>
  /^(?:0|-?[1-9]\d*)$/.test(text) && isInt64(BigInt(text)) ? BigInt(text) : undefined

const parseNumber = (text: string): Stored | undefined => {
  const number = parseJson(text)
  return typeof number === 'number' && text.trim() === text ? number + 0 : undefined
}

const parsers: Partial<Record<JsonType, (text: string) => Stored | undefined>> = {
  integer: parseInteger,
  number: parseNumber,
  string: (text) => text
}

/** Returns the stored value of a cell, or undefined if it does not have the type. */
const parseCell = (jsonType: JsonType, text: string) =>
  (parsers[jsonType] ?? ((text: string) => toStored(jsonType, parseJson(text))))(text)

/** Returns the code of the error, or the value. The key of a record is never null. */
const readValue = (table: Registered, field: Field, value: FileValue): { stored: Stored } | { code: string } => {
  const isNull = 'cell' in value ? value.cell === null : value.json === null
  if (isNull) return mayBeNull(table, field) && !field.isPrimary ? { stored: null } : { code: 'required' }
  const stored = 'cell' in value ? parseCell(field.jsonType, String(value.cell)) : toStored(field.jsonType, value.json)
  return stored === undefined ? { code: 'type' } : { stored }
}

interface FileError {
  readonly line: number
  readonly code: string
  /** Absent for errors whose column the model does not know. */
  readonly column?: string
}

/** The records that SQLite accepts before they are compared with the stored ones. */
interface Staged {
  readonly rows: readonly { readonly line: number; readonly values: Map<string, Stored>; readonly row: Row }[]
  readonly errors: readonly FileError[]
}

const TIMESTAMPS = ['created_at', 'updated_at']

const canSet = (table: Registered, viewer: Viewer, field: Field) =>
  viewer === 'administrator' || isWritable(table, field)

/** Returns an error for each name that the caller cannot set, and for each required field without a name. */
const checkNames = (table: Registered, viewer: Viewer, { isUpsert }: ImportedFile, names: readonly string[]) => {
  const fields = visibleFields(table, viewer)
  const unknown = names.filter((name) => !fields.some((field) => field.name === name && canSet(table, viewer, field)))
  const required = table.fields.filter((field) => isRequired(table, field)).map(({ name }) => name)
  const missing = [...new Set([...required, ...(isUpsert ? table.key : [])])].filter((name) => !names.includes(name))
  return [
    ...unknown.map((column) => ({ column, code: 'unknown' })),
    ...missing.map((column) => ({ column, code: 'required' }))
  ]
}

const commonNames = ({ key }: Registered, { isUpsert }: ImportedFile, names: readonly string[]) =>
  (isUpsert ? names : names.filter((name) => key.includes(name))).toSorted().join()

/** Returns the records whose names are right, and the errors of the others. */
const checkAllNames = (table: Registered, viewer: Viewer, file: ImportedFile) => {
  if (file.header) {
    const errors = checkNames(table, viewer, file, file.header).map((error) => ({ line: 1, ...error }))
    return { errors, records: errors.length > 0 ? [] : file.records }
  }
  const errors: FileError[] = []
  let common: string | undefined
  const records = file.records.filter(({ line, values }) => {
    const names = values.map(([name]) => name)
    const wrong = checkNames(table, viewer, file, names)
    errors.push(...wrong.map((error) => ({ line, ...error })))
    if (wrong.length > 0) return false
    common ??= commonNames(table, file, names)
    if (common === commonNames(table, file, names)) return true
    errors.push({ line, code: 'fields' })
    return false
  })
  return { errors, records }
}

/** A record without a key gets one that no other record has. */
const hasGeneratedKey = (table: Registered, values: ReadonlyMap<string, Stored>) =>
  table.isRowidKey && !values.has(table.key[0] as string)

const withTimestamps = (model: Model, { hasTimestamps }: Registered, values: Map<string, Stored>) => {
  const missing = hasTimestamps ? TIMESTAMPS.filter((name) => !values.has(name)) : []
  return new Map([...values, ...missing.map((name) => [name, BigInt(model.now)] as const)])
}

/** Puts the valid records into an empty copy of the table. */
const stage = (model: Model, table: Registered, viewer: Viewer, file: ImportedFile): Staged => {
  const { errors: nameErrors, records } = checkAllNames(table, viewer, file)
  const errors: FileError[] = [...nameErrors]
  const copy: StoredTable = { ...storedForWrite(model, table), rows: [], sequence: 0n }
  const rows: Staged['rows'][number][] = []
  for (const { line, values } of records) {
    const read = values.map(([name, value]) => {
      const field = table.fields.find((candidate) => candidate.name === name) as Field
      return { name, ...readValue(table, field, value) }
    })
    const wrong = read.flatMap((one) => ('code' in one ? [{ line, column: one.name, code: one.code }] : []))
    errors.push(...wrong)
    if (wrong.length > 0) continue
    const stored = new Map(read.map((one) => [one.name, 'stored' in one ? one.stored : null]))
    const row = insert(copy, withTimestamps(model, table, stored), { randomKey: () => 0n })
    if (row) rows.push({ line, values: stored, row })
    else errors.push({ line, code: 'unique' })
  }
  return { rows, errors }
}

/** Returns an error for each record that has the key or the unique values of a stored one. */
const findTaken = (stored: StoredTable, table: Registered, { isUpsert }: ImportedFile, { rows }: Staged) => {
  const indexes = stored.indexes.filter(({ isUnique }) => isUnique).map(({ fields }) => fields)
  const isKey = (fields: readonly string[]) => fields.toSorted().join() === table.key.toSorted().join()
  const uniques = [table.key, ...indexes].filter((fields) => !(isUpsert && isKey(fields)))
  const isTaken = ({ values, row }: Staged['rows'][number]) =>
    uniques.some((fields) => {
      if (hasGeneratedKey(table, values) && fields.some((name) => table.key.includes(name))) return false
      return stored.rows.some((other) => isSame(other, row, fields))
    })
  return rows.filter(isTaken).map(({ line }): FileError => ({ line, code: 'unique' }))
}

const toText = ({ line, code, column }: { readonly line: number; readonly code: string; readonly column?: string }) =>
  `${line} ${code} ${['unique', 'fields'].includes(code) ? '' : column}`

const sorted = (errors: readonly FileError[]) => [...new Set(errors.map(toText))].sort().join('\n')

/** Compares the errors in the response with those of the model, and refuses the import. */
const refuseFile = (errors: readonly FileError[], { text }: TestResponse) => {
  const { code, details } = JSON.parse(text).error ?? {}
  if (code === 'IMPORT_FAILED' && sorted(details) !== sorted(errors))
    throw new Error(`The errors of the file are\n${sorted(details)}\nand not\n${sorted(errors)}`)
  refuse(400, 'IMPORT_FAILED')
}

const isEmpty = ({ hasTimestamps }: Registered, { rows }: Staged) =>
  rows.length > 0 && !hasTimestamps && rows.every(({ values }) => values.size === 0)

/** Changes a stored record. Returns whether the file has a field to change. */
const update = (model: Model, table: Registered, known: Row, values: ReadonlyMap<string, Stored>) => {
  const others = new Map([...values].filter(([name]) => !table.key.includes(name)))
  if (others.size === 0) return false
  change(model, table, known, others)
  for (const [name, value] of others) known.set(name, value)
  return true
}

const storeAll = (model: Model, table: Registered, { isUpsert }: ImportedFile, { rows }: Staged) => {
  const stored = storedForWrite(model, table)
  let [created, updated] = [0, 0]
  for (const { values, row } of rows) {
    const known = isUpsert ? stored.rows.find((other) => isSame(other, row, table.key)) : undefined
    if (known) updated += Number(update(model, table, known, values))
    else {
      insert(stored, withTimestamps(model, table, values), { randomKey: () => invalid() })
      created += 1
    }
  }
  return { created, updated }
}

/** Imports all records of a file or none. */
export const importFile = (
  model: Model,
  table: Registered,
  viewer: Viewer,
  file: ImportedFile,
  response: TestResponse
) => {
  const stored = storedForWrite(model, table)
  const hidden = table.fields.filter(
    (field) => isRequired(table, field) && !visibleFields(table, viewer).includes(field)
  )
  if (hidden.length > 0) refuse(400, 'CONSTRAINT_VIOLATION')
  const staged = stage(model, table, viewer, file)
  const errors = [...staged.errors, ...findTaken(stored, table, file, staged)]
  if (errors.length > 0) refuseFile(errors, response)
  if (isEmpty(table, staged)) invalid()
  const before = { rows: stored.rows, sequence: stored.sequence }
  if (file.isDryRun) stored.rows = stored.rows.map((row) => new Map(row))
  const counts = storeAll(model, table, file, staged)
  if (file.isDryRun) Object.assign(stored, before)
  return { rows: file.records.length, ...counts, atomic: true, dryRun: file.isDryRun }
}
