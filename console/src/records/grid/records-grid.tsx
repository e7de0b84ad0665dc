import 'react-data-grid/lib/styles.css'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import {
  type CellCopyArgs,
  type CellKeyboardEvent,
  type CellKeyDownArgs,
  type ColumnWidths,
  DataGrid,
  type DataGridHandle,
  type RowsChangeData,
  type SortColumn
} from 'react-data-grid'
import { type Table, titleOf } from '../../tables/queries.ts'
import { texts } from '../../texts/records-grid.ts'
import { Problem } from '../../ui/page.tsx'
import { ConflictDialog } from '../conflict/conflict-dialog.tsx'
import { isReadOnly } from '../keys.ts'
import type { ViewState } from '../view.ts'
import { toColumns } from './columns.tsx'
import { toLines, toText } from './copy.ts'
import styles from './grid.module.css'
import { addSort, toOrder, toSortColumns } from './order.ts'
import type { Preferences } from './preferences.ts'
import { numberColumn, useSelection } from './selection.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { StatusBar } from './status-bar.tsx'
import { useActiveCell } from './use-active-cell.ts'
import { mineOf, useEdits } from './use-edits.ts'
import { type Row, useRows } from './use-rows.ts'
import { useSlots } from './use-slots.ts'

const ROW_HEIGHT = 32
const COMPACT_ROW_HEIGHT = 26

interface RecordsGridProps extends ViewState {
  readonly table: Table
  readonly total: number
  readonly preferences: Preferences
  readonly onPreferences: (changes: Partial<Preferences>) => void
  readonly isCompact: boolean
}

const readOnlyReason = ({ kind, primaryKey }: Table) => {
  if (kind === 'view') return texts.readOnlyView
  return primaryKey === '' ? texts.readOnlyNoKey : undefined
}

const numberOf = (row: Row) => row.number

/** The spreadsheet of the records of a table. */
export const RecordsGrid = ({
  table,
  view,
  change,
  total,
  preferences,
  onPreferences,
  isCompact
}: RecordsGridProps) => {
  const grid = useRef<DataGridHandle>(null)
  const rowHeight = isCompact ? COMPACT_ROW_HEIGHT : ROW_HEIGHT
  const slots = useSlots(grid, total, rowHeight)
  const cell = useActiveCell(grid, slots, total)
  const selection = useSelection()
  const edits = useEdits(table)
  const { offset, first, visible } = slots
  const { rows, error, retry } = useRows({
    table,
    view,
    offset,
    slots: slots.slots,
    first,
    visible,
    total,
    unsaved: edits.unsaved,
    selected: selection.selected
  })
  const latest = useRef({ rows, first, visible, selection })
  latest.current = { rows, first, visible, selection }

  useEffect(() => {
    // Another order or filter: the rows are others.
    if (view) slots.goTo(0)
  }, [view, slots.goTo])

  const isSelectable = !isReadOnly(table)
  const isAnySelected = selection.selected.size > 0
  const open = useCallback((row: Row) => row.pk !== null && change({ record: row.pk }), [change])
  const columns = useMemo(
    () => [
      numberColumn({
        total,
        isSelectable,
        isAnySelected,
        onOpen: open,
        onToggle: (row, isRange) => latest.current.selection.toggle(latest.current.rows, row, isRange),
        onToggleAll: () => toggleVisible(latest.current, isAnySelected)
      }),
      ...toColumns({ table, preferences, onBegin: edits.begin })
    ],
    [total, isSelectable, isAnySelected, open, table, preferences, edits.begin]
  )

  const widths = useMemo<ColumnWidths>(
    () => new Map(Object.entries(preferences.widths).map(([key, width]) => [key, { type: 'resized', width }])),
    [preferences.widths]
  )
  const changeWidths = (next: ColumnWidths) =>
    onPreferences({ widths: Object.fromEntries([...next].map(([key, { width }]) => [key, Math.round(width)])) })

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
    } else if (event.key === ' ' && event.shiftKey && isSelectable) {
      event.preventGridDefault()
      event.preventDefault()
      selection.toggle(rows, row, false)
    } else if (event.key === 'Escape' && row.unsaved?.has(column.key)) {
      edits.discard(row, column.key)
    }
  }

  const copy = ({ row, column }: CellCopyArgs<Row>, event: React.ClipboardEvent) => {
    const names = columns.slice(1).map(({ key }) => key)
    const isMany = selection.selected.size > 0
    event.clipboardData.setData(
      'text/plain',
      isMany ? toLines(names, selection.selected.values()) : toText(row.record?.[column.key])
    )
    event.preventDefault()
  }

  const reorder = (source: string, target: string) => {
    const names = columns.slice(1).map(({ key }) => key)
    const order = names.filter((name) => name !== source)
    order.splice(names.indexOf(target), 0, source)
    onPreferences({ order })
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
          headerRowHeight={ROW_HEIGHT}
          rowClass={({ isSelected }) => (isSelected ? styles.selected : undefined)}
          columnWidths={widths}
          onColumnWidthsChange={changeWidths}
          sortColumns={sortColumns}
          onSortColumnsChange={sort}
          onColumnsReorder={reorder}
          onRowsChange={save}
          onActivePositionChange={cell.change}
          onCellKeyDown={press}
          onCellCopy={copy}
        />
        {isAnySelected && <SelectionBar table={table} selected={selection.selected} onClear={selection.clear} />}
      </div>
      <StatusBar
        total={total}
        isFiltered={view.q !== '' || view.filter !== ''}
        first={first}
        visible={visible}
        readOnly={readOnlyReason(table)}
        onGo={cell.goToCell}
      />
      {edits.conflict && (
        <ConflictDialog
          table={table}
          name={`${titleOf(table)} ${edits.conflict.pk}`}
          mine={mineOf(edits.conflict)}
          theirs={edits.conflict.theirs.record}
          onKeepMine={edits.keepMine}
          onTakeTheirs={edits.takeTheirs}
        />
      )}
    </div>
  )
}

interface Visible {
  readonly rows: readonly Row[]
  readonly first: number
  readonly visible: number
  readonly selection: ReturnType<typeof useSelection>
}

const toggleVisible = ({ rows, first, visible, selection }: Visible, isAnySelected: boolean) => {
  if (isAnySelected) return selection.clear()
  const shown = rows.filter(({ number, record }) => record && number >= first && number < first + visible)
  selection.set(new Map(shown.map(({ pk, record }) => [pk ?? '', record ?? {}])))
}
