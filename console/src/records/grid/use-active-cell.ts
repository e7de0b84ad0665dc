import { type RefObject, useCallback, useLayoutEffect, useRef } from 'react'
import type { CellKeyboardEvent, DataGridHandle, PositionChangeArgs } from 'react-data-grid'
import { slotOfRow } from './slots.ts'
import type { Row } from './use-rows.ts'
import type { useSlots } from './use-slots.ts'

const MOVES: Readonly<Record<string, (row: number, page: number) => number>> = {
  ArrowUp: (row) => row - 1,
  ArrowDown: (row) => row + 1,
  PageUp: (row, page) => row - page,
  PageDown: (row, page) => row + page
}

const isCtrl = (event: CellKeyboardEvent) => event.ctrlKey || event.metaKey

/** Keeps the active cell at its row, while the rows move to other slots. */
export const useActiveCell = (
  grid: RefObject<DataGridHandle | null>,
  { offset, visible, goTo, onMoved }: ReturnType<typeof useSlots>,
  total: number
) => {
  const active = useRef({ row: 0, column: 1 })
  const hadFocus = useRef(false)

  const change = useCallback(({ row, column }: PositionChangeArgs<Row>) => {
    if (row && column) active.current = { row: row.number, column: column.idx }
  }, [])

  // The grid would keep the cell at its slot.
  onMoved.current = (nextOffset) => {
    const element = grid.current?.element
    const { row, column } = active.current
    hadFocus.current = element?.contains(document.activeElement) ?? false
    grid.current?.setActivePosition({ idx: column, rowIdx: row - nextOffset })
    active.current = { row, column }
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: After the rows are in other slots.
  useLayoutEffect(() => {
    const element = grid.current?.element
    // The row of the cell is not rendered any more. The element of the grid still takes keys.
    if (hadFocus.current && !element?.contains(document.activeElement)) element?.focus({ preventScroll: true })
    hadFocus.current = false
  }, [offset])

  /** Shows a row at the top, and makes one of its cells active. */
  const goToCell = useCallback(
    (row: number, column = active.current.column) => {
      const target = Math.max(0, Math.min(row, total - 1))
      goTo(target)
      grid.current?.setActivePosition({ idx: column, rowIdx: slotOfRow(target, total) }, { shouldFocus: true })
      active.current = { row: target, column }
    },
    [goTo, grid, total]
  )

  /** Handles the keys that leave the slots. Returns whether it did. */
  const move = (event: CellKeyboardEvent, rowIdx: number) => {
    const { row, column } = active.current
    const next = MOVES[event.key]?.(row, visible - 1)
    if (isCtrl(event) && event.key === 'Home') goToCell(0, 1)
    else if (isCtrl(event) && event.key === 'End') goToCell(total - 1)
    else if (next !== undefined && rowIdx + offset !== row) goToCell(next, column)
    else return false
    event.preventDefault()
    return true
  }

  return { change, goToCell, move }
}
