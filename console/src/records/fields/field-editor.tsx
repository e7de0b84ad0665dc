import type { Table, TableField } from '../../tables/queries.ts'
import { BytesEditor } from './bytes-editor.tsx'
import { ChoiceEditor } from './choice-editor.tsx'
import { DateEditor } from './date-editor.tsx'
import type { Draft } from './draft.ts'
import styles from './field-editor.module.css'
import { kindOf } from './kind.ts'
import { ReferenceEditor } from './reference-editor.tsx'
import { TextEditor } from './text-editor.tsx'
import { Toggles } from './toggles.tsx'

export interface FieldEditorProps {
  readonly table: Pick<Table, 'name'>
  readonly field: TableField
  /** Made by `toDraft`. Read by `parseDraft`. */
  readonly value: Draft
  readonly onChange: (value: Draft) => void
  /** The problems of the value. It stands below the editor. */
  readonly error?: string | undefined
  readonly autoFocus?: boolean
  /** `cell`: on one line, over a cell of the grid. */
  readonly layout?: 'panel' | 'cell'
  /** Whether the field can be left out, as in a new record. */
  readonly canOmit?: boolean
  /** The id of a label outside. Without it, the name of the field is the label. */
  readonly id?: string
}

/** What all editors take. */
export interface EditorProps extends Omit<FieldEditorProps, 'error' | 'id'> {
  readonly control: {
    readonly id: string | undefined
    readonly 'aria-label': string | undefined
    readonly 'aria-invalid': boolean
    readonly 'aria-describedby': string | undefined
    readonly 'aria-required': boolean
  }
}

const Editor = (props: EditorProps) => {
  const { field } = props
  if (field.references) return <ReferenceEditor {...props} />
  if (field.allowedValues || kindOf(field) === 'boolean') return <ChoiceEditor {...props} />
  if (kindOf(field) === 'bytes') return <BytesEditor {...props} />
  return kindOf(field) === 'date' ? <DateEditor {...props} /> : <TextEditor {...props} />
}

/** The editor for the kind of a field. It keeps what is typed; `parseDraft` says whether it is a value. */
export const FieldEditor = ({ error, id, ...props }: FieldEditorProps) => {
  const { field, layout = 'panel' } = props
  const errorId = `${id ?? field.name}-error`
  const control = {
    id,
    'aria-label': id === undefined ? field.label || field.name : undefined,
    'aria-invalid': error !== undefined,
    'aria-describedby': error === undefined ? undefined : errorId,
    'aria-required': field.isRequired
  }
  return (
    <div className={layout === 'cell' ? styles.cell : styles.panel}>
      <div className={styles.row}>
        <Editor {...props} layout={layout} control={control} />
        <Toggles {...props} />
      </div>
      {error !== undefined && (
        <div id={errorId} className={styles.error} role="alert">
          {error}
        </div>
      )}
    </div>
  )
}
