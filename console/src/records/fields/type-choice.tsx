import type { TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/fields.ts'
import styles from './field-editor.module.css'

interface TypeChoiceProps {
  readonly field: TableField
  readonly isNumber: boolean
  readonly onChange: (isNumber: boolean) => void
}

export const TypeOptions = () => (
  <>
    <option value="text">{texts.asText}</option>
    <option value="number">{texts.asNumber}</option>
  </>
)

/** A column without a type stores numbers and text: 5 and "5" are different values. */
export const TypeChoice = ({ field, isNumber, onChange }: TypeChoiceProps) => (
  <select
    className={styles.type}
    aria-label={texts.typeOf(field.label || field.name)}
    value={isNumber ? 'number' : 'text'}
    onChange={({ target }) => onChange(target.value === 'number')}
  >
    <TypeOptions />
  </select>
)
