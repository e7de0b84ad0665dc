import { Plus, X } from 'lucide-react'
import { useId } from 'react'
import type { TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/records-filter.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Select } from '../../ui/input.tsx'
import { ConditionRow } from './condition-row.tsx'
import styles from './filter.module.css'
import {
  type Condition,
  type FilterModel,
  type Group,
  type Invalid,
  isGroup,
  type Match,
  newCondition,
  newId
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
  readonly hasClaims: boolean
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

interface GroupBoxProps extends Pick<ItemsProps<Condition>, 'fields' | 'invalid' | 'hasClaims'> {
  readonly group: Group
  readonly number: number
  readonly onChange: (group: Group) => void
  readonly onRemove: () => void
}

const GroupBox = ({ group, number, fields, invalid, hasClaims, onChange, onRemove }: GroupBoxProps) => {
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
          hasClaims={hasClaims}
          onChange={(next) => change(changed(group.conditions, next))}
          onRemove={() => change(without(group.conditions, condition.id))}
        />
      ))}
      <AddCondition fields={fields} onAdd={(condition) => change([...group.conditions, condition])} />
    </fieldset>
  )
}

const Items = ({ fields, items, invalid, hasClaims, onChange }: ItemsProps<Condition | Group>) => (
  <div className={styles.items}>
    {items.map((item, index) =>
      isGroup(item) ? (
        <GroupBox
          key={item.id}
          group={item}
          number={index + 1}
          fields={fields}
          invalid={invalid}
          hasClaims={hasClaims}
          onChange={(group) => onChange(changed(items, group))}
          onRemove={() => onChange(without(items, item.id))}
        />
      ) : (
        <ConditionRow
          key={item.id}
          fields={fields}
          condition={item}
          error={invalid.get(item.id)}
          hasClaims={hasClaims}
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

interface FilterBuilderProps {
  readonly fields: readonly TableField[]
  readonly model: FilterModel
  /** The problems of conditions, by their id. */
  readonly invalid: Invalid
  /** Whether a value can be a claim of the token, as in a rule of a role. */
  readonly hasClaims?: boolean
  readonly onChange: (model: FilterModel) => void
}

/** Edits conditions, and groups of conditions. */
export const FilterBuilder = ({ fields, model, invalid, hasClaims = false, onChange }: FilterBuilderProps) => (
  <>
    {model.items.length > 1 && (
      <MatchChoice label={texts.match} match={model.match} onChange={(match) => onChange({ ...model, match })} />
    )}
    <Items
      fields={fields}
      items={model.items}
      invalid={invalid}
      hasClaims={hasClaims}
      onChange={(items) => onChange({ ...model, items })}
    />
  </>
)
