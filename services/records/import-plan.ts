import type { ImportField, ImportFormat, StagingRequest } from '../engine/staging/protocol.ts'
import { excerpt, invalid } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import { type Column, type RegisteredTable, TIMESTAMPS, UPDATED_AT } from '../model/table.ts'
import type { ImportTarget, TakeIn, UniqueKey } from '../sql/imports.ts'
import { hiddenFieldsRequired } from './failures.ts'
import type { View } from './view.ts'

/** How a file is imported. */
export interface ImportOptions {
  readonly format: ImportFormat
  /** Records with the key of a stored one change it. */
  readonly isUpsert: boolean
  /** The fields of the unique key of an upsert. Empty for the primary key. */
  readonly on: readonly string[]
  /** The fields of names in the file that differ from those of the table. null: the column is ignored. */
  readonly names: Readonly<Record<string, string | null>>
  readonly isDryRun: boolean
  /** The caller may set read-only fields, such as `created_at`. */
  readonly setsReadOnly: boolean
}

/** The part of a view that an import needs before its first record is stored: the table may not exist yet. */
export interface ImportView extends Pick<View, 'columns' | 'required'> {
  readonly table: Pick<RegisteredTable, 'name' | 'structure'>
}

/** What an import does with the fields of a table. */
export interface ImportPlan {
  readonly view: ImportView
  readonly target: ImportTarget
  readonly options: ImportOptions
  /** The unique key of an upsert; null for an insert. */
  readonly on: UniqueKey | null
  readonly staging: StagingRequest
}

const namesOf = ({ columns }: UniqueKey) => columns.map(({ name }) => name)

const sortedNames = (names: readonly string[]) => JSON.stringify(names.map(foldName).sort())

const wrongKey = ({ columns }: ImportView, names: readonly string[], { uniqueKeys }: ImportTarget) => {
  const quoted = names.map((name) => `'${excerpt(name)}'`).join(', ')
  const visible = uniqueKeys.map(namesOf).filter((key) => key.every((name) => columns.has(name)))
  const known = visible.map((key) => key.join(',')).join('; ')
  const message = `No key or unique index of the table has exactly the fields ${quoted}.`
  return invalid([{ path: '/on', code: 'unique', message }], `Send one of these lists of fields: ${known}.`)
}

/** @throws VALIDATION_FAILED if the fields are not unique together */
const findKey = (view: ImportView, target: ImportTarget, on: readonly string[]): UniqueKey => {
  const names = on.length > 0 ? on : view.table.structure.key
  const key = target.uniqueKeys.find((one) => sortedNames(namesOf(one)) === sortedNames(names))
  if (!key) throw wrongKey(view, names, target)
  return key
}

/** @throws VALIDATION_FAILED for a field that the caller does not see */
const checkVisible = ({ columns }: ImportView, on: readonly string[]) => {
  const unknown = on.find((name) => !columns.has(name))
  if (unknown === undefined) return
  const message = `'${excerpt(unknown)}' is not a field of this table.`
  throw invalid([{ path: '/on', code: 'unknown', message }])
}

const toImportField = (column: Column, setsReadOnly: boolean): ImportField => ({
  column,
  // An empty cell would not generate a key.
  mayBeNull: column.nullable && !column.isPrimary,
  refusal: column.isReadonly && !setsReadOnly ? 'is read-only' : null,
  isComputed: column.isGenerated
})

const fallbacksOf = ({ structure }: ImportView['table'], now: number): StagingRequest['fallbacks'] =>
  structure.autoTimestamps
    ? structure.columns.filter(({ name }) => TIMESTAMPS.includes(name)).map(({ name }) => [name, BigInt(now)] as const)
    : []

/**
 * Plans an import. `now`: epoch milliseconds.
 * @throws VALIDATION_FAILED, CONSTRAINT_VIOLATION for a required hidden field
 */
export const planImport = (view: ImportView, target: ImportTarget, options: ImportOptions, now: number): ImportPlan => {
  const { table, columns } = view
  if (view.required.some(({ name }) => !columns.has(name))) throw hiddenFieldsRequired()
  checkVisible(view, options.on)
  const on = options.isUpsert ? findKey(view, target, options.on) : null
  const required = [...view.required.map(({ name }) => name), ...(on ? namesOf(on) : [])]
  return {
    view,
    target,
    options,
    on,
    staging: {
      table: table.name,
      declarations: target.declarations,
      rowid: table.structure.rowid,
      fields: [...columns.values()].map((column) => toImportField(column, options.setsReadOnly)),
      required: [...new Set(required)],
      names: options.names,
      fallbacks: fallbacksOf(table, now),
      format: options.format,
      hasFixedFields: options.isUpsert
    }
  }
}

/** Returns how the records of a file with these fields are stored. */
export const takeInOf = ({ view, on, staging }: ImportPlan, fields: readonly string[], schema: string): TakeIn => {
  const { name: table, structure } = view.table
  const added = staging.fallbacks.map(([name]) => name).filter((name) => !fields.includes(name))
  const keys = on ? [...namesOf(on), ...structure.key] : []
  return {
    table,
    structure,
    schema,
    inserted: [...fields, ...added],
    updated: fields.filter((name) => !keys.includes(name)),
    on,
    setsUpdatedAt: added.includes(UPDATED_AT)
  }
}
