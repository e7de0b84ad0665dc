import { invalid, type Model, type Registered, refuse, type Viewer, visibleFields } from './model.ts'
import {
  type Body,
  type Change,
  change,
  type Effect,
  insertRow,
  readNewRecord,
  resolve,
  runOnly,
  showRow,
  storedForWrite
} from './records.ts'
import { isSame, type Row, type StoredTable } from './stored-tables.ts'
import { compare } from './values.ts'

interface Upsert {
  readonly body: Body
  /** The names of the fields that identify the record. */
  readonly on: readonly string[]
  readonly mayRead: boolean
  readonly onlyCreates?: boolean
}

const checkUniqueKey = (stored: StoredTable, table: Registered, viewer: Viewer, on: readonly string[]) => {
  const isVisible = on.every((name) => visibleFields(table, viewer).some((field) => field.name === name))
  const indexes = stored.indexes.filter(({ isUnique }) => isUnique).map(({ fields }) => fields)
  // SQLite accepts no index with the rowid as the target of a conflict.
  const usable = indexes.filter((fields) => !(table.isRowidKey && fields.some((name) => table.key.includes(name))))
  const uniques = [table.key, ...usable]
  const sorted = on.toSorted().join()
  if (!isVisible || !uniques.some((fields) => fields.toSorted().join() === sorted)) invalid()
}

/** Returns the change that creates a record, or updates the one that these fields identify. */
export const prepareUpsert = (
  model: Model,
  table: Registered,
  viewer: Viewer,
  { body, on, mayRead, onlyCreates = false }: Upsert
): Change => {
  const stored = storedForWrite(model, table)
  checkUniqueKey(stored, table, viewer, on)
  const sent = readNewRecord(table, viewer, body)
  if (on.some((name) => sent.every(([field]) => field.name !== name))) invalid()
  const others = sent.filter(([{ name }]) => !on.includes(name))
  const changes = others.filter(([{ isPrimary }]) => !isPrimary)
  const otherKey = others.filter(([{ isPrimary }, value]) => isPrimary && value !== null)
  const shown = visibleFields(table, viewer).filter(
    (field) => mayRead || field.isPrimary || sent.some(([one]) => one === field)
  )
  const show = (row: Row, created: boolean): Effect => ({ data: { created, record: showRow(shown, row) }, row })
  return (run) => {
    const values = resolve(table, sent, run)
    const known = stored.rows.find((row) => isSame(row, values, on))
    if (!known) return show(insertRow(model, table, stored, values, run) ?? refuse(409, 'UNIQUE_VIOLATION'), true)
    if (onlyCreates) refuse(412, 'PRECONDITION_FAILED')
    if (otherKey.some(([{ name }]) => compare(known.get(name) ?? null, values.get(name) ?? null) !== 0)) invalid()
    if (changes.length > 0) change(model, table, known, resolve(table, changes, run))
    return show(known, false)
  }
}

/** `returned` is the data of the response. */
export const upsertRecord = (
  model: Model,
  table: Registered,
  viewer: Viewer,
  upsert: Upsert,
  returned: Body | undefined
) => runOnly(prepareUpsert(model, table, viewer, upsert), returned?.record as Body | undefined)
