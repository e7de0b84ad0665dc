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
const columnChanges = (before: FieldForm, form: FieldForm, { defaultKind }: TableField): FieldUpdate => {
  const isConverted = form.type !== before.type && form.type !== 'bytes'
  const parsed = form.defaultText === '' ? { value: null } : parseValue(form.type, form.defaultText)
  const isDefaultEdited = form.defaultText !== before.defaultText
  // The text of an expression is no value.
  const hasDefault = isDefaultEdited || (isConverted && defaultKind === 'value')
  return {
    ...(form.name !== before.name && { name: form.name }),
    ...(isConverted && { jsonType: form.type as TableField['jsonType'] }),
    ...(form.isRequired !== before.isRequired && { nullable: !form.isRequired }),
    ...(hasDefault && 'value' in parsed && { defaultValue: parsed.value })
  }
}

/** Returns what changes in the settings, which only the registry has. */
const settingsChanges = (before: FieldForm, { label, clientName, isHidden, isReadonly }: FieldForm) => ({
  ...(label !== before.label && { label }),
  ...(clientName !== before.clientName && { clientName }),
  ...(isHidden !== before.isHidden && { isHidden }),
  ...(isReadonly !== before.isReadonly && { isReadonly })
})

const isEmpty = (changes: object) => Object.keys(changes).length === 0

/** A field is saved with two requests, one for each part. */
export type FieldPart = 'settings' | 'column'

interface Saving {
  readonly table: Table
  readonly field: TableField
  /** What the service has. */
  readonly saved: FieldForm
  readonly form: FieldForm
  readonly onPartSaved: (part: FieldPart, changed: Partial<FieldForm>) => void
}

/** Saves the changed parts. A field is hidden before its column changes, but unhidden after that. */
export const saveField = async ({ table, field, saved, form, onPartSaved }: Saving) => {
  const settings = settingsChanges(saved, form)
  const column = columnChanges(saved, form, field)

  const saveSettings = async (name: string) => {
    if (isEmpty(settings)) return
    await updateTable(table, { fields: [{ name, ...settings }] })
    onPartSaved('settings', settings)
  }
  const saveColumn = async () => {
    if (isEmpty(column)) return
    await updateField(table, saved.name, column)
    const { name, type, isRequired, defaultText } = form
    onPartSaved('column', { name, type, isRequired, defaultText })
  }

  if (settings.isHidden === false) {
    await saveColumn()
    return saveSettings(form.name)
  }
  await saveSettings(saved.name)
  return saveColumn()
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

/** Returns the problems of the form, by its field. */
export const problemsOf = (form: FieldForm, field: TableField): Problems =>
  toProblems([
    ['name', form.name === field.name ? undefined : nameProblem(form.name)],
    ['defaultValue', defaultProblem(form, field)]
  ])
