import type { TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/fields.ts'
import { type Draft, toDraft } from './draft.ts'
import styles from './field-editor.module.css'
import type { EditorProps } from './field-editor.tsx'
import { placeholderOf } from './placeholder.ts'

/** An option is the JSON of its draft, so that NULL and the text "null" differ. */
const optionOf = (value: Draft) => (value === undefined ? '' : JSON.stringify(value))
const draftOf = (option: string): Draft => (option === '' ? undefined : (JSON.parse(option) as string | null))

const valuesOf = ({ allowedValues }: TableField) => (allowedValues ?? [true, false]).map(toDraft)

const nameOf = (value: Draft) => {
  if (value === null) return texts.null
  return value === '' ? texts.emptyText : value
}

/** A list of all possible values. A stored value that is not one of them is kept as an option. */
export const ChoiceEditor = ({ field, value, onChange, autoFocus, canOmit, control }: EditorProps) => {
  const listed = [...(field.isNullable ? [null] : []), ...valuesOf(field)]
  const options = value === undefined || listed.includes(value) ? listed : [value, ...listed]
  return (
    <select
      {...control}
      className={styles.input}
      // biome-ignore lint/a11y/noAutofocus: The editor opens where the user has asked for it.
      autoFocus={autoFocus}
      value={optionOf(value)}
      onChange={({ target }) => onChange(draftOf(target.value))}
    >
      {(canOmit || value === undefined) && <option value="">{placeholderOf(field, undefined)}</option>}
      {options.map((option) => (
        <option key={optionOf(option)} value={optionOf(option)}>
          {nameOf(option)}
        </option>
      ))}
    </select>
  )
}
