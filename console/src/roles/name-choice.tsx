import { X } from 'lucide-react'
import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { texts } from '../texts/roles.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Input } from '../ui/input.tsx'
import { includesName } from './grants.ts'
import styles from './name-choice.module.css'

export interface Suggestion {
  readonly name: string
  /** Beside the name. */
  readonly label?: string
}

interface NameChoiceProps {
  readonly label: string
  readonly hint: string
  readonly error?: string | undefined
  readonly names: readonly string[]
  /** Other names can be typed. */
  readonly suggestions: readonly Suggestion[]
  /** Returns a note about a chosen name; undefined: none. */
  readonly noteOf: (name: string) => string | undefined
  readonly onChange: (names: readonly string[]) => void
}

const Names = ({
  names,
  noteOf,
  onRemove
}: Pick<NameChoiceProps, 'names' | 'noteOf'> & {
  readonly onRemove: (name: string) => void
}) => (
  <ul className={styles.names}>
    {names.map((name) => (
      <li key={name} className={styles.name}>
        <bdi>{name}</bdi>
        <span className={styles.note}>{noteOf(name)}</span>
        <IconButton label={texts.removeName(name)} onClick={() => onRemove(name)}>
          <X size={12} aria-hidden="true" />
        </IconButton>
      </li>
    ))}
  </ul>
)

/** A list of names: those of suggestions, or others that are typed. */
export const NameChoice = ({ label, hint, error, names, suggestions, noteOf, onChange }: NameChoiceProps) => {
  const [text, setText] = useState('')
  const listId = useId()
  const input = useRef<HTMLInputElement>(null)
  const remove = (name: string) => {
    onChange(names.filter((other) => other !== name))
    // The button that had the focus is gone.
    input.current?.focus()
  }
  const add = () => {
    setText('')
    const typed = text.trim()
    const known = suggestions.find(({ name }) => includesName([name], typed))?.name ?? typed
    if (known !== '' && !includesName(names, known)) onChange([...names, known])
  }
  const addOnEnter = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || text.trim() === '') return
    event.preventDefault()
    add()
  }
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <div className={styles.choice}>
          {names.length > 0 && <Names names={names} noteOf={noteOf} onRemove={remove} />}
          <div className={styles.add}>
            <Input
              {...control}
              list={listId}
              autoCapitalize="none"
              autoComplete="off"
              spellCheck={false}
              placeholder={texts.namePlaceholder}
              value={text}
              onChange={({ target }) => setText(target.value)}
              onKeyDown={addOnEnter}
              onBlur={add}
              ref={input}
            />
            <datalist id={listId}>
              {suggestions
                .filter(({ name }) => !includesName(names, name))
                .map(({ name, label }) => (
                  <option key={name} value={name} label={label} />
                ))}
            </datalist>
            <Button onClick={add}>{texts.addName}</Button>
          </div>
        </div>
      )}
    </Field>
  )
}
