import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldErrors } from '../../api/errors.ts'
import { texts as common } from '../../texts/common.ts'
import { texts } from '../../texts/structure.ts'
import { Button } from '../../ui/button.tsx'
import { Actions, Dialog } from '../../ui/dialog.tsx'
import { Checkbox, SelectField, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Problem } from '../../ui/page.tsx'
import { nameProblem } from '../fields/problems.ts'
import { FIELD_TYPES, type FieldType, fieldTypeOf, formatValue, parseValue } from '../fields/values.ts'
import type { Table, TableField } from '../queries.ts'
import { type FieldUpdate, updateField, updateTable } from './calls.ts'

const toForm = (field: TableField) => ({
  name: field.name,
  label: field.label,
  clientName: field.clientName,
  type: fieldTypeOf(field),
  isRequired: !field.nullable,
  defaultText: formatValue(field.defaultValue),
  isHidden: field.isHidden,
  isReadonly: field.isReadonly
})
type FieldForm = ReturnType<typeof toForm>

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

/** What only the registry has comes first: a field is hidden before anything else changes. */
const save = async (table: Table, field: TableField, form: FieldForm) => {
  const { name } = field
  const { label, clientName, isHidden, isReadonly } = form
  const choices = {
    ...(label !== field.label && { label }),
    ...(clientName !== field.clientName && { clientName }),
    ...(isHidden !== field.isHidden && { isHidden }),
    ...(isReadonly !== field.isReadonly && { isReadonly })
  }
  if (Object.keys(choices).length > 0) await updateTable(table, { fields: [{ name, ...choices }] })
  const stored = storedChanges(field, form)
  if (Object.keys(stored).length > 0) await updateField(table, name, stored)
}

/** The two requests have different paths for the same field. */
const errorsOf = (error: unknown) =>
  new Map([...fieldErrors(error)].map(([path, message]) => [path.replace(/^fields\/0\//, ''), message]))

interface PartProps {
  readonly form: FieldForm
  readonly field: TableField
  readonly change: (changed: Partial<FieldForm>) => void
  readonly errors: ReadonlyMap<string, string>
}

const Names = ({ form, field, change, errors, isView }: PartProps & { readonly isView: boolean }) => (
  <>
    {!isView && (
      <TextField
        label={texts.name}
        hint={form.name === field.name ? undefined : texts.renameFieldHint(field.name)}
        error={errors.get('name') ?? (form.name === field.name ? undefined : nameProblem(form.name))}
        isMono
        spellCheck={false}
        value={form.name}
        onChange={({ target }) => change({ name: target.value })}
      />
    )}
    <TextField
      label={texts.label}
      error={errors.get('label')}
      value={form.label}
      onChange={({ target }) => change({ label: target.value })}
    />
    <TextField
      label={texts.clientName}
      hint={texts.clientNameHint}
      error={errors.get('clientName')}
      isMono
      value={form.clientName}
      onChange={({ target }) => change({ clientName: target.value })}
    />
  </>
)

const defaultError = ({ form, field, errors }: PartProps) => {
  const sent = errors.get('defaultValue')
  if (sent !== undefined || form.defaultText === '' || form.defaultText === formatValue(field.defaultValue)) return sent
  const parsed = parseValue(form.type, form.defaultText)
  return 'problem' in parsed ? parsed.problem : undefined
}

const Stored = (props: PartProps) => {
  const { form, field, change, errors } = props
  // The service cannot convert to or from bytes.
  const types = FIELD_TYPES.filter((type) => (form.type === 'bytes') === (type === 'bytes'))
  return (
    <>
      <SelectField
        label={texts.type}
        hint={form.type === fieldTypeOf(field) ? undefined : texts.convertHint}
        error={errors.get('jsonType')}
        value={form.type}
        onChange={({ target }) => change({ type: target.value as FieldType })}
      >
        {types.map((type) => (
          <option key={type} value={type}>
            {texts.types[type]}
          </option>
        ))}
      </SelectField>
      <TextField
        label={texts.defaultValue}
        hint={field.defaultKind === 'expression' ? texts.expressionHint : texts.defaultHint}
        error={defaultError(props)}
        isMono
        value={form.defaultText}
        onChange={({ target }) => change({ defaultText: target.value })}
      />
      <Checkbox
        label={texts.required}
        hint={errors.get('nullable') ?? texts.requiredHint}
        checked={form.isRequired}
        onChange={({ target }) => change({ isRequired: target.checked })}
      />
    </>
  )
}

const Choices = ({ form, field, change }: PartProps) => (
  <>
    <Checkbox
      label={texts.hiddenFromTokens}
      hint={field.isPrimary ? texts.keyVisible : texts.hiddenHint}
      disabled={field.isPrimary}
      checked={form.isHidden}
      onChange={({ target }) => change({ isHidden: target.checked })}
    />
    <Checkbox
      label={texts.readonlyField}
      hint={texts.readonlyHint}
      checked={form.isReadonly}
      onChange={({ target }) => change({ isReadonly: target.checked })}
    />
  </>
)

interface EditFieldDialogProps {
  readonly table: Table
  readonly field: TableField
  readonly onClose: () => void
}

/** Changes one field: how it is shown, and how it is stored. */
export const EditFieldDialog = ({ table, field, onClose }: EditFieldDialogProps) => {
  const [form, setForm] = useState(() => toForm(field))
  const saving = useMutation({ mutationFn: () => save(table, field, form), onSuccess: onClose })
  const change = (changed: Partial<FieldForm>) => {
    saving.reset()
    setForm({ ...form, ...changed })
  }
  const part = { form, field, change, errors: errorsOf(saving.error) }
  const isView = table.kind === 'view'
  return (
    <Dialog title={texts.editTitle(field.name, table.name)} onClose={onClose}>
      <Form onSubmit={() => defaultError(part) === undefined && saving.mutate()}>
        <Names {...part} isView={isView} />
        {!isView && !field.isPrimary && <Stored {...part} />}
        <Choices {...part} />
        {saving.isError && <Problem error={saving.error} />}
        <Actions>
          <Button variant="quiet" onClick={onClose}>
            {common.cancel}
          </Button>
          <Button type="submit" variant="primary" disabled={saving.isPending}>
            {common.save}
          </Button>
        </Actions>
      </Form>
    </Dialog>
  )
}
