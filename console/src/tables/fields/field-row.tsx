import { ChevronDown, ChevronRight } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { texts } from '../../texts/table-fields.ts'
import { IconButton } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { Input, Select } from '../../ui/input.tsx'
import type { FieldDraft } from './draft.ts'
import { FieldDetails } from './field-details.tsx'
import styles from './field-row.module.css'
import type { Problems } from './problems.ts'
import { BOOLEANS, FIELD_TYPES, type FieldType } from './values.ts'

export interface FieldRowProps {
  readonly draft: FieldDraft
  /** The place of the field among the others, from 1. */
  readonly place: number
  /** Where the field is in the request: `fields/0`. */
  readonly path: string
  readonly problems: Problems
  readonly onChange: (change: Partial<FieldDraft>) => void
  /** true: the table exists already, so the field cannot be its key. */
  readonly isAddition?: boolean
  /** Buttons that move or remove the field. */
  readonly children?: ReactNode
}

/** The problem of a control, which names it as its description. */
const useProblem = ({ path, problems }: FieldRowProps, property: string) => {
  const id = useId()
  const message = problems.get(`${path}/${property}`)
  const props = { 'aria-invalid': message !== undefined, 'aria-describedby': id }
  return {
    props,
    text: (
      <span id={id} className={styles.problem}>
        {message}
      </span>
    )
  }
}

const NameInput = (row: FieldRowProps) => {
  const { props, text } = useProblem(row, 'name')
  return (
    <div className={styles.name}>
      <Input
        {...props}
        // A dialog for one field starts at its name, not at the button for its details.
        {...(row.isAddition && { autoFocus: true })}
        isMono
        isCompact
        aria-label={texts.nameOf(row.place)}
        placeholder={texts.name}
        autoCapitalize="none"
        spellCheck={false}
        value={row.draft.name}
        onChange={({ target }) => row.onChange({ name: target.value })}
      />
      {text}
    </div>
  )
}

const TypeSelect = ({ draft, place, onChange }: FieldRowProps) => (
  <Select
    isCompact
    aria-label={texts.typeOf(place)}
    value={draft.type}
    onChange={({ target }) => onChange({ type: target.value as FieldType, defaultText: '', allowed: '' })}
  >
    {FIELD_TYPES.map((type) => (
      <option key={type} value={type}>
        {texts.types[type]}
      </option>
    ))}
  </Select>
)

const DefaultInput = (row: FieldRowProps) => {
  const { draft, place, onChange } = row
  const { props, text } = useProblem(row, 'defaultValue')
  const control = {
    ...props,
    'aria-label': texts.defaultOf(place),
    value: draft.defaultText,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => onChange({ defaultText: target.value })
  }
  return (
    <div className={styles.default}>
      {draft.type === 'boolean' ? (
        <Select {...control} isCompact>
          <option value="">{texts.noDefault}</option>
          {BOOLEANS.map((value) => (
            <option key={value}>{value}</option>
          ))}
        </Select>
      ) : (
        <Input
          {...control}
          isMono
          isCompact
          placeholder={texts.noDefault}
          title={texts.defaultHint}
          spellCheck={false}
        />
      )}
      {text}
    </div>
  )
}

const Flags = ({ draft, onChange, isAddition = false }: FieldRowProps) => (
  <div className={styles.flags}>
    {!isAddition && (
      <Checkbox
        label={texts.key}
        checked={draft.isPrimary}
        onChange={({ target }) => onChange({ isPrimary: target.checked })}
      />
    )}
    <Checkbox
      label={texts.required}
      checked={draft.isRequired || draft.isPrimary}
      disabled={draft.isPrimary}
      onChange={({ target }) => onChange({ isRequired: target.checked })}
    />
    <Checkbox
      label={texts.unique}
      checked={draft.isUnique}
      onChange={({ target }) => onChange({ isUnique: target.checked })}
    />
    <Checkbox
      label={texts.indexed}
      checked={draft.isIndexed}
      onChange={({ target }) => onChange({ isIndexed: target.checked })}
    />
  </div>
)

/** What the details have a control for. */
const DETAILS = ['label', 'references', 'check']

/** Whether a path is that of a field, or of a part of it. */
export const isOfField = (at: string, path: string) => at === path || at.startsWith(`${path}/`)

/** The messages that no control of the row or of its details shows, such as one about the whole field. */
const OtherProblems = ({ path, problems }: FieldRowProps) => {
  const shown = ['name', 'defaultValue', ...DETAILS].map((property) => `${path}/${property}`)
  const others = [...problems].filter(([at]) => isOfField(at, path) && !shown.some((one) => isOfField(at, one)))
  return [...new Set(others.map(([, message]) => message))].map((message) => (
    <p key={message} className={styles.problem}>
      {message}
    </p>
  ))
}

/** One field in one row, with the rarer properties below it. */
export const FieldRow = (props: FieldRowProps) => {
  const { draft, path, problems, children } = props
  const [isOpen, setOpen] = useState(false)
  const detailsId = useId()
  const hasProblem = [...problems.keys()].some((at) => DETAILS.some((property) => isOfField(at, `${path}/${property}`)))
  const isShown = isOpen || hasProblem
  const Icon = isShown ? ChevronDown : ChevronRight
  return (
    <div className={styles.row}>
      <div className={styles.main}>
        <IconButton
          label={texts.more(draft.name)}
          aria-expanded={isShown}
          aria-controls={detailsId}
          onClick={() => setOpen(!isShown)}
        >
          <Icon size={14} aria-hidden="true" />
        </IconButton>
        <NameInput {...props} />
        <TypeSelect {...props} />
        <DefaultInput {...props} />
        <Flags {...props} />
        <div className={styles.buttons}>{children}</div>
      </div>
      <OtherProblems {...props} />
      <div id={detailsId} hidden={!isShown}>
        {isShown && <FieldDetails {...props} />}
      </div>
    </div>
  )
}
