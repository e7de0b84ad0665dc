import { TextField } from '../ui/field.tsx'

interface PasswordFieldProps {
  readonly label: string
  readonly hint?: string
  readonly error?: string | undefined
  /** true: a password manager may propose one. */
  readonly isNew?: boolean
  readonly value: string
  readonly onChange: (value: string) => void
}

/** The password of one's own account, which the browser hides. */
export const PasswordField = ({ isNew = false, onChange, ...props }: PasswordFieldProps) => (
  <TextField
    {...props}
    type="password"
    autoComplete={isNew ? 'new-password' : 'current-password'}
    required
    onChange={({ target }) => onChange(target.value)}
  />
)
