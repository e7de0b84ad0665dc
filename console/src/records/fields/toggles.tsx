import { texts } from '../../texts/fields.ts'
import styles from './field-editor.module.css'
import type { FieldEditorProps } from './field-editor.tsx'
import { kindOf } from './kind.ts'

interface ToggleProps {
  readonly label: string
  readonly isPressed: boolean
  readonly onToggle: () => void
  readonly children: string
}

const Toggle = ({ label, isPressed, onToggle, children }: ToggleProps) => (
  <button
    type="button"
    className={styles.toggle}
    aria-label={label}
    title={label}
    aria-pressed={isPressed}
    onClick={onToggle}
  >
    {children}
  </button>
)

/** NULL and the default, as explicit choices beside the editor. Lists have them among their options. */
export const Toggles = ({ field, value, onChange, canOmit = false }: FieldEditorProps) => {
  if (!field.references && (field.allowedValues || kindOf(field) === 'boolean')) return null
  const name = field.label || field.name
  return (
    <>
      {field.isNullable && (
        <Toggle
          label={texts.setNull(name)}
          isPressed={value === null}
          onToggle={() => onChange(value === null ? '' : null)}
        >
          {texts.null}
        </Toggle>
      )}
      {canOmit && field.defaultKind !== 'none' && (
        <Toggle
          label={texts.setDefault(name)}
          isPressed={value === undefined}
          onToggle={() => onChange(value === undefined ? '' : undefined)}
        >
          {texts.defaultShort}
        </Toggle>
      )}
    </>
  )
}
