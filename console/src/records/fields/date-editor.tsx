import { texts } from '../../texts/fields.ts'
import { epochDate, pickerOf, withPicked } from './dates.ts'
import styles from './field-editor.module.css'
import type { EditorProps } from './field-editor.tsx'
import { TextEditor } from './text-editor.tsx'

/** The text as it is stored, and beside it the date input of the browser, which changes the text. */
export const DateEditor = (props: EditorProps) => {
  const { field, value, onChange } = props
  const text = value ?? ''
  const epoch = epochDate(text)
  const picker = pickerOf(text)
  return (
    <div className={styles.date}>
      <TextEditor {...props} layout="cell" />
      {epoch === undefined ? (
        <input
          type={picker.type}
          value={picker.value}
          step={picker.type === 'date' ? undefined : 1}
          className={styles.input}
          aria-label={texts.pickDate(field.label || field.name)}
          onChange={({ target }) => target.value !== '' && onChange(withPicked(text, target.value))}
        />
      ) : (
        <span className={styles.hint}>{texts.epoch(epoch)}</span>
      )}
    </div>
  )
}
