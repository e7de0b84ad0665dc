import { texts } from '../texts/tokens.ts'
import { SelectField, TextAreaField, TextField } from '../ui/field.tsx'
import type { TokenDraft } from './draft.ts'
import styles from './tokens.module.css'

interface LimitFieldsProps {
  readonly draft: TokenDraft
  readonly errors: ReadonlyMap<string, string>
  readonly onChange: (changes: Partial<TokenDraft>) => void
}

/** Whether the limit fields show the problems of a path. */
export const isLimitPath = (path: string) => path.startsWith('rateLimit') || path.startsWith('networks')

/** Returns the problems of the paths that begin with this. */
const problemOf = (errors: ReadonlyMap<string, string>, start: string) => {
  const found = [...errors].filter(([path]) => path.startsWith(start)).map(([, message]) => message)
  return found.length === 0 ? undefined : found.join(' ')
}

/** Windows that another program has set are kept. */
const secondsWith = (seconds: string) =>
  texts.windows.some((window) => window.seconds === seconds)
    ? texts.windows
    : [...texts.windows, { seconds, label: texts.otherWindow(seconds) }]

/** How often, and from where, a token works. */
export const LimitFields = ({ draft, errors, onChange }: LimitFieldsProps) => (
  <section className={styles.limits}>
    <h2>{texts.limits}</h2>
    <div className={styles.rateLimit}>
      <TextField
        label={texts.requests}
        hint={texts.requestsHint}
        inputMode="numeric"
        autoComplete="off"
        value={draft.requests}
        error={problemOf(errors, 'rateLimit')}
        onChange={({ target }) => onChange({ requests: target.value })}
      />
      <SelectField
        label={texts.window}
        value={draft.seconds}
        onChange={({ target }) => onChange({ seconds: target.value })}
      >
        {secondsWith(draft.seconds).map(({ seconds, label }) => (
          <option key={seconds} value={seconds}>
            {label}
          </option>
        ))}
      </SelectField>
    </div>
    <TextAreaField
      label={texts.networks}
      hint={texts.networksHint}
      rows={2}
      spellCheck={false}
      value={draft.networks}
      error={problemOf(errors, 'networks')}
      onChange={({ target }) => onChange({ networks: target.value })}
    />
  </section>
)
