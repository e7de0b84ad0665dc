import { MAX_DECLARED_FIELDS, type NewField } from '../../../schemas/new-table.ts'
import { NAME_PATTERN, patternPhrases } from '../../../schemas/patterns.ts'
import { suggestName } from '../../../schemas/similar-names.ts'
import type { JsonType } from '../../../schemas/table.ts'
import { excerpt, invalid } from '../../model/errors.ts'
import { foldName } from '../../model/names.ts'
import { type FileSample, MAX_SAMPLED_BYTES } from './file-samples.ts'
import { shownAs, typeOfValues } from './inferred-types.ts'
import type { ImportOptions } from './plan.ts'

const MAX_PREVIEW_ROWS = 20

const typeIn = ({ records }: FileSample, name: string) =>
  typeOfValues(records.flatMap((record) => record.get(name) ?? []))

/** Without a chosen key, `POST /admin/tables` makes an integer `id` the key. A text can be one, too. */
const isKey = (name: string, jsonType: JsonType, primaryKey: readonly string[] | undefined) =>
  primaryKey ? primaryKey.includes(name) : foldName(name) === 'id' && jsonType === 'string'

const toField = (name: string, jsonType: JsonType, primaryKey: readonly string[] | undefined): NewField =>
  isKey(name, jsonType, primaryKey) ? { name, jsonType, isPrimary: true } : { name, jsonType }

const pattern = new RegExp(NAME_PATTERN)

/** @throws VALIDATION_FAILED */
const checkFields = (fields: readonly NewField[]) => {
  if (fields.length === 0 || fields.length > MAX_DECLARED_FIELDS) {
    const message = `The first ${MAX_SAMPLED_BYTES} bytes of the file must have 1 to ${MAX_DECLARED_FIELDS} fields, not ${fields.length}.`
    throw invalid([{ path: '/fields', code: 'range', message }])
  }
  const details = fields.flatMap(({ name }, index) => {
    const message = `'${excerpt(name)}' must ${patternPhrases[NAME_PATTERN]}.`
    return pattern.test(name) ? [] : [{ path: `/fields/${index}/name`, code: 'format', message }]
  })
  if (details.length > 0) throw invalid(details, 'Send the names of the fields in `map`.')
}

/** @throws VALIDATION_FAILED for a key that the file does not have */
const checkKey = (fields: readonly NewField[], primaryKey: readonly string[]) => {
  const names = fields.map(({ name }) => name)
  const missing = primaryKey.find((name) => !names.includes(name))
  if (missing === undefined) return
  const message = `'${excerpt(missing)}' is not a field of the file.`
  throw invalid([{ path: '/primaryKey', code: 'unknown', message }], suggestName(missing, names))
}

/** A table for a file, and its first records. */
export interface Inferred {
  readonly fields: NewField[]
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

/**
 * Returns the fields of a file. `primaryKey`: the fields of the key, under the names that the table gets.
 * @throws VALIDATION_FAILED for names that a new table cannot have, and for a key that the file does not have
 */
export const inferFields = (
  sample: FileSample,
  names: ImportOptions['names'],
  primaryKey: readonly string[] | undefined
): Inferred => {
  const columns = sample.names.flatMap((name) => {
    const target = Object.hasOwn(names, name) ? names[name] : name
    return typeof target === 'string' ? [{ name, field: toField(target, typeIn(sample, name), primaryKey) }] : []
  })
  const fields = columns.map(({ field }) => field)
  checkFields(fields)
  checkKey(fields, primaryKey ?? [])
  const rows = sample.records.slice(0, MAX_PREVIEW_ROWS).map((record) =>
    Object.fromEntries(
      columns.map(({ name, field }) => {
        const found = record.get(name)
        return [field.name, found ? shownAs(field.jsonType, found) : null]
      })
    )
  )
  return { fields, rows }
}
