import type { ChangeEvent } from 'react'
import styles from './field-editor.module.css'
import type { EditorProps } from './field-editor.tsx'
import { kindOf } from './kind.ts'
import { placeholderOf } from './placeholder.ts'

const MAX_ROWS = 16

/** An input of a single line would remove line breaks from a value. */
const isMultiLine = ({ field, value, layout }: EditorProps) => {
  const kind = kindOf(field)
  if (kind === 'integer' || kind === 'number') return false
  return layout === 'panel' || (value ?? '').includes('\n') || kind === 'json'
}

const rowsOf = (value: string) => Math.min(Math.max(value.split('\n').length, Math.ceil(value.length / 60)), MAX_ROWS)

/** Text, numbers and JSON. Numbers are text here, so that they are kept as they are typed, and never rounded. */
export const TextEditor = (props: EditorProps) => {
  const { field, value, onChange, autoFocus, control } = props
  const isNumber = kindOf(field) === 'integer' || kindOf(field) === 'number'
  const shared = {
    ...control,
    className: styles.input,
    value: value ?? '',
    placeholder: placeholderOf(field, value),
    autoFocus,
    spellCheck: false,
    autoComplete: 'off',
    onChange: ({ target }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => onChange(target.value)
  }
  if (isMultiLine(props)) return <textarea {...shared} dir="auto" rows={rowsOf(value ?? '')} />
  return <input {...shared} type="text" dir={isNumber ? 'ltr' : 'auto'} inputMode={isNumber ? 'decimal' : 'text'} />
}
