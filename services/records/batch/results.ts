import type { BatchOperation } from '../../../schemas/batch.ts'
import type { RecordBody } from '../../../schemas/record.ts'
import { excerpt, invalid, pointer } from '../../model/errors.ts'
import type { Column } from '../../model/table.ts'
import { UnitValue } from '../../sql/statement.ts'
import type { UsedField } from '../../sql/unit-values.ts'
import type { Access } from '../access/access.ts'
import { bodyKeyText } from '../access/body-keys.ts'
import { readKey } from '../access/keys.ts'
import { ResultReference } from '../access/result-reference.ts'

/** The record of an operation, with the fields that later operations use. */
export interface UsedRecord {
  readonly columns: readonly Column[]
  readonly fields: readonly UsedField[]
}

interface ResultInput {
  readonly $result: unknown
  readonly field?: unknown
}

const isResult = (value: unknown): value is ResultInput =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, '$result')

const NO_FIELDS: readonly string[] = []

/** Returns the fields that later operations use, by the position of the operation that returns them. */
const findUsedFields = (inputs: readonly BatchOperation[]): ReadonlyMap<unknown, readonly string[]> => {
  const used = new Map<unknown, string[]>()
  const add = (value: unknown) => {
    if (!isResult(value) || typeof value.field !== 'string') return
    const fields = used.get(value.$result) ?? []
    if (!fields.includes(value.field)) fields.push(value.field)
    used.set(value.$result, fields)
  }
  for (const { pk, values = {} } of inputs) {
    add(pk)
    for (const name of Object.keys(values)) add(values[name])
  }
  return used
}

/** Returns the record of an operation with the fields of these names that it has. undefined: without names. */
export const usedRecord = (columns: readonly Column[], names: readonly string[]): UsedRecord | undefined => {
  if (names.length === 0) return undefined
  const found = names.filter((field) => columns.some(({ name }) => name === field))
  return { columns, fields: found.map((name) => ({ name, value: new UnitValue() })) }
}

/** Creates the functions that replace each `$result` in the operations of one batch. */
export const createBatchResults = (inputs: readonly BatchOperation[]) => {
  const usedFields = findUsedFields(inputs)
  const sources = new Map<unknown, UsedRecord>()

  /** Returns the names of the fields of an operation's record that later operations use. */
  const usedFieldsOf = (index: number): readonly string[] => usedFields.get(index) ?? NO_FIELDS

  /** To be called for each operation of the batch whose record later ones may use. */
  const add = (index: number, record: UsedRecord) => {
    sources.set(index, record)
  }

  /** @throws VALIDATION_FAILED */
  const resolve = ({ $result, field, ...others }: ResultInput, path: string) => {
    const source = sources.get($result)
    const fail = (message: string) => invalid([{ path, code: 'result', message }])
    if (typeof field !== 'string' || Object.keys(others).length > 0) {
      throw fail('A \'$result\' has the form {"$result": 0, "field": "id"}.')
    }
    if (!source) {
      throw fail("'$result' must be the position of an earlier create or upsert, without `onConflict`.")
    }
    const column = source.columns.find(({ name }) => name === field)
    if (!column) throw fail(`'${excerpt(field)}' is not a field of the record that '$result' names.`)
    const { value } = source.fields.find(({ name }) => name === field) as UsedField
    return new ResultReference(column, value)
  }

  /** @throws VALIDATION_FAILED */
  const resolveValues = (values: RecordBody = {}): RecordBody => {
    if (!Object.keys(values).some((name) => isResult(values[name]))) return values
    const entries = Object.entries(values).map(
      ([name, value]) => [name, isResult(value) ? resolve(value, pointer(name)) : value] as const
    )
    return Object.fromEntries(entries)
  }

  /** Returns the key of the record to change, as it was sent or as an earlier operation returns it. @throws VALIDATION_FAILED, RECORD_NOT_FOUND */
  const resolveKey = (access: Access, pk: unknown) => {
    if (!isResult(pk)) return bodyKeyText(access, pk)
    const result = resolve(pk, '/pk')
    readKey(access, result)
    return result
  }

  return { usedFieldsOf, add, resolveValues, resolveKey }
}

export type BatchResults = ReturnType<typeof createBatchResults>
