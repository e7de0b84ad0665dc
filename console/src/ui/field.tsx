import { type ComponentProps, type ReactNode, useId } from 'react'
import { classes } from './classes.ts'
import styles from './field.module.css'

interface FieldText {
  readonly label: string
  readonly hint?: ReactNode
  /** What is wrong with the value. */
  readonly error?: string | undefined
}

interface ControlProps {
  readonly id: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string
}

/** A label, a control, and below it what is wrong with the value, or a hint. */
export const Field = ({
  label,
  hint,
  error,
  children
}: FieldText & { readonly children: (props: ControlProps) => ReactNode }) => {
  const id = useId()
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {children({ id, 'aria-invalid': error !== undefined, 'aria-describedby': `${id}-text` })}
      <div id={`${id}-text`}>
        {error !== undefined ? (
          <span className={styles.error}>{error}</span>
        ) : (
          hint !== undefined && <span className={styles.hint}>{hint}</span>
        )}
      </div>
    </div>
  )
}

type InputProps = Omit<ComponentProps<'input'>, 'id'> & FieldText & { readonly isMono?: boolean }

export const TextField = ({ label, hint, error, isMono = false, ...props }: InputProps) => (
  <Field label={label} hint={hint} error={error}>
    {(control) => <input {...props} {...control} className={classes(styles.input, isMono && styles.mono)} />}
  </Field>
)

type TextAreaProps = Omit<ComponentProps<'textarea'>, 'id'> & FieldText & { readonly isMono?: boolean }

export const TextAreaField = ({ label, hint, error, isMono = false, ...props }: TextAreaProps) => (
  <Field label={label} hint={hint} error={error}>
    {(control) => <textarea {...props} {...control} className={classes(styles.input, isMono && styles.mono)} />}
  </Field>
)

type SelectProps = Omit<ComponentProps<'select'>, 'id'> & FieldText

export const SelectField = ({ label, hint, error, children, ...props }: SelectProps) => (
  <Field label={label} hint={hint} error={error}>
    {(control) => (
      <select {...props} {...control} className={styles.input}>
        {children}
      </select>
    )}
  </Field>
)

type CheckboxProps = Omit<ComponentProps<'input'>, 'type' | 'id'> & {
  readonly label: ReactNode
  readonly hint?: ReactNode
}

export const Checkbox = ({ label, hint, ...props }: CheckboxProps) => {
  const id = useId()
  return (
    <div className={styles.check}>
      <input type="checkbox" id={id} aria-describedby={`${id}-hint`} {...props} />
      <div>
        <label htmlFor={id}>{label}</label>
        <div id={`${id}-hint`} className={styles.hint}>
          {hint}
        </div>
      </div>
    </div>
  )
}
