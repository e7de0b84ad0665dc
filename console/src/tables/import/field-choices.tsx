import { texts } from '../../texts/import-tables.ts'
import { Checkbox, TextField } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import list from '../list.module.css'
import type { Choice, Importable } from './choices.ts'
import styles from './import.module.css'

interface FieldChoicesProps {
  readonly table: Importable
  readonly choice: Choice
  readonly onChange: (changed: Partial<Choice>) => void
}

interface RowProps extends FieldChoicesProps {
  readonly field: Importable['fields'][number]
}

const KeyCell = ({ field: { name }, choice, onChange }: RowProps) => (
  <td>
    <input
      type="checkbox"
      aria-label={texts.keyField(name)}
      checked={choice.key.includes(name)}
      onChange={({ target }) =>
        onChange({ key: target.checked ? [...choice.key, name] : choice.key.filter((other) => other !== name) })
      }
    />
  </td>
)

const FieldRow = (props: RowProps) => {
  const { table, field, choice, onChange } = props
  const { name, jsonType, isPrimary } = field
  const hide = (isHidden: boolean) => {
    const hidden = new Set(choice.hidden)
    if (isHidden) hidden.add(name)
    else hidden.delete(name)
    onChange({ hidden })
  }
  return (
    <tr>
      <td className={list.name} title={name} dir="auto">
        {name}
      </td>
      <td className={list.dim}>{isPrimary ? texts.keyOf(texts.types[jsonType]) : texts.types[jsonType]}</td>
      {table.kind === 'view' && <KeyCell {...props} />}
      <td>
        <input
          type="checkbox"
          aria-label={texts.hideField(name)}
          disabled={isPrimary || choice.key.includes(name)}
          title={isPrimary ? texts.keyVisible : undefined}
          checked={choice.hidden.has(name)}
          onChange={({ target }) => hide(target.checked)}
        />
      </td>
      <td className={styles.label}>
        <Input
          isCompact
          aria-label={texts.labelOfField(name)}
          placeholder={name}
          maxLength={200}
          value={choice.fieldLabels.get(name) ?? ''}
          onChange={({ target }) => onChange({ fieldLabels: new Map([...choice.fieldLabels, [name, target.value]]) })}
        />
      </td>
    </tr>
  )
}

/** What tokens will see of a table, chosen before its import. */
export const FieldChoices = (props: FieldChoicesProps) => {
  const { table, choice, onChange } = props
  const free = table.fields.filter(({ name, isPrimary }) => !isPrimary && !choice.key.includes(name))
  return (
    <div className={styles.choices}>
      <TextField
        label={texts.tableLabel}
        maxLength={200}
        value={choice.label}
        onChange={({ target }) => onChange({ label: target.value })}
      />
      <div className={list.scroll}>
        <table className={list.list}>
          <thead>
            <tr>
              <th>{texts.field}</th>
              <th>{texts.type}</th>
              {table.kind === 'view' && <th>{texts.key}</th>}
              <th>{texts.hide}</th>
              <th>{texts.label}</th>
            </tr>
          </thead>
          <tbody>
            {table.fields.map((field) => (
              <FieldRow key={field.name} {...props} field={field} />
            ))}
          </tbody>
        </table>
      </div>
      <Checkbox
        label={texts.hideAll}
        checked={free.length > 0 && free.every(({ name }) => choice.hidden.has(name))}
        onChange={({ target }) => onChange({ hidden: new Set(target.checked ? free.map(({ name }) => name) : []) })}
      />
    </div>
  )
}
