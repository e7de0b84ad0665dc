import type { ForeignKey } from '../../../schemas/table.ts'
import type { ImportErrors } from '../../engine/staging/import-errors.ts'
import type { StagedCheck } from '../../engine/staging/protocol.ts'
import { foldName } from '../../model/names.ts'
import type { UniqueKey } from '../../model/unique-key.ts'
import { positionName } from '../../sql/staged.ts'
import {
  type StagedSelection,
  selectLongTexts,
  selectMatching,
  selectOrphans,
  selectOtherKey,
  selectOutside,
  selectTaken,
  selectTakenInIndex,
  selectTextBytes
} from '../../sql/staged-checks.ts'
import type { ComputedUniqueIndex } from '../../sql/unique-indexes.ts'
import { namesOfKey } from '../../sql/unique-keys.ts'
import { MAX_STEPS, STEPS } from '../change/work.ts'
import { type ImportPlan, otherKeysOf } from './plan.ts'

const quote = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ')

/** Returns the name of a field in the file. */
const nameInFile = ({ options }: ImportPlan, field: string) =>
  Object.entries(options.names).find(([, target]) => target === field)?.[0] ?? field

/** Only names that the caller sees. */
const describe = (plan: ImportPlan, fields: readonly string[]) => {
  const visible = fields.filter((name) => plan.access.columns.has(name)).map((name) => nameInFile(plan, name))
  return { column: visible[0] ?? null, quoted: visible.length > 0 ? quote(visible) : 'A hidden field' }
}

const takenKeyCheck = (plan: ImportPlan, key: UniqueKey, selection: StagedSelection): StagedCheck => {
  const { column, quoted } = describe(plan, namesOfKey(key))
  const verb = key.fields.length > 1 ? 'together have the values' : 'has the value'
  return { ...selection, column, code: 'unique', message: `${quoted} ${verb} of a stored record.` }
}

const takenCheck = (plan: ImportPlan, key: UniqueKey) =>
  takenKeyCheck(plan, key, selectTaken(plan.access.table.name, key, plan.on))

/** Returns the check that an upsert changes no record outside of the rows of the caller. */
const outsideChecks = (plan: ImportPlan) => {
  const { table, rows } = plan.access
  if (!plan.on || !rows) return []
  return [takenKeyCheck(plan, plan.on, selectOutside(table.name, plan.on, rows))]
}

/** Whether the records of the file decide whether an index has another record with the same values. */
const isDecidedByFile = ({ on, access }: ImportPlan, fields: readonly string[], { names }: ComputedUniqueIndex) => {
  const { columns, key, isRowidKey } = access.table.structure
  const isUsed = (name: string) => names.has(foldName(name)) && !fields.includes(name)
  // SQLite generates the rowid of a new record. An upsert keeps the stored values of fields that the file does not have.
  return !(on ? columns.map(({ name }) => name) : isRowidKey ? key : []).some(isUsed)
}

const takenInIndexCheck = ({ access, on }: ImportPlan, index: ComputedUniqueIndex): StagedCheck => {
  const { columns, table } = access
  // The name of the index may be that of a hidden field.
  const hidesFields = columns.size < table.structure.columns.length
  const where = hidesFields ? 'a unique index' : `the unique index '${index.name}'`
  const message = `The record has the values of a stored record in ${where}.`
  return { ...selectTakenInIndex(table.name, index, on), column: null, code: 'unique', message }
}

interface ReferenceOptions {
  /** All records are stored in one transaction. */
  readonly isOneStep: boolean
}

const referenceCheck = (plan: ImportPlan, key: ForeignKey, { isOneStep }: ReferenceOptions): StagedCheck => {
  const { name, structure } = plan.access.table
  const isToItself = foldName(key.table) === foldName(name)
  const position = isOneStep ? null : positionName(structure)
  const { column, quoted } = describe(plan, key.fields)
  const message =
    isToItself && !isOneStep
      ? `${quoted} refers to a record that does not exist, or that a large import stores later. Import the referenced records first, in a file of their own.`
      : `${quoted} refers to a record that does not exist.`
  return { ...selectOrphans(key, { isToItself, position }), column, code: 'reference', message }
}

/** Returns the check that an upsert by another unique key changes no primary key. `keyFields`: those of the file. */
const otherKeyCheck = ({ access }: ImportPlan, on: UniqueKey, keyFields: readonly string[]): StagedCheck => {
  const selection = selectOtherKey(access.table.name, { on, rows: access.rows }, keyFields)
  const message = `The record exists with another ${quote(keyFields)}, which is the key and cannot change.`
  return { ...selection, column: keyFields[0] as string, code: 'readonly', message }
}

const otherKeyChecks = (plan: ImportPlan, fields: readonly string[]) => {
  const { on, access } = plan
  if (!on) return []
  const keyFields = access.table.structure.key.filter((name) => fields.includes(name) && !namesOfKey(on).includes(name))
  return keyFields.length > 0 ? [otherKeyCheck(plan, on, keyFields)] : []
}

/** Bytes of text that a search index takes of one record. Other writes wait for it. */
const MAX_INDEXED_BYTES = MAX_STEPS / STEPS.indexedByte

const longTextChecks = ({ access }: ImportPlan, fields: readonly string[]): readonly StagedCheck[] => {
  if (access.table.searchIndex.state === 'off') return []
  const limit = MAX_INDEXED_BYTES.toLocaleString('en')
  const message = `A record of a table with a search index has at most ${limit} bytes of text.`
  return [{ ...selectLongTexts(fields, MAX_INDEXED_BYTES), column: null, code: 'length', message }]
}

const GENERAL_MESSAGES: Readonly<Record<string, string>> = {
  check: 'The record violates a check of the table.',
  constraint: 'SQLite refuses the record.',
  unique: 'The unique values of the record are those of an earlier record of the file.'
}

/** Returns the errors of staged records without the names in SQLite's messages: they may be those of hidden fields. */
export const withoutHiddenNames = ({ access }: ImportPlan, { total, first }: ImportErrors): ImportErrors => {
  if (access.columns.size === access.table.structure.columns.length) return { total, first }
  const toGeneral = (error: ImportErrors['first'][number]) => {
    const message = GENERAL_MESSAGES[error.code]
    return message === undefined ? error : { ...error, column: null, message }
  }
  return { total, first: first.map(toGeneral) }
}

/** Returns the checks of staged records against the stored ones. `fields`: of the file. */
export const checksOf = (
  plan: ImportPlan,
  fields: readonly string[],
  options: ReferenceOptions
): readonly StagedCheck[] => {
  return [
    ...longTextChecks(plan, fields),
    ...otherKeyChecks(plan, fields),
    ...outsideChecks(plan),
    ...otherKeysOf(plan, fields).map((key) => takenCheck(plan, key)),
    ...plan.target.uniqueIndexes
      .filter((index) => isDecidedByFile(plan, fields, index))
      .map((index) => takenInIndexCheck(plan, index)),
    ...plan.access.table.structure.foreignKeys.map((key) => referenceCheck(plan, key, options))
  ]
}

/** Returns a check whose total is the number of stored records that an upsert changes. */
export const countUpdates = ({ access }: ImportPlan, on: UniqueKey): StagedCheck => ({
  ...selectMatching(access.table.name, on),
  column: null,
  code: '',
  message: ''
})

/** Returns a check whose total is the number of bytes of the texts in the file. */
export const countTextBytes = (fields: readonly string[]): StagedCheck => ({
  ...selectTextBytes(fields),
  column: null,
  code: '',
  message: ''
})
