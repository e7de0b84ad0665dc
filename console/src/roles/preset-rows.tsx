import { Plus, X } from 'lucide-react'
import { useId } from 'react'
import { kindOf } from '../records/fields/kind.ts'
import type { TableField } from '../tables/queries.ts'
import { texts } from '../texts/roles.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Input, Select } from '../ui/input.tsx'
import type { GrantProblems } from './draft.ts'
import styles from './grant.module.css'
import { findField, newPreset, PRESET_SOURCES, type PresetDraft, type PresetSource } from './preset-draft.ts'

interface PresetRowProps {
  readonly preset: PresetDraft
  readonly place: number
  readonly fields: readonly TableField[]
  readonly listId: string
  readonly problem: string | undefined
  readonly onChange: (changes: Partial<PresetDraft>) => void
  readonly onRemove: () => void
}

const PresetValue = ({
  preset,
  place,
  fields,
  problem,
  describedBy,
  onChange
}: Omit<PresetRowProps, 'listId' | 'onRemove'> & {
  readonly describedBy: string
}) => {
  const field = findField(fields, preset.field)
  const control = {
    'aria-label': texts.presetValue(place),
    'aria-invalid': problem !== undefined,
    'aria-describedby': describedBy,
    value: preset.text,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => onChange({ text: target.value })
  }
  if (preset.source === 'value' && field && kindOf(field) === 'boolean') {
    return (
      <Select {...control}>
        <option value="">{texts.choose}</option>
        <option value="true">{texts.true}</option>
        <option value="false">{texts.false}</option>
      </Select>
    )
  }
  return (
    <Input
      {...control}
      dir="auto"
      isMono={preset.source !== 'value'}
      spellCheck={false}
      placeholder={texts.presetPlaceholders[preset.source]}
    />
  )
}

const noteOf = ({ preset: { field, source, text }, fields }: PresetRowProps) =>
  source === 'value' && field !== '' && text !== '' && !findField(fields, field) ? texts.presetText : undefined

const PresetRow = (props: PresetRowProps) => {
  const { preset, place, listId, problem, onChange, onRemove } = props
  const problemId = useId()
  return (
    <div className={styles.preset}>
      <Input
        aria-label={texts.fieldOfPreset(place)}
        aria-invalid={problem !== undefined && preset.field === ''}
        placeholder={texts.field}
        list={listId}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        value={preset.field}
        onChange={({ target }) => onChange({ field: target.value })}
      />
      <Select
        aria-label={texts.presetSource(place)}
        value={preset.source}
        onChange={({ target }) => onChange({ source: target.value as PresetSource, text: '' })}
      >
        {PRESET_SOURCES.map((source) => (
          <option key={source} value={source}>
            {texts.presetSources[source]}
          </option>
        ))}
      </Select>
      <PresetValue {...props} describedBy={problemId} />
      <IconButton label={texts.removePreset(preset.field)} onClick={onRemove}>
        <X size={14} aria-hidden="true" />
      </IconButton>
      <span id={problemId} className={problem === undefined ? styles.note : styles.problem}>
        {problem ?? noteOf(props)}
      </span>
    </div>
  )
}

interface PresetRowsProps {
  readonly presets: readonly PresetDraft[]
  /** The fields of the tables of the grant. */
  readonly fields: readonly TableField[]
  readonly problems: Pick<GrantProblems, 'presets' | 'presetRows'>
  readonly onChange: (presets: readonly PresetDraft[]) => void
}

/** The values that each new record gets. */
export const PresetRows = ({ presets, fields, problems, onChange }: PresetRowsProps) => {
  const listId = useId()
  return (
    <fieldset className={styles.part} aria-label={texts.presets}>
      <h3>{texts.presets}</h3>
      <p className={styles.hint}>{texts.presetsHint}</p>
      <datalist id={listId}>
        {fields.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {presets.map((preset, index) => (
        <PresetRow
          key={preset.id}
          preset={preset}
          place={index + 1}
          fields={fields}
          listId={listId}
          problem={problems.presetRows.get(preset.id)}
          onChange={(changes) => onChange(presets.with(index, { ...preset, ...changes }))}
          onRemove={() => onChange(presets.toSpliced(index, 1))}
        />
      ))}
      <Button variant="quiet" onClick={() => onChange([...presets, newPreset()])}>
        <Plus size={14} aria-hidden="true" />
        {texts.addPreset}
      </Button>
      {problems.presets !== undefined && <p className={styles.problem}>{problems.presets}</p>}
    </fieldset>
  )
}
