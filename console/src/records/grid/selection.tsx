import { useCallback, useEffect, useRef, useState } from 'react'
import type { Column } from 'react-data-grid'
import type { Table } from '../../tables/queries.ts'
import { texts } from '../../texts/records-grid.ts'
import { Hidden } from '../../ui/hidden.tsx'
import { notify, notifyError } from '../../ui/toast.tsx'
import { invalidateRecords } from '../changes.ts'
import { keyOf } from '../keys.ts'
import { type RecordData, readRange } from '../queries.ts'
import type { Shape } from '../shape.ts'
import { useSource } from '../source.ts'
import type { View } from '../view.ts'
import styles from './grid.module.css'
import type { Row } from './use-rows.ts'

/** A batch has at most 1,000 operations. */
const MAX_SELECTED = 1000

export type Selection = ReadonlyMap<string, RecordData>

const NOTHING: Selection = new Map()

type Selectable = Pick<Row, 'pk' | 'record'>

const toggled = (present: Selection, rows: readonly Selectable[], isSelected: boolean): Selection => {
  const next = new Map(present)
  for (const { pk, record } of rows) {
    if (pk === null || !record) continue
    if (isSelected) next.set(pk, record)
    else next.delete(pk)
  }
  return next
}

/** Both ends of a range, the upper one first. */
type Range = readonly [Row, Row]

const rangeOf = (a: Row, b: Row): Range => (a.number < b.number ? [a, b] : [b, a])

const sizeOf = ([first, last]: Range) => last.number - first.number + 1

/** Returns all rows of a range. null: some are not loaded. */
const loadedRange = (rows: readonly Row[], range: Range) => {
  const [first, last] = range
  const loaded = rows.filter(({ number, record }) => record && number >= first.number && number <= last.number)
  return loaded.length === sizeOf(range) ? loaded : null
}

/** The selected records, by key. */
const useSelected = () => {
  const [selected, setSelected] = useState(NOTHING)
  // A range that was read is added to what is selected by then.
  const now = useRef(selected)
  const set = useCallback((next: Selection) => {
    now.current = next
    setSelected(next)
  }, [])
  const toggleAll = useCallback(
    (rows: readonly Selectable[], isSelected: boolean) => {
      const next = toggled(now.current, rows, isSelected)
      if (next.size > MAX_SELECTED) notify({ title: texts.tooMany })
      else set(next)
    },
    [set]
  )
  return { selected, toggleAll, clear: useCallback(() => set(NOTHING), [set]) }
}

/** Reads the rows of ranges. `stop` ends it without a result. */
const useRangeReader = (table: Table, view: View, shape: Shape) => {
  const source = useSource()
  const [count, setCount] = useState(0)
  const controller = useRef(new AbortController())
  const stop = useCallback(() => {
    controller.current.abort()
    controller.current = new AbortController()
    setCount(0)
  }, [])
  useEffect(() => stop, [stop])

  /** Returns the rows, if those at both ends are still the ones that the user saw. */
  const read = async ([first, last]: Range) => {
    const { signal } = controller.current
    setCount((present) => present + 1)
    try {
      const records = await readRange({
        source,
        table,
        view,
        shape,
        first: first.number,
        last: last.number,
        signal
      })
      if (signal.aborted) return []
      const rows = records.map((record) => ({ pk: keyOf(table, record), record }))
      if (rows[0]?.pk === first.pk && rows[last.number - first.number]?.pk === last.pk) return rows
      notify({ title: texts.rangeChanged })
      invalidateRecords(table.id)
    } catch (error) {
      if (!signal.aborted) notifyError(texts.rangeFailed, error)
    } finally {
      if (!signal.aborted) setCount((present) => present - 1)
    }
    return []
  }
  return { read, stop, isReading: count > 0 }
}

/** The selection of records, by single rows and by ranges. */
export const useSelection = (table: Table, view: View, shape: Shape) => {
  const { selected, toggleAll, clear: deselect } = useSelected()
  const { read, stop, isReading } = useRangeReader(table, view, shape)
  const last = useRef<Row | null>(null)

  const clear = useCallback(() => {
    stop()
    last.current = null
    deselect()
  }, [stop, deselect])

  /** With `isRange`, all rows from the last one that was clicked. */
  const toggle = async (rows: readonly Row[], row: Row, isRange: boolean) => {
    const range = rangeOf(isRange ? (last.current ?? row) : row, row)
    last.current = row
    if (sizeOf(range) > MAX_SELECTED) return notify({ title: texts.tooMany })
    toggleAll(loadedRange(rows, range) ?? (await read(range)), !row.isSelected)
  }

  return { selected, isReading, toggle, select: (rows: readonly Row[]) => toggleAll(rows, true), clear }
}

interface NumberColumnOptions {
  readonly total: number
  readonly isSelectable: boolean
  readonly isAnySelected: boolean
  readonly onToggle: (row: Row, isRange: boolean) => void
  readonly onToggleAll: () => void
  /** Left out: the records have no key to be opened by. */
  readonly onOpen: ((row: Row) => void) | undefined
}

const DIGIT = 8
const SPACE = 54

/** The first column: the checkbox of the row, and its number, which opens the record. */
export const numberColumn = (options: NumberColumnOptions): Column<Row> => ({
  key: '#',
  name: texts.rowNumber,
  width: SPACE + String(options.total).length * DIGIT,
  frozen: true,
  cellClass: styles.numberCell,
  headerCellClass: styles.numberHead,
  renderHeaderCell: ({ tabIndex }) =>
    options.isSelectable ? (
      <input
        type="checkbox"
        tabIndex={tabIndex}
        aria-label={options.isAnySelected ? texts.selectNone : texts.selectVisible}
        title={options.isAnySelected ? texts.selectNone : texts.selectVisible}
        checked={options.isAnySelected}
        onChange={options.onToggleAll}
      />
    ) : (
      <Hidden>{texts.rowNumber}</Hidden>
    ),
  renderCell: ({ row, tabIndex }) => (
    <>
      {options.isSelectable && (
        <input
          type="checkbox"
          tabIndex={tabIndex}
          aria-label={texts.select(row.number + 1)}
          checked={row.isSelected}
          disabled={row.pk === null}
          onClick={(event) => options.onToggle(row, event.shiftKey)}
          onChange={() => {}}
        />
      )}
      <button
        type="button"
        tabIndex={-1}
        title={texts.open(row.number + 1)}
        aria-label={texts.open(row.number + 1)}
        disabled={!options.onOpen || row.pk === null}
        onClick={() => options.onOpen?.(row)}
      >
        {row.number + 1}
      </button>
    </>
  )
})
