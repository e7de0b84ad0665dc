import 'react-data-grid/lib/styles.css'
import { useEffect, useMemo, useRef } from 'react'
import {
  type CellCopyArgs,
  type CellKeyboardEvent,
  type CellKeyDownArgs,
  type CellPasteArgs,
  DataGrid,
  type DataGridHandle,
  type RowsChangeData,
  type SortColumn
} from 'react-data-grid'
import { type Table, titleOf } from '../../tables/queries.ts'
import { texts } from '../../texts/records-grid.ts'
import { Problem } from '../../ui/page.tsx'
import { loadedRecords } from '../queries.ts'
import type { Shape } from '../shape.ts'
import { useCanEdit, useSource } from '../source.ts'
import { hasRows } from '../transfer/use-paste.ts'
import type { ViewState } from '../view.ts'
import { toLines, toText } from './copy.ts'
import styles from './grid.module.css'
import { addSort, toOrder, toSortColumns } from './order.ts'
import type { Preferences } from './preferences.ts'
import { useSelection } from './selection.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { StatusBar } from './status-bar.tsx'
import { countFailed } from './unsaved.ts'
import { useActiveCell } from './use-active-cell.ts'
import type { Edits } from './use-edits.ts'
import { useGridColumns } from './use-grid-columns.ts'
import { type Row, useRows } from './use-rows.ts'
import { HEADER_HEIGHT, useSlots } from './use-slots.ts'

const ROW_HEIGHT = 32
const COMPACT_ROW_HEIGHT = 26

interface RecordsGridProps extends ViewState {
  readonly table: Table
  readonly total: number
  readonly preferences: Preferences
  readonly onPreferences: (changes: Partial<Preferences>) => void
  readonly isCompact: boolean
  readonly shape: Shape
  readonly edits: Edits
}

const readOnlyReason = ({ kind, primaryKey }: Table) => {
  if (kind === 'view') return texts.readOnlyView
  return primaryKey === '' ? texts.readOnlyNoKey : undefined
}

const isInEditor = ({ target }: React.ClipboardEvent) =>
  target instanceof Element && target.closest('input:not([type=checkbox]), textarea, select') !== null

const numberOf = (row: Row) => row.number

/** The spreadsheet of the records of a table. */
export const RecordsGrid = ({
  table,
  view,
  change,
  total,
  preferences,
  onPreferences,
  isCompact,
  shape,
  edits
}: RecordsGridProps) => {
  const grid = useRef<DataGridHandle>(null)
  const rowHeight = isCompact ? COMPACT_ROW_HEIGHT : ROW_HEIGHT
  const slots = useSlots(grid, total, rowHeight)
  const cell = useActiveCell(grid, slots, total)
  const selection = useSelection(table, view, shape)
  const { clear } = selection
  const { offset, first, visible } = slots
  const { rows, error, retry } = useRows({
    table,
    view,
    shape,
    offset,
    slots: slots.slots,
    first,
    visible,
    total,
    unsaved: edits.unsaved,
    selected: selection.selected
  })
  useEffect(() => {
    // Another order or filter: the rows are others.
    if (!view) return
    slots.goTo(0)
    clear()
  }, [view, slots.goTo, clear])

  // The selected records have only the fields that were shown.
  // biome-ignore lint/correctness/useExhaustiveDependencies: When other fields are shown.
  useEffect(clear, [clear, shape.fields])

  const shown = { rows, first, visible, selection }
  const arranged = useGridColumns({ table, total, change, preferences, onPreferences, shown })
  const { columns, open } = arranged
  const { canOpen } = useSource()
  const canEdit = useCanEdit(table)
  const isAnySelected = selection.selected.size > 0

  const sortColumns = useMemo(() => toSortColumns(view.order), [view.order])
  const isShift = useRef(false)
  const sort = (clicked: readonly SortColumn[]) =>
    change({ order: toOrder(isShift.current ? addSort(sortColumns, clicked) : clicked) })

  const save = (next: readonly Row[], { column, indexes }: RowsChangeData<Row>) => {
    const field = table.fields.find(({ name }) => name === column.key)
    for (const index of indexes) {
      const row = next[index]
      if (field && row?.entry?.field === field.name) edits.save(row, field, row.entry.draft)
    }
  }

  const press = (args: CellKeyDownArgs<Row>, event: CellKeyboardEvent) => {
    if (args.mode === 'EDIT' || !args.row || !args.column) return
    const { row, column } = args
    if (cell.move(event, args.rowIdx)) event.preventGridDefault()
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey || !column.renderEditCell)) {
      event.preventGridDefault()
      open(row)
    } else if (event.key === 'Enter') {
      // It opens the editor, where it must not replace the value by a line break.
      event.preventDefault()
    } else if (event.key === ' ' && event.shiftKey && canEdit) {
      event.preventGridDefault()
      event.preventDefault()
      selection.toggle(rows, row, false)
    } else if (event.key === 'Escape' && row.unsaved?.get(column.key)?.error !== undefined) {
      edits.discard(row, column.key)
    }
  }

  /** As they are loaded now: a record may have been edited since it was selected. */
  const selectedRecords = () => {
    const loaded = loadedRecords(table, view, shape)
    return [...selection.selected].map(([pk, record]) => loaded.get(pk) ?? record)
  }

  const copy = ({ row, column }: CellCopyArgs<Row>, event: React.ClipboardEvent) => {
    if (isInEditor(event)) return
    const text = isAnySelected ? toLines(arranged.names(), selectedRecords()) : toText(row.record?.[column.key])
    event.clipboardData.setData('text/plain', text)
    event.preventDefault()
  }

  /** Without this, Ctrl+V opens the editor, which would take rows of a spreadsheet. */
  const paste = ({ row, column }: CellPasteArgs<Row>, event: React.ClipboardEvent) => {
    if (!event.clipboardData.types.includes('text/plain')) return row
    const text = event.clipboardData.getData('text/plain').replace(/\r?\n$/, '')
    return isInEditor(event) || hasRows(text, true) ? row : { ...row, entry: { field: column.key, draft: text } }
  }

  return (
    <div
      className={styles.area}
      onClickCapture={(event) => {
        isShift.current = event.shiftKey
      }}
    >
      {error && (
        <div className={styles.problem}>
          <Problem error={error} onRetry={retry} />
        </div>
      )}
      <div className={styles.frame}>
        <DataGrid<Row, unknown, number>
          ref={grid}
          className={isCompact ? `${styles.grid} ${styles.compact}` : styles.grid}
          aria-label={texts.grid(titleOf(table))}
          aria-rowcount={total + 1}
          columns={columns}
          rows={rows}
          rowKeyGetter={numberOf}
          rowHeight={rowHeight}
          headerRowHeight={HEADER_HEIGHT}
          rowClass={({ isSelected }) => (isSelected ? styles.selected : undefined)}
          columnWidths={arranged.widths}
          onColumnWidthsChange={arranged.changeWidths}
          sortColumns={sortColumns}
          onSortColumnsChange={sort}
          onColumnsReorder={arranged.reorder}
          onRowsChange={save}
          onActivePositionChange={cell.change}
          onCellKeyDown={press}
          onCellCopy={copy}
          onCellPaste={paste}
        />
        {(isAnySelected || selection.isReading) && (
          <SelectionBar table={table} selected={selection.selected} isReading={selection.isReading} onClear={clear} />
        )}
      </div>
      <StatusBar
        total={total}
        isFiltered={view.q !== '' || view.filter !== ''}
        first={first}
        visible={visible}
        readOnly={canOpen ? readOnlyReason(table) : texts.readOnlyToken}
        onGo={cell.goToCell}
        failed={countFailed(edits.unsaved)}
        onDiscard={edits.discardFailed}
      />
    </div>
  )
}
