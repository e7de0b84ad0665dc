import { useCallback, useRef, useState } from 'react'
import type { Column } from 'react-data-grid'
import { texts } from '../../texts/records-grid.ts'
import { notify } from '../../ui/toast.tsx'
import type { RecordData } from '../queries.ts'
import styles from './grid.module.css'
import type { Row } from './use-rows.ts'

/** A batch has at most 1,000 operations. */
const MAX_SELECTED = 1000

export type Selection = ReadonlyMap<string, RecordData>

const NOTHING: Selection = new Map()

const toggled = (present: Selection, rows: readonly Row[], isSelected: boolean): Selection => {
  const next = new Map(present)
  for (const { pk, record } of rows) {
    if (pk === null || !record) continue
    if (isSelected) next.set(pk, record)
    else next.delete(pk)
  }
  return next
}

/** The selected records, by key. */
export const useSelection = () => {
  const [selected, setSelected] = useState(NOTHING)
  const last = useRef<number | null>(null)
  const set = useCallback((next: Selection) => {
    if (next.size > MAX_SELECTED) notify({ title: texts.tooMany })
    else setSelected(next)
  }, [])
  /** With `isRange`, all loaded rows from the last one that was clicked. */
  const toggle = useCallback(
    (rows: readonly Row[], { number, isSelected }: Row, isRange: boolean) => {
      const from = isRange ? (last.current ?? number) : number
      last.current = number
      const [first, end] = from < number ? [from, number] : [number, from]
      const range = rows.filter((row) => row.number >= first && row.number <= end)
      set(toggled(selected, range, !isSelected))
    },
    [selected, set]
  )
  return { selected, set, toggle, clear: useCallback(() => setSelected(NOTHING), []) }
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
    options.isSelectable && (
      <input
        type="checkbox"
        tabIndex={tabIndex}
        aria-label={options.isAnySelected ? texts.selectNone : texts.selectVisible}
        title={options.isAnySelected ? texts.selectNone : texts.selectVisible}
        checked={options.isAnySelected}
        onChange={options.onToggleAll}
      />
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
