import { useCallback, useMemo, useRef } from 'react'
import type { ColumnWidths } from 'react-data-grid'
import { keyFields, type Table } from '../../tables/queries.ts'
import { useCanEdit, useSource } from '../source.ts'
import type { ViewState } from '../view.ts'
import { toColumns } from './columns.tsx'
import { arrange, type Preferences } from './preferences.ts'
import { numberColumn, type useSelection } from './selection.tsx'
import type { Row } from './use-rows.ts'

/** What the grid shows, for the checkboxes of its rows. */
export interface Shown {
  readonly rows: readonly Row[]
  readonly first: number
  readonly visible: number
  readonly selection: ReturnType<typeof useSelection>
}

const toggleVisible = ({ rows, first, visible, selection }: Shown, isAnySelected: boolean) => {
  if (isAnySelected) return selection.clear()
  selection.select(rows.filter(({ number }) => number >= first && number < first + visible))
}

interface ColumnsOptions extends Pick<ViewState, 'change'> {
  readonly table: Table
  readonly total: number
  readonly preferences: Preferences
  readonly onPreferences: (changes: Partial<Preferences>) => void
  readonly shown: Shown
}

/** The columns of the grid, their widths and order, and what opens a row. */
export const useGridColumns = ({ table, total, change, ...options }: ColumnsOptions) => {
  const { preferences, onPreferences, shown } = options
  const latest = useRef(shown)
  latest.current = shown
  const { canOpen } = useSource()
  const canEdit = useCanEdit(table)
  const isAnySelected = shown.selection.selected.size > 0
  const open = useCallback((row: Row) => canOpen && row.pk !== null && change({ record: row.pk }), [canOpen, change])
  const columns = useMemo(
    () => [
      numberColumn({
        total,
        isSelectable: canEdit,
        isAnySelected,
        onOpen: canOpen ? open : undefined,
        onToggle: (row, isRange) => latest.current.selection.toggle(latest.current.rows, row, isRange),
        onToggleAll: () => toggleVisible(latest.current, isAnySelected)
      }),
      ...toColumns({ table, preferences, canEdit })
    ],
    [total, canEdit, isAnySelected, canOpen, open, table, preferences]
  )
  const widths = useMemo<ColumnWidths>(
    () => new Map(Object.entries(preferences.widths).map(([key, width]) => [key, { type: 'resized', width }])),
    [preferences.widths]
  )
  const names = () => columns.slice(1).map(({ key }) => key)
  return {
    columns,
    names,
    open,
    widths,
    changeWidths: (next: ColumnWidths) =>
      onPreferences({ widths: Object.fromEntries([...next].map(([key, { width }]) => [key, Math.round(width)])) }),
    reorder: (source: string, target: string) => {
      const all = arrange(table.fields, preferences, keyFields(table)).map(({ field }) => field.name)
      const order = all.filter((name) => name !== source)
      order.splice(all.indexOf(target), 0, source)
      onPreferences({ order })
    }
  }
}
