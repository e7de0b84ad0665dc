import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldErrors } from '../../api/errors.ts'
import { texts as common } from '../../texts/common.ts'
import { texts } from '../../texts/structure.ts'
import { Button } from '../../ui/button.tsx'
import { Actions } from '../../ui/dialog.tsx'
import { Checkbox, SelectField, TextAreaField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { LeaveDialog, useFormGuard } from '../../ui/leave-dialog.tsx'
import { FormProblem } from '../../ui/page.tsx'
import { notify } from '../../ui/toast.tsx'
import { type Table, type TableField, titleOf } from '../queries.ts'
import { type TableUpdate, updateTable } from './calls.ts'
import { DisplayNames } from './display-names.tsx'
import { RenameDialog } from './rename-dialog.tsx'
import styles from './structure.module.css'

/** An empty text stands for no label field. */
const toForm = ({ label, note, clientName, labelField, isPublished, isEditable }: Table) => ({
  label,
  note: note ?? '',
  clientName,
  labelField: labelField ?? '',
  isPublished,
  isEditable
})
type SettingsForm = ReturnType<typeof toForm>

/** Returns only what was edited: another administrator may have changed the rest since. */
const changesOf = (before: SettingsForm, form: SettingsForm): TableUpdate => ({
  ...(form.label !== before.label && { label: form.label }),
  ...(form.note !== before.note && { note: form.note === '' ? null : form.note }),
  ...(form.clientName !== before.clientName && { clientName: form.clientName }),
  ...(form.labelField !== before.labelField && { labelField: form.labelField === '' ? null : form.labelField }),
  ...(form.isPublished !== before.isPublished && { isPublished: form.isPublished }),
  ...(form.isEditable !== before.isEditable && { isEditable: form.isEditable })
})

interface PartProps {
  readonly form: SettingsForm
  readonly change: (changed: Partial<SettingsForm>) => void
  readonly errors: ReadonlyMap<string, string>
}

const TextFields = ({ form, change, errors }: PartProps) => (
  <>
    <DisplayNames form={form} change={change} errors={errors} />
    <TextAreaField
      label={texts.note}
      hint={texts.noteHint}
      error={errors.get('note')}
      rows={3}
      value={form.note}
      onChange={({ target }) => change({ note: target.value })}
    />
  </>
)

/** Whether the values can name a record: not JSON, and not bytes. */
const canBeLabel = ({ isHidden, jsonType, sqliteType, isExact }: TableField) =>
  !isHidden && jsonType !== 'object' && jsonType !== 'array' && !(sqliteType === 'BLOB' && isExact)

const LabelField = ({ form, change, errors, fields }: PartProps & Pick<Table, 'fields'>) => (
  <SelectField
    label={texts.labelField}
    hint={texts.labelFieldHint}
    error={errors.get('labelField')}
    value={form.labelField}
    onChange={({ target }) => change({ labelField: target.value })}
  >
    <option value="">{texts.noLabelField}</option>
    {fields.filter(canBeLabel).map(({ name, label }) => (
      <option key={name} value={name}>
        {label || name}
      </option>
    ))}
  </SelectField>
)

const Flags = ({ form, change, isView }: PartProps & { readonly isView: boolean }) => (
  <>
    <Checkbox
      label={texts.published}
      hint={texts.publishedHint}
      checked={form.isPublished}
      onChange={({ target }) => change({ isPublished: target.checked })}
    />
    {!isView && (
      <Checkbox
        label={texts.editable}
        hint={texts.editableHint}
        checked={form.isEditable}
        onChange={({ target }) => change({ isEditable: target.checked })}
      />
    )}
  </>
)

const FIELDS = ['label', 'clientName', 'note', 'labelField']

/** Label, note, flags and names of a table. */
export const SettingsSection = ({ table }: { readonly table: Table }) => {
  const [before, setBefore] = useState(() => toForm(table))
  const [form, setForm] = useState(before)
  const [isRenaming, setRenaming] = useState(false)
  const changes = changesOf(before, form)
  const isChanged = Object.keys(changes).length > 0
  const guard = useFormGuard(isChanged)
  const saving = useMutation({
    mutationFn: () => updateTable(table, changes),
    onSuccess: (saved) => {
      setBefore(toForm(saved))
      setForm(toForm(saved))
      notify({ title: texts.saved(titleOf(saved)) })
    }
  })
  const part = {
    form,
    change: (changed: Partial<SettingsForm>) => setForm({ ...form, ...changed }),
    errors: fieldErrors(saving.error)
  }
  return (
    <section className={styles.section}>
      <header>
        <h2>{texts.settings}</h2>
        {table.kind === 'table' && <Button onClick={() => setRenaming(true)}>{texts.rename}</Button>}
      </header>
      <div className={styles.form} inert={saving.isPending}>
        <Form onSubmit={() => isChanged && saving.mutate()}>
          <TextFields {...part} />
          <LabelField {...part} fields={table.fields} />
          <Flags {...part} isView={table.kind === 'view'} />
          <FormProblem error={saving.error} fields={FIELDS} />
          <Actions>
            <Button type="submit" variant="primary" disabled={!isChanged || saving.isPending}>
              {common.save}
            </Button>
          </Actions>
        </Form>
      </div>
      <LeaveDialog guard={guard} />
      {isRenaming && <RenameDialog table={table} onClose={() => setRenaming(false)} />}
    </section>
  )
}
