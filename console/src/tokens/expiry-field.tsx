import { texts } from '../texts/tokens.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { inDays } from './draft.ts'
import styles from './tokens.module.css'

interface ExpiryFieldProps {
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (value: string) => void
}

/** A local time, and buttons for the usual ones. */
export const ExpiryField = ({ value, error, onChange }: ExpiryFieldProps) => (
  <div className={styles.expiry}>
    <TextField
      label={texts.expires}
      hint={texts.expiresHint}
      type="datetime-local"
      value={value}
      error={error}
      onChange={(event) => onChange(event.target.value)}
    />
    <fieldset className={styles.presets} aria-label={texts.expiryPresets}>
      {texts.presets.map(({ label, days }) => (
        <Button key={label} onClick={() => onChange(inDays(days))}>
          {label}
        </Button>
      ))}
    </fieldset>
  </div>
)
