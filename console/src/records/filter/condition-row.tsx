import { X } from 'lucide-react'
import type { TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/records-filter.ts'
import { IconButton } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { Input, Select } from '../../ui/input.tsx'
import { kindOf } from '../fields/kind.ts'
import { ReferencePicker } from '../fields/reference-editor.tsx'
import { useTarget } from '../fields/references.ts'
import { TypeOptions } from '../fields/type-choice.tsx'
import styles from './filter.module.css'
import {
  type Condition,
  hasTypes,
  isList,
  isRange,
  isReference,
  needsValue,
  newCondition,
  type Operator,
  operatorsOf
} from './filter.ts'

interface ConditionRowProps {
  readonly fields: readonly TableField[]
  readonly condition: Condition
  readonly error: string | undefined
  /** Whether a value can be a claim of the token, as in a rule of a role. */
  readonly hasClaims: boolean
  readonly onChange: (condition: Condition) => void
  readonly onRemove: () => void
}

interface ValueProps extends Omit<ConditionRowProps, 'fields' | 'hasClaims' | 'onRemove'> {
  readonly field: TableField
}

/** A condition on one record of another table. Its key can be typed if the table is not registered. */
const ReferenceValue = (props: ValueProps) => {
  const { field, condition, error, onChange } = props
  const target = useTarget(field)
  if (!target) return <PlainValue {...props} />
  return (
    <ReferencePicker
      target={target}
      value={condition.text}
      placeholder={texts.chooseRecord}
      onChange={(text) => onChange({ ...condition, text: text ?? '' })}
      control={{
        id: undefined,
        'aria-label': texts.value,
        'aria-invalid': error !== undefined,
        'aria-describedby': undefined,
        'aria-required': false
      }}
    />
  )
}

const ClaimValue = ({ condition, error, onChange }: Omit<ValueProps, 'field'>) => (
  <Input
    isMono
    aria-label={texts.claim}
    aria-invalid={error !== undefined}
    placeholder={texts.claim}
    autoCapitalize="none"
    spellCheck={false}
    value={condition.text}
    onChange={({ target }) => onChange({ ...condition, text: target.value })}
  />
)

const SourceChoice = ({ field, condition, onChange }: Omit<ValueProps, 'error'>) => (
  <Select
    aria-label={texts.source}
    value={condition.isClaim ? 'claim' : 'value'}
    onChange={({ target }) => {
      const isClaim = target.value === 'claim'
      onChange({ ...condition, isClaim, text: isClaim ? '' : newCondition(field).text })
    }}
  >
    <option value="value">{texts.sources.value}</option>
    <option value="claim">{texts.sources.claim}</option>
  </Select>
)

const Value = (props: ValueProps) =>
  isReference(props.field, props.condition.operator) ? <ReferenceValue {...props} /> : <PlainValue {...props} />

const PlainValue = ({ field, condition, error, onChange }: ValueProps) => {
  const hint = isRange(condition.operator) ? texts.rangeHint : isList(condition.operator) ? texts.listHint : undefined
  const shared = {
    'aria-label': texts.value,
    'aria-invalid': error !== undefined,
    value: condition.text
  }
  if (kindOf(field) === 'boolean') {
    return (
      <Select {...shared} onChange={({ target }) => onChange({ ...condition, text: target.value })}>
        <option value="true">{texts.true}</option>
        <option value="false">{texts.false}</option>
      </Select>
    )
  }
  return (
    <Input
      {...shared}
      dir="auto"
      title={hint}
      placeholder={hint}
      onChange={({ target }) => onChange({ ...condition, text: target.value })}
    />
  )
}

/** A column without a type holds numbers and text: 5 and "5" are different values. */
const TypeChoice = ({ condition, onChange }: Pick<ConditionRowProps, 'condition' | 'onChange'>) => (
  <Select
    aria-label={texts.type}
    value={condition.isNumber ? 'number' : 'text'}
    onChange={({ target }) => onChange({ ...condition, isNumber: target.value === 'number' })}
  >
    <TypeOptions />
  </Select>
)

/** The present operator is one of the choices, even if the field has come to have another type. */
const choicesOf = (field: TableField | undefined, { operator }: Condition) => [
  ...new Set([...(field ? operatorsOf(field) : []), operator])
]

/** One condition: a field, an operator, a value. */
export const ConditionRow = ({ fields, condition, error, hasClaims, onChange, onRemove }: ConditionRowProps) => {
  const field = fields.find(({ name }) => name === condition.field)
  const choose = (name: string) => {
    const next = fields.find((other) => other.name === name)
    if (next) onChange({ ...newCondition(next), id: condition.id })
  }
  const changeOperator = (operator: Operator) => {
    const isNumber = condition.isNumber === true && field !== undefined && hasTypes(field, operator)
    onChange({ ...condition, operator, isNumber })
  }
  return (
    <div className={classes(styles.condition, hasClaims && styles.sourced)}>
      <Select aria-label={texts.field} value={condition.field} onChange={({ target }) => choose(target.value)}>
        {!field && <option value={condition.field}>{condition.field}</option>}
        {fields.map(({ name, label }) => (
          <option key={name} value={name}>
            {label || name}
          </option>
        ))}
      </Select>
      <Select
        aria-label={texts.operator}
        value={condition.operator}
        onChange={({ target }) => changeOperator(target.value as Operator)}
      >
        {choicesOf(field, condition).map((operator) => (
          <option key={operator} value={operator}>
            {texts.operators[operator]}
          </option>
        ))}
      </Select>
      {field && needsValue(condition.operator) ? (
        <span className={styles.values}>
          {hasClaims && <SourceChoice field={field} condition={condition} onChange={onChange} />}
          {condition.isClaim ? (
            <ClaimValue condition={condition} error={error} onChange={onChange} />
          ) : (
            <>
              {hasTypes(field, condition.operator) && <TypeChoice condition={condition} onChange={onChange} />}
              <Value field={field} condition={condition} error={error} onChange={onChange} />
            </>
          )}
        </span>
      ) : (
        <span />
      )}
      <IconButton label={texts.removeCondition} onClick={onRemove}>
        <X size={14} aria-hidden="true" />
      </IconButton>
      {error !== undefined && (
        <span role="alert" className={styles.error}>
          {error}
        </span>
      )}
    </div>
  )
}
