import { useQuery } from '@tanstack/react-query'
import { ArrowUpRight, EyeOff, KeyRound, Link2, Lock } from 'lucide-react'
import { useId } from 'react'
import type { Table, TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/record-panel.ts'
import { classes } from '../../ui/classes.ts'
import { toDraft } from '../fields/draft.ts'
import { FieldEditor } from '../fields/field-editor.tsx'
import { FieldValue, type FieldValueProps } from '../fields/field-value.tsx'
import { kindOf } from '../fields/kind.ts'
import { choiceQuery, recordHref, type Target, useTarget } from '../fields/references.ts'
import { TypeChoice } from '../fields/type-choice.tsx'
import { useSource } from '../source.ts'
import { hasEditor } from './drafts.ts'
import styles from './record-panel.module.css'
import type { RecordFormState } from './use-record-form.ts'

interface FieldRowProps {
  readonly table: Table
  readonly field: TableField
  readonly isNew: boolean
  readonly canEdit: boolean
  readonly form: RecordFormState
  readonly onOpen: (opened: { readonly table: Table; readonly pk: string }) => void
}

const Marks = ({ field }: Pick<FieldRowProps, 'field'>) => (
  <>
    {field.isPrimary && <KeyRound size={12} aria-label={texts.key} />}
    {field.references && <Link2 size={12} aria-hidden="true" />}
    {field.isHidden && (
      <span className={styles.mark}>
        <EyeOff size={12} aria-hidden="true" />
        {texts.hidden}
      </span>
    )}
    {field.isReadonly && (
      <span className={styles.mark}>
        <Lock size={12} aria-hidden="true" />
        {texts.readOnly}
      </span>
    )}
  </>
)

/** Opens the record that a foreign key refers to, in a panel above this one. */
const OpenTarget = ({ field, form, onOpen }: Pick<FieldRowProps, 'field' | 'form' | 'onOpen'>) => {
  const target = useTarget(field)
  const value = form.drafts[field.name]?.draft
  if (!target || typeof value !== 'string' || value === '' || !recordHref(target, value)) return null
  return (
    <button
      type="button"
      className={styles.open}
      aria-label={texts.open(target.table.name, value)}
      onClick={() => onOpen({ table: target.table, pk: value })}
    >
      <span>{target.table.name}</span>
      <ArrowUpRight size={12} aria-hidden="true" />
    </button>
  )
}

/** A value that cannot be edited here. */
const FixedValue = (props: FieldValueProps) => {
  const target = useTarget(props.field)
  return target ? <ReferenceValue {...props} target={target} /> : <FieldValue {...props} />
}

/** The value of a foreign key, with the label of the record to which it refers. */
const ReferenceValue = ({ target, ...props }: FieldValueProps & { readonly target: Target }) => {
  const draft = toDraft(props.value)
  const source = useSource()
  const chosen = useQuery({
    ...choiceQuery(source, target, draft ?? ''),
    enabled: typeof draft === 'string' && draft !== ''
  })
  return <FieldValue {...props} label={chosen.data?.label} />
}

/** A field of a record: its name and marks, and its editor. The key of a stored record cannot change. */
export const FieldRow = ({ table, field, isNew, canEdit, form, onOpen }: FieldRowProps) => {
  const id = useId()
  const isEditable = canEdit && hasEditor(field, isNew)
  const entry = form.drafts[field.name]
  const isChanged = form.changed.includes(field)
  if (isNew && field.isReadonly) return null
  return (
    <div className={classes(styles.field, isChanged && styles.changed)}>
      <div className={styles.label}>
        <label htmlFor={isEditable ? id : undefined} title={field.name} dir="auto">
          {field.label || field.name}
        </label>
        <Marks field={field} />
        <span className={styles.type}>
          {isEditable && kindOf(field) === 'any' ? (
            <TypeChoice
              field={field}
              isNumber={entry?.isNumber === true}
              onChange={(isNumber) => form.change(field.name, { isNumber })}
            />
          ) : (
            field.jsonType
          )}
        </span>
        {field.references && <OpenTarget field={field} form={form} onOpen={onOpen} />}
      </div>
      {isEditable ? (
        <FieldEditor
          id={id}
          table={table}
          field={field}
          value={entry?.draft}
          error={form.errorOf(field.name)}
          canOmit={isNew}
          onChange={(draft) => form.change(field.name, { draft })}
        />
      ) : (
        <div className={styles.fixed}>
          <FixedValue table={table} field={field} value={form.version?.record[field.name]} />
        </div>
      )}
    </div>
  )
}
