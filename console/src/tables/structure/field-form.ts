import { fieldErrors } from '../../api/errors.ts'
import { nameProblem, type Problems, toProblems } from '../fields/problems.ts'
import { fieldTypeOf, formatValue, parseValue } from '../fields/values.ts'
import type { Table, TableField } from '../queries.ts'
import { type FieldUpdate, updateField, updateTable } from './calls.ts'

/** What the dialog of a field edits. */
export const toForm = (field: TableField) => ({
  name: field.name,
  label: field.label,
  clientName: field.clientName,
  type: fieldTypeOf(field),
  isRequired: !field.nullable,
  defaultText: formatValue(field.defaultValue),
  isHidden: field.isHidden,
  isReadonly: field.isReadonly
})
export type FieldForm = ReturnType<typeof toForm>

/** Returns what changes in the stored column. A new type needs the default again. */
const storedChanges = (field: TableField, form: FieldForm): FieldUpdate => {
  const before = toForm(field)
  const isConverted = form.type !== before.type && form.type !== 'bytes'
  const parsed = form.defaultText === '' ? { value: null } : parseValue(form.type, form.defaultText)
  const isDefaultEdited = form.defaultText !== before.defaultText
  // The text of an expression is no value.
  const hasDefault = isDefaultEdited || (isConverted && field.defaultKind === 'value')
  return {
    ...(form.name !== before.name && { name: form.name }),
    ...(isConverted && { jsonType: form.type as TableField['jsonType'] }),
    ...(form.isRequired !== before.isRequired && { nullable: !form.isRequired }),
    ...(hasDefault && 'value' in parsed && { defaultValue: parsed.value })
  }
}

const choicesOf = ({ label, clientName, isHidden, isReadonly }: FieldForm, field: TableField) => ({
  ...(label !== field.label && { label }),
  ...(clientName !== field.clientName && { clientName }),
  ...(isHidden !== field.isHidden && { isHidden }),
  ...(isReadonly !== field.isReadonly && { isReadonly })
})

interface Saving {
  readonly table: Table
  readonly field: TableField
  readonly form: FieldForm
  /** Called when the first of two parts is saved. */
  readonly onHalf: () => void
}

/** What only the registry has comes first: a field is hidden before anything else changes. */
export const saveField = async ({ table, field, form, onHalf }: Saving) => {
  const { name } = field
  const choices = choicesOf(form, field)
  if (Object.keys(choices).length > 0) {
    await updateTable(table, { fields: [{ name, ...choices }] })
    onHalf()
  }
  const stored = storedChanges(field, form)
  if (Object.keys(stored).length > 0) await updateField(table, name, stored)
}

/** The two requests have different paths for the same field. */
export const propertyOf = (path: string) => path.replace(/^fields\/0\//, '')

export const errorsOf = (error: unknown): Problems =>
  new Map([...fieldErrors(error)].map(([path, message]) => [propertyOf(path), message]))

const defaultProblem = ({ type, defaultText }: FieldForm, field: TableField) => {
  const isConverted = type !== fieldTypeOf(field) && field.defaultKind === 'value'
  const isKept = defaultText === formatValue(field.defaultValue) && !isConverted
  if (isKept || defaultText === '') return undefined
  const parsed = parseValue(type, defaultText)
  return 'problem' in parsed ? parsed.problem : undefined
}

/** Returns what is wrong with the form, by its field. */
export const problemsOf = (form: FieldForm, field: TableField): Problems =>
  toProblems([
    ['name', form.name === field.name ? undefined : nameProblem(form.name)],
    ['defaultValue', defaultProblem(form, field)]
  ])
