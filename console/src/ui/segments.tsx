import { useId } from 'react'
import styles from './segments.module.css'

interface SegmentsProps<T extends string> {
  /** The name of the choice, for screen readers. */
  readonly label: string
  readonly options: readonly { readonly value: T; readonly label: string; readonly isDisabled?: boolean }[]
  readonly value: T
  readonly onChange: (value: T) => void
}

/** A choice between a few options, which are all in sight. */
export const Segments = <T extends string>({ label, options, value, onChange }: SegmentsProps<T>) => {
  const name = useId()
  return (
    <fieldset className={styles.segments} aria-label={label}>
      {options.map((option) => (
        <label key={option.value} className={styles.segment}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            disabled={option.isDisabled}
            onChange={() => onChange(option.value)}
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  )
}
