import { type ComponentProps, type ReactNode, useId } from 'react'
import styles from './field.module.css'
import { Input, Select, TextArea } from './input.tsx'

interface FieldText {
  readonly label: string
  readonly hint?: ReactNode
  /** The problems of the value. */
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

type FieldProps<C extends typeof Input | typeof TextArea | typeof Select> = Omit<ComponentProps<C>, 'id'> & FieldText

export const TextField = ({ label, hint, error, ...props }: FieldProps<typeof Input>) => (
  <Field label={label} hint={hint} error={error}>
    {(control) => <Input {...props} {...control} />}
  </Field>
)

export const TextAreaField = ({ label, hint, error, ...props }: FieldProps<typeof TextArea>) => (
  <Field label={label} hint={hint} error={error}>
    {(control) => <TextArea {...props} {...control} />}
  </Field>
)

export const SelectField = ({ label, hint, error, ...props }: FieldProps<typeof Select>) => (
  <Field label={label} hint={hint} error={error}>
    {(control) => <Select {...props} {...control} />}
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
