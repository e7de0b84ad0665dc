import { texts } from '../texts/admins.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import styles from './admins.module.css'
import { generatePassword } from './password.ts'

interface FirstPasswordFieldProps {
  readonly label: string
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (value: string) => void
}

/** A password for somebody else: readable, because one has to pass it on. */
export const FirstPasswordField = ({ label, value, error, onChange }: FirstPasswordFieldProps) => (
  <div className={styles.password}>
    <TextField
      label={label}
      hint={texts.passwordHint}
      isMono
      required
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      value={value}
      error={error}
      onChange={(event) => onChange(event.target.value)}
    />
    <Button onClick={() => onChange(generatePassword())}>{texts.generate}</Button>
  </div>
)
