import { texts } from '../../texts/table-fields.ts'
import { Checkbox, TextAreaField, TextField } from '../../ui/field.tsx'
import { type FieldDraft, hasLength, hasRange } from './draft.ts'
import styles from './field-row.module.css'
import type { FieldRowProps } from './field-row.tsx'
import { ReferenceFields } from './reference-fields.tsx'

type TextProperty = 'label' | 'minimum' | 'maximum' | 'minLength' | 'maxLength'

/** A text field for one property of the draft. */
const PropertyField = ({ property, row }: { readonly property: TextProperty; readonly row: FieldRowProps }) => (
  <TextField
    label={texts[property]}
    hint={property === 'label' ? texts.labelHint : undefined}
    inputMode={property === 'label' ? 'text' : 'decimal'}
    isMono={property !== 'label'}
    error={row.problems.get(`${row.path}/${property === 'label' ? 'label' : `check/${property}`}`)}
    value={row.draft[property]}
    onChange={({ target }) => row.onChange({ [property]: target.value } as Partial<FieldDraft>)}
  />
)

const Rules = (row: FieldRowProps) => {
  const { draft, path, problems, onChange } = row
  const { type } = draft
  if (!hasRange(type) && !hasLength(type)) return null
  const [low, high] = hasRange(type) ? (['minimum', 'maximum'] as const) : (['minLength', 'maxLength'] as const)
  return (
    <>
      <PropertyField property={low} row={row} />
      <PropertyField property={high} row={row} />
      <TextAreaField
        label={texts.allowed}
        hint={texts.allowedHint}
        error={problems.get(`${path}/check/enum`)}
        isMono
        rows={3}
        value={draft.allowed}
        onChange={({ target }) => onChange({ allowed: target.value })}
      />
    </>
  )
}

const Choices = ({ draft, onChange, isAddition = false }: FieldRowProps) => (
  <div className={styles.choices}>
    {!isAddition && draft.isPrimary && draft.type === 'integer' && (
      <Checkbox
        label={texts.autoIncrement}
        hint={texts.autoIncrementHint}
        checked={draft.isAutoIncrement}
        onChange={({ target }) => onChange({ isAutoIncrement: target.checked })}
      />
    )}
    <Checkbox
      label={texts.hidden}
      hint={texts.hiddenHint}
      disabled={draft.isPrimary}
      checked={draft.isHidden && !draft.isPrimary}
      onChange={({ target }) => onChange({ isHidden: target.checked })}
    />
    <Checkbox
      label={texts.readonly}
      hint={texts.readonlyHint}
      checked={draft.isReadonly}
      onChange={({ target }) => onChange({ isReadonly: target.checked })}
    />
  </div>
)

/** The properties of a field that few fields need. */
export const FieldDetails = (row: FieldRowProps) => (
  <div className={styles.details}>
    <PropertyField property="label" row={row} />
    <Rules {...row} />
    <ReferenceFields {...row} />
    <Choices {...row} />
  </div>
)
