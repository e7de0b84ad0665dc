import { ServiceError } from '../../api/errors.ts'
import { keyFields, type Table, type TableField } from '../../tables/queries.ts'
import { type Draft, parseDraft, toDraft } from '../fields/draft.ts'
import type { Row } from '../keys.ts'

/** What the form holds of a field. */
export interface Entry {
  readonly draft: Draft
  /** The type of a value in a column without a type. */
  readonly isNumber: boolean
}

/** What the form of a record holds, by the names of its fields. */
export type Drafts = Readonly<Record<string, Entry>>

const entryOf = (value: unknown): Entry => ({ draft: toDraft(value), isNumber: typeof value === 'number' })

export const draftsOf = ({ fields }: Table, record: Row): Drafts =>
  Object.fromEntries(fields.map(({ name }) => [name, entryOf(Object.hasOwn(record, name) ? record[name] : undefined)]))

/** NULL, and a field that is left out, have no type. */
const isSameEntry = (one: Entry | undefined, other: Entry | undefined) =>
  one?.draft === other?.draft && (one?.isNumber === other?.isNumber || typeof one?.draft !== 'string')

/** A copy of a record without what the service sets itself, such as a key that SQLite generates. */
export const copyOf = (table: Table, record: Row): Row => {
  const key = keyFields(table)
  const isLeftOut = ({ name, jsonType, isReadonly }: TableField) =>
    isReadonly || (key.length === 1 && key[0] === name && jsonType === 'integer')
  const kept = table.fields.filter((field) => !isLeftOut(field))
  return Object.fromEntries(kept.map(({ name }) => [name, record[name]]))
}

export const changedFields = ({ fields }: Table, before: Drafts, drafts: Drafts) =>
  fields.filter(({ name }) => !isSameEntry(drafts[name], before[name]))

export interface Checked {
  readonly values: Row
  readonly errors: ReadonlyMap<string, string>
}

/** Returns the values of these fields to send, and what is wrong with them. Fields that are left out are not sent. */
export const checkDrafts = (fields: readonly TableField[], drafts: Drafts): Checked => {
  const values: Record<string, unknown> = {}
  const errors = new Map<string, string>()
  for (const field of fields) {
    const { draft, isNumber } = drafts[field.name] ?? {}
    if (draft === undefined) continue
    const parsed = parseDraft(field, draft, isNumber)
    if ('error' in parsed) errors.set(field.name, parsed.error)
    else values[field.name] = parsed.value
  }
  return { values, errors }
}

const firstSegment = (path: string) => (path.split('/')[1] ?? '').replaceAll('~1', '/').replaceAll('~0', '~')

/** Whether a field has an editor. The key of a stored record cannot change. */
export const hasEditor = ({ isReadonly, isPrimary }: TableField, isNew: boolean) => !isReadonly && (isNew || !isPrimary)

/** Whether the field of a path has an editor, which shows its error. `path`: as `fieldErrors` returns it. */
export const hasEditorOf = ({ fields }: Table, path: string, isNew: boolean) =>
  fields.some((field) => hasEditor(field, isNew) && (path === field.name || path.startsWith(`${field.name}/`)))

/** Returns the sentences of the service by field. A path into a JSON value belongs to its field. */
export const refusedFields = (error: unknown): ReadonlyMap<string, string> => {
  const details = error instanceof ServiceError ? error.details : []
  return new Map(details.map(({ path, message }) => [firstSegment(path), message]))
}
