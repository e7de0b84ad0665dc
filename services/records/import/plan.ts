import type { SearchIndex } from '../../../schemas/table.ts'
import type { ImportField, ImportFormat, StagingRequest } from '../../engine/staging/protocol.ts'
import { excerpt, invalid } from '../../model/errors.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import { type Column, type RegisteredTable, TIMESTAMPS, UPDATED_AT } from '../../model/table.ts'
import type { UniqueKey } from '../../model/unique-key.ts'
import type { ImportTarget } from '../../sql/imports.ts'
import type { StorePlan } from '../../sql/staged-units.ts'
import { namesOfKey } from '../../sql/unique-keys.ts'
import type { Access } from '../access/access.ts'
import { findUniqueKey } from '../access/unique-keys.ts'
import { hiddenFieldsRequired } from '../failures.ts'

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
  /** All records are stored in one transaction, or none. */
  readonly isAtomic: boolean
  /** The number of first records that an earlier import of the file has stored. */
  readonly skip: number
  /** The name of the file; null if the client has sent none. */
  readonly fileName: string | null
  /** The caller may set read-only fields, such as `created_at`. */
  readonly setsReadOnly: boolean
}

/** The part of an access that an import needs before its first record is stored: the table may not exist yet. */
export interface ImportAccess
  extends Pick<Access, 'columns' | 'accepted' | 'required' | 'writable' | 'presets' | 'rows'> {
  readonly table: Pick<RegisteredTable, 'name' | 'structure' | 'timeDefaults'> & {
    readonly searchIndex: Pick<SearchIndex, 'state'>
  }
}

/** What an import does with the fields of a table. */
export interface ImportPlan {
  readonly access: ImportAccess
  readonly target: ImportTarget
  readonly options: ImportOptions
  /** The unique key of an upsert; null for an insert. */
  readonly on: UniqueKey | null
  readonly staging: StagingRequest
}

/** @throws VALIDATION_FAILED for a field that the caller does not see */
const checkVisible = ({ columns }: ImportAccess, on: readonly string[]) => {
  const unknown = on.find((name) => !columns.has(name))
  if (unknown === undefined) return
  const message = `'${excerpt(unknown)}' is not a field of this table.`
  throw invalid([{ path: '/on', code: 'unknown', message }])
}

const toImportField = (column: Column, mayBeSet: boolean): ImportField => ({
  column,
  // An empty cell would not generate a key.
  mayBeNull: column.nullable && !column.isPrimary,
  refusal: mayBeSet ? null : 'is read-only',
  isComputed: column.isGenerated
})

const fallbacksOf = ({ table, presets }: ImportAccess, now: number): StagingRequest['fallbacks'] => {
  const { structure, timeDefaults = [] } = table
  const stamps = structure.autoTimestamps ? structure.columns.filter(({ name }) => TIMESTAMPS.includes(name)) : []
  const values = new Map<string, SqlValue>([
    ...stamps.map(({ name }) => [name, BigInt(now)] as const),
    ...timeDefaults.map(({ column, valueAt }) => [column.name, valueAt(now)] as const),
    ...presets.map(([{ name }, value]) => [name, value] as const)
  ])
  return [...values]
}

/**
 * Plans an import. `now`: epoch milliseconds.
 * @throws VALIDATION_FAILED, CONSTRAINT_VIOLATION for a required hidden field
 */
export const planImport = (
  access: ImportAccess,
  target: ImportTarget,
  options: ImportOptions,
  now: number
): ImportPlan => {
  const { table, accepted } = access
  if (access.required.some(({ name }) => !accepted.has(name))) throw hiddenFieldsRequired()
  checkVisible(access, options.on)
  const on = options.isUpsert
    ? findUniqueKey(access, target.uniqueKeys, {
        on: options.on.length > 0 ? options.on : table.structure.key,
        path: '/on'
      })
    : null
  const required = [...access.required.map(({ name }) => name), ...(on ? namesOfKey(on) : [])]
  return {
    access,
    target,
    options,
    on,
    staging: {
      table: table.name,
      declarations: target.declarations,
      rowid: table.structure.rowid,
      fields: [...accepted.values()].map((column) =>
        toImportField(column, options.setsReadOnly || access.writable.has(column))
      ),
      required: [...new Set(required)],
      names: options.names,
      fallbacks: fallbacksOf(access, now),
      format: options.format,
      keepsDigits: false,
      skip: options.skip,
      hasFixedFields: options.isUpsert
    }
  }
}

/** Returns the fields of the file that an upsert changes in stored records. */
export const changedFields = ({ access, on }: ImportPlan, fields: readonly string[]) => {
  const keys = on ? [...namesOfKey(on), ...access.table.structure.key] : []
  return fields.filter((name) => !keys.includes(name))
}

/** Keys that SQLite generates for each record are not in the file. Those of the staged records are not stored. */
const isInFile = (fields: readonly string[], { access }: ImportPlan, key: UniqueKey) => {
  const { structure } = access.table
  const name = structure.key[0] as string
  return !structure.isRowidKey || fields.includes(name) || !namesOfKey(key).includes(name)
}

/** Returns the unique keys that records with these fields may violate. */
export const otherKeysOf = (plan: ImportPlan, fields: readonly string[]) =>
  plan.target.uniqueKeys.filter((key) => key !== plan.on && isInFile(fields, plan, key))

/** Returns how the records of a file with these fields are stored. */
export const storePlanOf = (
  plan: ImportPlan,
  fields: readonly string[]
): Omit<StorePlan, 'hasConflictTriggers' | 'guard'> => {
  const { access, on, staging } = plan
  const { name: table, structure } = access.table
  const added = staging.fallbacks.map(([name]) => name).filter((name) => !fields.includes(name))
  return {
    table,
    structure,
    inserted: [...fields, ...added],
    otherKeys: otherKeysOf(plan, fields),
    updated: changedFields(plan, fields),
    on,
    rows: access.rows,
    setsUpdatedAt: added.includes(UPDATED_AT)
  }
}
