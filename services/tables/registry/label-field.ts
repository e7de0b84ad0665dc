import { suggestName } from '../../../schemas/similar-names.ts'
import { excerpt, invalid } from '../../model/errors.ts'
import { blob } from '../../model/kinds/blob.ts'
import { kindOf } from '../../model/kinds/kind-of.ts'
import { foldName } from '../../model/names.ts'
import type { Choices, Column, HiddenSources, RegisteredTable, Structure } from '../../model/table.ts'

/** Folded names of fields that name a record for people. The first one is the best. */
const LABEL_NAMES = ['name', 'title', 'label']

/** Such as `CompanyName` and `last_name`, but not `filename`. */
const LABEL_ENDING = /[^A-Z]Name$|_name$|_NAME$/

/** Whether people can read the values: they are not JSON and not bytes. */
const isReadable = (column: Column) =>
  column.jsonType !== 'object' && column.jsonType !== 'array' && kindOf(column) !== blob

/** Returns the field that probably names a record for people: a text that is neither hidden nor the whole key. */
export const guessLabelField = ({ columns, key }: Structure, hidden?: HiddenSources): string | null => {
  const isWholeKey = ({ name }: Column) => key.length === 1 && key[0] === name
  const isCandidate = (column: Column) =>
    column.jsonType === 'string' &&
    isReadable(column) &&
    !column.isHidden &&
    !hidden?.has(column.name) &&
    !isWholeKey(column)
  const texts = columns.filter(isCandidate)
  const named = LABEL_NAMES.map((label) => texts.find(({ name }) => foldName(name) === label)).find(Boolean)
  const found = named ?? texts.find(({ name }) => LABEL_ENDING.test(name)) ?? texts.find(({ isUnique }) => isUnique)
  return found?.name ?? null
}

/** Returns the label field; null if it is gone or hidden, or if people cannot read its values. */
export const labelFieldOf = ({ choices, structure }: Pick<RegisteredTable, 'choices' | 'structure'>): string | null => {
  const column = structure.columns.find(({ name }) => name === choices.labelField)
  return column && !column.isHidden && isReadable(column) ? column.name : null
}

const violation = (code: string, message: string, hint: string | undefined) =>
  invalid([{ path: '/labelField', code, message }], hint)

/** `choices`, `hidden`: as they are after the change. @throws VALIDATION_FAILED */
export const checkLabelField = (
  { name: table, structure }: RegisteredTable,
  { labelField, fields }: Choices,
  hidden: HiddenSources
) => {
  if (labelField === undefined || labelField === null) return
  const column = structure.columns.find(({ name }) => name === labelField)
  if (!column) {
    const names = fields.map(({ name }) => name)
    const message = `'${excerpt(labelField)}' is not a field of the table '${table}'.`
    throw violation('unknown', message, suggestName(labelField, names))
  }
  if (hidden.has(labelField) || fields.some(({ name, isHidden }) => name === labelField && isHidden)) {
    const message = `'${excerpt(labelField)}' is hidden, so it cannot be the label field.`
    throw violation('hidden', message, 'Choose another field, or send the field with isHidden: false.')
  }
  if (!isReadable(column)) {
    const message = `The values of '${excerpt(labelField)}' are JSON or bytes, so it cannot be the label field.`
    throw violation('type', message, 'Choose a field of texts, numbers or booleans.')
  }
}
