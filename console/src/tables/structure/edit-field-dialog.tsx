import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { texts as common } from '../../texts/common.ts'
import { texts } from '../../texts/structure.ts'
import { Button } from '../../ui/button.tsx'
import { Actions, Dialog } from '../../ui/dialog.tsx'
import { Checkbox, SelectField, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { LeaveDialog, useFormGuard } from '../../ui/leave-dialog.tsx'
import { FormProblem } from '../../ui/page.tsx'
import { BOOLEANS, FIELD_TYPES, type FieldType, fieldTypeOf } from '../fields/values.ts'
import type { Table, TableField } from '../queries.ts'
import { DisplayNames } from './display-names.tsx'
import { errorsOf, type FieldForm, type FieldPart, problemsOf, propertyOf, saveField, toForm } from './field-form.ts'
import styles from './structure.module.css'

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
        error={errors.get('name')}
        isMono
        spellCheck={false}
        value={form.name}
        // A label that is only the name stays that.
        onChange={({ target: { value } }) => change({ name: value, ...(form.label === form.name && { label: value }) })}
      />
    )}
    <DisplayNames form={form} change={change} errors={errors} />
  </>
)

/** A default that is not boolean is offered as it is: an expression, or that of another type. */
const BooleanDefault = ({ form, change, errors }: PartProps) => (
  <SelectField
    label={texts.defaultValue}
    error={errors.get('defaultValue')}
    value={form.defaultText}
    onChange={({ target }) => change({ defaultText: target.value })}
  >
    <option value="">{texts.noDefault}</option>
    {[...new Set([...BOOLEANS, form.defaultText])].filter(Boolean).map((value) => (
      <option key={value}>{value}</option>
    ))}
  </SelectField>
)

const Default = (props: PartProps) => {
  const { form, field, change, errors } = props
  if (form.type === 'boolean') return <BooleanDefault {...props} />
  return (
    <TextField
      label={texts.defaultValue}
      hint={field.defaultKind === 'expression' ? texts.expressionHint : texts.defaultHint}
      error={errors.get('defaultValue')}
      isMono
      value={form.defaultText}
      onChange={({ target }) => change({ defaultText: target.value })}
    />
  )
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
      <Default {...props} />
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

/** The paths of the errors that the dialog shows at a field. */
const PROPERTIES = ['name', 'label', 'clientName', 'jsonType', 'defaultValue', 'nullable']
const hasField = (path: string) => PROPERTIES.includes(propertyOf(path))

/** Changes one field: how it is shown, and how it is stored. */
export const EditFieldDialog = ({ table, field, onClose }: EditFieldDialogProps) => {
  const [start] = useState(() => toForm(field))
  const [form, setForm] = useState(start)
  const [saved, setSaved] = useState(start)
  /** The part that the last save has stored. */
  const [savedPart, setSavedPart] = useState<FieldPart | null>(null)
  const guard = useFormGuard(form !== start)
  const onPartSaved = (part: FieldPart, changed: Partial<FieldForm>) => {
    setSavedPart(part)
    setSaved((before) => ({ ...before, ...changed }))
  }
  const saving = useMutation({
    mutationFn: () => saveField({ table, field, saved, form, onPartSaved }),
    onMutate: () => setSavedPart(null)
  })
  const change = (changed: Partial<FieldForm>) => {
    saving.reset()
    setForm({ ...form, ...changed })
  }
  const problems = problemsOf(form, field)
  const part = { form, field, change, errors: new Map([...errorsOf(saving.error), ...problems]) }
  const isView = table.kind === 'view'
  return (
    <Dialog title={texts.editTitle(field.name, table.name)} onClose={() => guard.ask(onClose)}>
      <Form onSubmit={() => problems.size === 0 && saving.mutate(undefined, { onSuccess: onClose })}>
        <Names {...part} isView={isView} />
        {!isView && !field.isPrimary && <Stored {...part} />}
        <Choices {...part} />
        {saving.isError && savedPart && <p className={styles.hint}>{texts.partlySaved[savedPart]}</p>}
        <FormProblem error={saving.error} fields={hasField} />
        <Actions>
          <Button variant="quiet" onClick={() => guard.ask(onClose)}>
            {common.cancel}
          </Button>
          <Button type="submit" variant="primary" disabled={saving.isPending}>
            {common.save}
          </Button>
        </Actions>
      </Form>
      <LeaveDialog guard={guard} />
    </Dialog>
  )
}
