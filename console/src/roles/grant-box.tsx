import { ChevronDown, ChevronRight, CopyPlus, Trash2 } from 'lucide-react'
import { type ReactNode, useId, useMemo, useState } from 'react'
import { toSentence } from '../records/filter/sentence.ts'
import { type Table, type TableField, titleOf } from '../tables/queries.ts'
import { texts } from '../texts/roles.ts'
import { texts as tokens } from '../texts/tokens.ts'
import { IconButton } from '../ui/button.tsx'
import { commonFields, fieldsOf, type GrantDraft, type GrantProblems, hasProblems, tablesOf, toGrant } from './draft.ts'
import { FieldLimits } from './field-limits.tsx'
import styles from './grant.module.css'
import { ACTIONS, type Action, EVERY_TABLE, isSameName } from './grants.ts'
import { NameChoice } from './name-choice.tsx'
import { PresetRows } from './preset-rows.tsx'
import { RowsFields } from './rows-fields.tsx'

interface GrantBoxProps {
  readonly draft: GrantDraft
  /** The place of the grant, from 1. */
  readonly place: number
  readonly registered: readonly Table[]
  readonly startsOpen: boolean
  readonly problems: GrantProblems
  /** The problems of the fields, and with the grant as a whole. */
  readonly refused: { readonly fields: string | undefined; readonly others: readonly string[] }
  readonly onChange: (changes: Partial<GrantDraft>) => void
  readonly onDuplicate: () => void
  readonly onRemove: () => void
}

const ActionChoice = ({
  place,
  actions,
  error,
  onChange
}: {
  readonly place: number
  readonly actions: readonly Action[]
  readonly error: string | undefined
  readonly onChange: (actions: readonly Action[]) => void
}) => (
  <fieldset className={styles.actions} aria-label={texts.actionsOf(place)}>
    <span className={styles.label}>{texts.actionsLabel}</span>
    <div className={styles.checks}>
      {ACTIONS.map((action) => (
        <label key={action} className={styles.check} title={tokens.actionHints[action]}>
          <input
            type="checkbox"
            aria-invalid={error !== undefined}
            checked={actions.includes(action)}
            onChange={() => onChange(ACTIONS.filter((name) => actions.includes(name) !== (name === action)))}
          />
          {tokens.actionNames[action]}
        </label>
      ))}
    </div>
    {error !== undefined && <span className={styles.problem}>{error}</span>}
  </fieldset>
)

const tableNote = (name: string, registered: readonly Table[]) => {
  if (name === EVERY_TABLE) return texts.everyTable
  const table = registered.find((other) => isSameName(other.name, name))
  if (!table) return tokens.unregistered
  return table.kind === 'view' ? tokens.isView : undefined
}

const TableChoice = ({ draft, registered, problems, onChange }: GrantBoxProps) => (
  <NameChoice
    label={texts.tables}
    hint={texts.tablesHint}
    error={problems.tables}
    names={draft.tables}
    suggestions={[
      { name: EVERY_TABLE, label: texts.everyTable },
      ...registered.map((table) => ({ name: table.name, label: titleOf(table) }))
    ]}
    noteOf={(name) => tableNote(name, registered)}
    onChange={(tables) => onChange({ tables })}
  />
)

/** What a grant opens, in two lines. */
const Summary = ({ draft, fields }: { readonly draft: GrantDraft; readonly fields: readonly TableField[] }) => {
  const { rows } = toGrant(draft, fields)
  const limits = [
    rows && texts.whereRows(toSentence(fields, rows)),
    (draft.read || draft.write) && texts.someFields,
    draft.presets.length > 0 && texts.withPresets(draft.presets.map(({ field }) => field))
  ].filter(Boolean)
  return (
    <span className={styles.summary}>
      <bdi>{texts.grantScope(draft.tables, draft.actions)}</bdi>
      {limits.length > 0 && <bdi className={styles.hint}>{limits.join('; ')}</bdi>}
    </span>
  )
}

const Head = ({
  draft,
  place,
  isOpen,
  contentId,
  fields,
  onToggle,
  children
}: Pick<GrantBoxProps, 'draft' | 'place'> & {
  readonly isOpen: boolean
  readonly contentId: string
  readonly fields: readonly TableField[]
  readonly onToggle: () => void
  readonly children: ReactNode
}) => {
  const Icon = isOpen ? ChevronDown : ChevronRight
  return (
    <header className={styles.head}>
      <button
        type="button"
        className={styles.toggle}
        aria-expanded={isOpen}
        aria-controls={contentId}
        onClick={onToggle}
      >
        <Icon size={14} aria-hidden="true" />
        <span className={styles.place}>{texts.grant(place)}</span>
        <Summary draft={draft} fields={fields} />
      </button>
      {children}
    </header>
  )
}

/** One grant: what it opens in a sentence, and its parts to edit. */
export const GrantBox = (props: GrantBoxProps) => {
  const { draft, place, registered, startsOpen, problems, refused, onChange, onDuplicate, onRemove } = props
  const [isToggled, setOpen] = useState(startsOpen)
  const contentId = useId()
  const tables = useMemo(() => tablesOf(draft.tables, registered), [draft.tables, registered])
  const fields = useMemo(() => fieldsOf(tables), [tables])
  const isKnown = draft.tables.every(
    (name) => name !== EVERY_TABLE && registered.some((table) => isSameName(table.name, name))
  )
  const isOpen = isToggled || hasProblems(problems) || refused.fields !== undefined || refused.others.length > 0
  return (
    <section className={styles.grant} aria-label={texts.grant(place)}>
      <Head
        draft={draft}
        place={place}
        isOpen={isOpen}
        contentId={contentId}
        fields={fields}
        onToggle={() => setOpen(!isOpen)}
      >
        <IconButton label={texts.duplicateGrant(place)} onClick={onDuplicate}>
          <CopyPlus size={14} aria-hidden="true" />
        </IconButton>
        <IconButton label={texts.removeGrant(place)} onClick={onRemove}>
          <Trash2 size={14} aria-hidden="true" />
        </IconButton>
      </Head>
      {refused.others.map((message) => (
        <p key={message} className={styles.problem}>
          {message}
        </p>
      ))}
      <div id={contentId} className={styles.content} hidden={!isOpen}>
        {isOpen && (
          <>
            <TableChoice {...props} />
            <ActionChoice
              place={place}
              actions={draft.actions}
              error={problems.actions}
              onChange={(actions) => onChange({ actions })}
            />
            <RowsFields rows={draft.rows} fields={fields} problems={problems} onChange={(rows) => onChange({ rows })} />
            <FieldLimits
              read={draft.read}
              write={draft.write}
              fields={fields}
              common={commonFields(tables)}
              presets={draft.presets.map(({ field }) => field)}
              isKnown={isKnown}
              error={refused.fields}
              onChange={onChange}
            />
            {(draft.actions.includes('create') || draft.presets.length > 0) && (
              <PresetRows
                presets={draft.presets}
                fields={fields}
                problems={problems}
                onChange={(presets) => onChange({ presets })}
              />
            )}
          </>
        )}
      </div>
    </section>
  )
}
