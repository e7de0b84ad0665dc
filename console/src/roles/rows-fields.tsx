import { FilterBuilder } from '../records/filter/filter-builder.tsx'
import type { TableField } from '../tables/queries.ts'
import { texts } from '../texts/roles.ts'
import { TextAreaField } from '../ui/field.tsx'
import { Segments } from '../ui/segments.tsx'
import type { GrantProblems } from './draft.ts'
import styles from './grant.module.css'
import { canBuild, inMode, type RowsDraft } from './rows-draft.ts'

interface RowsFieldsProps {
  readonly rows: RowsDraft
  /** The fields that conditions can use. */
  readonly fields: readonly TableField[]
  readonly problems: Pick<GrantProblems, 'rows' | 'conditions'>
  readonly onChange: (rows: RowsDraft) => void
}

/** The rows that a grant opens: all, those that match conditions, or a rule as JSON. */
export const RowsFields = ({ rows, fields, problems, onChange }: RowsFieldsProps) => {
  const isBuildable = canBuild(rows, fields)
  const options = (['all', 'conditions', 'json'] as const).map((value) => ({
    value,
    label: texts.rowsModes[value],
    isDisabled: value === 'conditions' && rows.mode !== 'conditions' && !isBuildable
  }))
  return (
    <fieldset className={styles.part} aria-label={texts.rows}>
      <div className={styles.partHead}>
        <h3>{texts.rows}</h3>
        <Segments
          label={texts.rowsChoice}
          options={options}
          value={rows.mode}
          onChange={(mode) => onChange(inMode(rows, mode, fields))}
        />
      </div>
      {rows.mode !== 'json' && fields.length === 0 && <p className={styles.hint}>{texts.noFields}</p>}
      {rows.mode === 'conditions' && (
        <FilterBuilder
          fields={fields}
          model={rows.model}
          invalid={problems.conditions}
          hasClaims
          onChange={(model) => onChange({ ...rows, model })}
        />
      )}
      {rows.mode === 'json' && (
        <TextAreaField
          label={texts.rowsJson}
          hint={isBuildable || fields.length === 0 ? texts.rowsJsonHint : texts.onlyJson}
          error={problems.rows}
          isMono
          rows={Math.min(16, Math.max(4, rows.text.split('\n').length))}
          spellCheck={false}
          value={rows.text}
          onChange={({ target }) => onChange({ ...rows, text: target.value })}
        />
      )}
      {rows.mode !== 'json' && problems.rows !== undefined && <p className={styles.problem}>{problems.rows}</p>}
    </fieldset>
  )
}
