import type { TableField } from '../tables/queries.ts'
import { texts } from '../texts/roles.ts'
import type { GrantDraft } from './draft.ts'
import styles from './grant.module.css'
import { includesName, isSameName } from './grants.ts'
import { NameChoice } from './name-choice.tsx'
import { findField } from './preset-draft.ts'

type Lists = Pick<GrantDraft, 'read' | 'write'>
type List = keyof Lists

interface FieldLimitsProps extends Lists {
  /** The fields of the tables of the grant. */
  readonly fields: readonly TableField[]
  /** The fields that all tables of the grant have. A list begins with them. */
  readonly common: readonly TableField[]
  /** The names of the fields that presets set. The key cannot set them. */
  readonly presets: readonly string[]
  /** Whether all tables of the grant are registered. Else further fields can be named. */
  readonly isKnown: boolean
  readonly error: string | undefined
  readonly onChange: (lists: Partial<Lists>) => void
}

const LISTS = ['read', 'write'] as const

const isKey = (field: TableField | undefined) => field?.isPrimary === true

interface FieldRow {
  readonly name: string
  /** undefined: no table of the grant has the field. */
  readonly field: TableField | undefined
  readonly isPreset: boolean
}

const noteOf = ({ field, isPreset }: FieldRow) => {
  if (!field) return texts.unknownField
  if (field.isHidden) return texts.hiddenField
  const notes = [isKey(field) && texts.keyField, field.isReadonly && texts.readonlyField, isPreset && texts.presetField]
  return notes.filter(Boolean).join(', ')
}

/** The key can always be read. A field that is read-only or hidden stays so. */
const isFixed = ({ field, isPreset }: FieldRow, list: List) => {
  if (field?.isHidden) return true
  return list === 'read' ? isKey(field) : isPreset || field?.isReadonly === true
}

const isChecked = (row: FieldRow, list: List, names: readonly string[] | null) => {
  if (isFixed(row, list)) return list === 'read' && !row.field?.isHidden
  return names === null || includesName(names, row.name)
}

/** Names of a list that no table has, so that they stay in sight. */
const otherNames = ({ read, write }: Lists, fields: readonly TableField[]) => {
  const names = [...(read ?? []), ...(write ?? [])].filter((name) => !findField(fields, name))
  return names.filter((name, index) => names.findIndex((other) => isSameName(other, name)) === index)
}

const toRow = (name: string, { fields, presets }: Pick<FieldLimitsProps, 'fields' | 'presets'>): FieldRow => ({
  name,
  field: findField(fields, name),
  isPreset: includesName(presets, name)
})

const FieldTable = (props: FieldLimitsProps) => {
  const { fields, onChange } = props
  const toggle = (list: List, name: string) => {
    const names = props[list] ?? []
    const others = names.filter((other) => !isSameName(other, name))
    onChange({ [list]: others.length < names.length ? others : [...names, name] })
  }
  const rows = [...fields.map(({ name }) => name), ...otherNames(props, fields)].map((name) => toRow(name, props))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: What scrolls must be reachable by the keyboard.
    <div className={styles.fields} tabIndex={0}>
      <table aria-label={texts.fields}>
        <thead>
          <tr>
            <th scope="col">{texts.field}</th>
            {LISTS.map((list) => (
              <th key={list} scope="col">
                {texts.fieldLists[list]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">
                <bdi className={styles.fieldName}>{row.name}</bdi>
                <span className={styles.note}>{noteOf(row)}</span>
              </th>
              {LISTS.map((list) => (
                <td key={list}>
                  <input
                    type="checkbox"
                    aria-label={texts.fieldIn(row.name, list)}
                    checked={isChecked(row, list, props[list])}
                    disabled={props[list] === null || isFixed(row, list)}
                    onChange={() => toggle(list, row.name)}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const OtherFields = (props: FieldLimitsProps) =>
  LISTS.map((list) => {
    const names = props[list]
    if (names === null) return null
    return (
      <NameChoice
        key={list}
        label={texts.otherFields[list]}
        hint={texts.otherFieldsHint}
        names={names.filter((name) => !findField(props.fields, name))}
        suggestions={[]}
        noteOf={() => undefined}
        onChange={(others) =>
          props.onChange({ [list]: [...names.filter((name) => findField(props.fields, name)), ...others] })
        }
      />
    )
  })

/** The fields that a grant opens, for reading and for setting. */
export const FieldLimits = (props: FieldLimitsProps) => {
  const { common, isKnown, error, onChange } = props
  /** A table without a listed field would be closed, so a list begins with what all tables have. */
  const begin = (list: List) => common.map(({ name }) => name).filter((name) => !isFixed(toRow(name, props), list))
  const isLimited = props.read !== null || props.write !== null
  return (
    <fieldset className={styles.part} aria-label={texts.fields}>
      <h3>{texts.fields}</h3>
      <div className={styles.checks}>
        {LISTS.map((list) => (
          <label key={list} className={styles.check}>
            <input
              type="checkbox"
              checked={props[list] === null}
              onChange={({ target }) => onChange({ [list]: target.checked ? null : begin(list) })}
            />
            {texts.allFields[list]}
          </label>
        ))}
      </div>
      {isLimited && <FieldTable {...props} />}
      {isLimited && !isKnown && <OtherFields {...props} />}
      {error !== undefined && <p className={styles.problem}>{error}</p>}
    </fieldset>
  )
}
