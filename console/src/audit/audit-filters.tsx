import { useCallback } from 'react'
import { texts } from '../texts/audit.ts'
import { SelectField, TextField } from '../ui/field.tsx'
import { toLocal } from '../ui/local-time.ts'
import { useTypedText } from '../ui/typed-text.ts'
import styles from './audit.module.css'
import type { AuditFilter } from './filter.ts'

interface FiltersProps {
  readonly filter: AuditFilter
  readonly onChange: (changes: Partial<AuditFilter>) => void
}

/** The options of the service. `login` is also the filter of its group. */
const KNOWN: ReadonlySet<string> = new Set(
  texts.groups.flatMap(({ all, actions }) => [...(all ? [all.action] : []), ...Object.keys(actions)])
)

const ActionFilter = ({ filter: { action }, onChange }: FiltersProps) => (
  <SelectField label={texts.action} value={action} onChange={({ target }) => onChange({ action: target.value })}>
    <option value="">{texts.allActions}</option>
    {action !== '' && !KNOWN.has(action) && <option value={action}>{action}</option>}
    {texts.groups.map(({ label, all, actions }) => (
      <optgroup key={label} label={label}>
        {all && <option value={all.action}>{all.name}</option>}
        {Object.entries(actions)
          .filter(([name]) => name !== all?.action)
          .map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
      </optgroup>
    ))}
  </SelectField>
)

type NameFilterProps = FiltersProps & { readonly name: 'caller' | 'target' }

const NameFilter = ({ filter, name, onChange }: NameFilterProps) => {
  const store = useCallback((text: string) => onChange({ [name]: text }), [name, onChange])
  const [text, setText] = useTypedText(filter[name], store)
  return (
    <TextField
      label={texts[name]}
      type="search"
      placeholder={texts.nameHint}
      value={text}
      onChange={({ target }) => setText(target.value)}
    />
  )
}

type TimeFilterProps = FiltersProps & { readonly name: 'from' | 'to' }

const TimeFilter = ({ filter, name, onChange }: TimeFilterProps) => {
  const store = useCallback(
    (text: string) => {
      const time = text === '' ? '' : new Date(text).getTime()
      // While a year is typed, it is one of the first centuries.
      if (time === '' || time >= 0) onChange({ [name]: String(time) })
    },
    [name, onChange]
  )
  const stored = filter[name]
  const [text, setText] = useTypedText(/^\d{1,15}$/.test(stored) ? toLocal(Number(stored)) : '', store)
  return (
    <TextField
      label={texts[name]}
      type="datetime-local"
      value={text}
      onChange={({ target }) => setText(target.value)}
    />
  )
}

/** Which rows are shown: by action, names and time. */
export const AuditFilters = (props: FiltersProps) => (
  <search className={styles.filters} aria-label={texts.filters}>
    <ActionFilter {...props} />
    <NameFilter {...props} name="caller" />
    <NameFilter {...props} name="target" />
    <TimeFilter {...props} name="from" />
    <TimeFilter {...props} name="to" />
  </search>
)
