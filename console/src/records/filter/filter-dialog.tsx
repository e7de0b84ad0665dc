import { Plus, X } from 'lucide-react'
import { useId, useState } from 'react'
import type { Table, TableField } from '../../tables/queries.ts'
import { texts as common } from '../../texts/common.ts'
import { texts } from '../../texts/records-filter.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Actions, Dialog } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { Select } from '../../ui/input.tsx'
import { LeaveDialog, useFormGuard } from '../../ui/leave-dialog.tsx'
import { ConditionRow } from './condition-row.tsx'
import { toFilter, toModel } from './convert.ts'
import styles from './filter.module.css'
import {
  type Condition,
  type FilterModel,
  findInvalid,
  type Group,
  type Invalid,
  isGroup,
  type Match,
  newCondition,
  newId,
  parseFilter
} from './filter.ts'

interface MatchChoiceProps {
  readonly label: string
  readonly match: Match
  readonly onChange: (match: Match) => void
}

const MatchChoice = ({ label, match, onChange }: MatchChoiceProps) => {
  const id = useId()
  return (
    <div className={styles.match}>
      <label htmlFor={id}>{label}</label>
      <Select id={id} value={match} onChange={({ target }) => onChange(target.value as Match)}>
        <option value="all">{texts.all}</option>
        <option value="any">{texts.any}</option>
      </Select>
    </div>
  )
}

interface ItemsProps<T> {
  readonly fields: readonly TableField[]
  readonly items: readonly T[]
  readonly invalid: Invalid
  readonly onChange: (items: readonly T[]) => void
}

const changed = <T extends { readonly id: number }>(items: readonly T[], item: T) =>
  items.map((other) => (other.id === item.id ? item : other))

const without = <T extends { readonly id: number }>(items: readonly T[], id: number) =>
  items.filter((other) => other.id !== id)

const AddCondition = ({
  fields,
  onAdd
}: Pick<ItemsProps<Condition>, 'fields'> & {
  readonly onAdd: (condition: Condition) => void
}) => {
  const [first] = fields
  return (
    <Button variant="quiet" onClick={() => first && onAdd(newCondition(first))}>
      <Plus size={14} aria-hidden="true" />
      {texts.addCondition}
    </Button>
  )
}

interface GroupBoxProps extends Pick<ItemsProps<Condition>, 'fields' | 'invalid'> {
  readonly group: Group
  readonly number: number
  readonly onChange: (group: Group) => void
  readonly onRemove: () => void
}

const GroupBox = ({ group, number, fields, invalid, onChange, onRemove }: GroupBoxProps) => {
  const change = (conditions: readonly Condition[]) => onChange({ ...group, conditions })
  return (
    <fieldset className={styles.group} aria-label={texts.group(number)}>
      <div className={styles.groupHead}>
        <MatchChoice label={texts.groupMatch} match={group.match} onChange={(match) => onChange({ ...group, match })} />
        <IconButton label={texts.removeGroup} onClick={onRemove}>
          <X size={14} aria-hidden="true" />
        </IconButton>
      </div>
      {group.conditions.map((condition) => (
        <ConditionRow
          key={condition.id}
          fields={fields}
          condition={condition}
          error={invalid.get(condition.id)}
          onChange={(next) => change(changed(group.conditions, next))}
          onRemove={() => change(without(group.conditions, condition.id))}
        />
      ))}
      <AddCondition fields={fields} onAdd={(condition) => change([...group.conditions, condition])} />
    </fieldset>
  )
}

const Items = ({ fields, items, invalid, onChange }: ItemsProps<Condition | Group>) => (
  <div className={styles.items}>
    {items.map((item, index) =>
      isGroup(item) ? (
        <GroupBox
          key={item.id}
          group={item}
          number={index + 1}
          fields={fields}
          invalid={invalid}
          onChange={(group) => onChange(changed(items, group))}
          onRemove={() => onChange(without(items, item.id))}
        />
      ) : (
        <ConditionRow
          key={item.id}
          fields={fields}
          condition={item}
          error={invalid.get(item.id)}
          onChange={(condition) => onChange(changed(items, condition))}
          onRemove={() => onChange(without(items, item.id))}
        />
      )
    )}
    <div className={styles.adds}>
      <AddCondition fields={fields} onAdd={(condition) => onChange([...items, condition])} />
      <Button
        variant="quiet"
        onClick={() =>
          onChange([...items, { id: newId(), match: 'any', conditions: fields.slice(0, 1).map(newCondition) }])
        }
      >
        <Plus size={14} aria-hidden="true" />
        {texts.addGroup}
      </Button>
    </div>
  </div>
)

const firstModel = ({ fields }: Table, text: string): FilterModel => {
  const filter = parseFilter(text)
  const model = filter && toModel(fields, filter)
  return model ?? { match: 'all', items: fields.slice(0, 1).map(newCondition) }
}

interface FilterDialogProps {
  readonly table: Table
  /** The present filter as JSON text. */
  readonly filter: string
  readonly onApply: (filter: string) => void
  readonly onClose: () => void
}

/** Edits the filter. */
export const FilterDialog = ({ table, filter, onApply, onClose }: FilterDialogProps) => {
  const [start] = useState(() => firstModel(table, filter))
  const [model, setModel] = useState(start)
  const guard = useFormGuard(model !== start)
  const [isTried, setTried] = useState(false)
  const invalid = findInvalid(table.fields, model)
  const next = invalid.size === 0 ? toFilter(table.fields, model) : null
  const json = next ? JSON.stringify(next) : ''
  const present = filter === '' ? undefined : parseFilter(filter)
  const isReplaced = filter !== '' && (!present || toModel(table.fields, present) === null)
  const apply = () => {
    setTried(true)
    if (invalid.size > 0) return
    guard.release()
    onApply(json)
  }
  const close = () => guard.ask(onClose)
  return (
    <Dialog title={texts.title} isWide onClose={close} {...(isReplaced && { hint: texts.edited })}>
      <Form onSubmit={apply}>
        {model.items.length > 1 && (
          <MatchChoice label={texts.match} match={model.match} onChange={(match) => setModel({ ...model, match })} />
        )}
        <Items
          fields={table.fields}
          items={model.items}
          invalid={isTried ? invalid : new Map()}
          onChange={(items) => setModel({ ...model, items })}
        />
        {json !== '' && (
          <details className={styles.json}>
            <summary>{texts.json}</summary>
            <p>{texts.jsonHint}</p>
            <pre>{json}</pre>
            <CopyButton text={json} label={texts.copyJson} />
          </details>
        )}
        <Actions>
          <Button onClick={close}>{common.cancel}</Button>
          <Button onClick={() => setModel({ match: 'all', items: [] })}>{texts.clear}</Button>
          <Button type="submit" variant="primary">
            {texts.apply}
          </Button>
        </Actions>
      </Form>
      <LeaveDialog guard={guard} />
    </Dialog>
  )
}
