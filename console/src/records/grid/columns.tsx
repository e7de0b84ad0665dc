import type { Column } from 'react-data-grid'
import { keyFields, type Table, type TableField } from '../../tables/queries.ts'
import { kindOf } from '../fields/kind.ts'
import { isRight } from './align.ts'
import { Cell } from './cell.tsx'
import { CellEditor } from './cell-editor.tsx'
import styles from './grid.module.css'
import { Header } from './header.tsx'
import { arrange, type Preferences } from './preferences.ts'
import type { Row } from './use-rows.ts'

const WIDTHS: Readonly<Record<TableField['jsonType'], number>> = {
  integer: 100,
  number: 110,
  boolean: 84,
  string: 200,
  object: 220,
  array: 220
}
/** For a label and a key. */
const REFERENCE_WIDTH = 200
const HEADER_CHARACTER = 7.5
const HEADER_SPACE = 56
const MAX_HEADER = 260

export const widthOf = ({ jsonType, label, name, references }: TableField) =>
  Math.max(
    references ? REFERENCE_WIDTH : WIDTHS[jsonType],
    Math.min(MAX_HEADER, (label || name).length * HEADER_CHARACTER + HEADER_SPACE)
  )

/** Whether a cell is edited in place. A BLOB is replaced in the panel of its record. */
const isEditable = ({ canEdit }: Context, field: TableField) =>
  canEdit && !field.isPrimary && !field.isReadonly && kindOf(field) !== 'bytes'

const cellClass = (field: TableField) => {
  const base = isRight(field) ? `${styles.value} ${styles.numeric}` : styles.value
  return ({ unsaved }: Row) => (unsaved?.get(field.name)?.error === undefined ? base : `${base} ${styles.failed}`)
}

interface Context {
  readonly table: Table
  readonly preferences: Preferences
  /** Whether records can be changed. */
  readonly canEdit: boolean
}

const toColumn = (context: Context, field: TableField, isPinned: boolean): Column<Row> => {
  const { table } = context
  return {
    key: field.name,
    name: field.label || field.name,
    width: widthOf(field),
    minWidth: 56,
    maxWidth: 1200,
    resizable: true,
    sortable: field.sqliteType !== 'BLOB',
    draggable: true,
    frozen: isPinned,
    headerCellClass: isRight(field) ? `${styles.head} ${styles.numericHead}` : styles.head,
    cellClass: cellClass(field),
    renderHeaderCell: ({ sortDirection, priority }) => (
      <Header field={field} direction={sortDirection} priority={priority} />
    ),
    renderCell: ({ row }) => <Cell table={table} field={field} row={row} />,
    ...(isEditable(context, field) && {
      editable: (row: Row) => row.record !== undefined,
      renderEditCell: ({ row, onRowChange }) => (
        <CellEditor
          table={table}
          field={field}
          row={row}
          onEnter={(draft) => onRowChange({ ...row, entry: { field: field.name, draft } })}
        />
      ),
      editorOptions: { closeOnExternalRowChange: false }
    })
  }
}

/** The columns of the fields of a table, as the user has arranged them. */
export const toColumns = (context: Context): readonly Column<Row>[] =>
  arrange(context.table.fields, context.preferences, keyFields(context.table))
    .filter(({ isShown }) => isShown)
    .map(({ field, isPinned }) => toColumn(context, field, isPinned))
