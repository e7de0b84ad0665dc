import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { DataGridHandle } from 'react-data-grid'
import { clampOffset, isNearEdge, offsetAt, rebasedOffset, slotCount, slotOfRow, visibleSlots } from './slots.ts'

/** The header stays above the rows, over those that are scrolled below it. */
export const HEADER_HEIGHT = 32
/** A wheel or a finger moved this long ago: the scrolling is its. */
const WHEEL_MS = 400
/** How often the rows to load are chosen while the wheel scrolls. The scrollbar rests after twice this time. */
const LOAD_MS = 60

interface Place {
  readonly offset: number
  /** The first row that is visible as a whole, and the number of such rows. */
  readonly first: number
  readonly visible: number
}

const isOnScrollbar = (event: PointerEvent, element: HTMLElement) =>
  event.target === element && event.clientX > element.getBoundingClientRect().left + element.clientWidth

/** Puts rows into the slots of the grid while it scrolls. */
export const useSlots = (grid: RefObject<DataGridHandle | null>, rows: number, rowHeight: number) => {
  const [place, setPlace] = useState<Place>({ offset: 0, first: 0, visible: 30 })
  const offset = clampOffset(place.offset, rows)
  // Scrolling reads these between two renderings.
  const now = useRef({ offset, rows, rowHeight, top: 0, wheelAt: 0, isDragging: false, loadedAt: 0, timer: 0 })
  Object.assign(now.current, { offset, rows, rowHeight })
  /** The position of the scrollbar that belongs to a new offset, set when its rows are rendered. */
  const nextTop = useRef<number | null>(null)
  /** Called before rows are put into other slots. */
  const onMoved = useRef<(nextOffset: number) => void>(() => {})

  useLayoutEffect(() => {
    const element = grid.current?.element
    if (nextTop.current === null || !element) return
    element.scrollTop = nextTop.current
    now.current.top = element.scrollTop
    nextTop.current = null
  })

  /** Puts rows into other slots. They are loaded when the scrollbar rests: a drag passes thousands of pages. */
  const move = useCallback((nextOffset: number) => {
    if (nextOffset === now.current.offset) return
    onMoved.current(nextOffset)
    now.current.offset = nextOffset
    setPlace((present) => ({ ...present, offset: nextOffset }))
  }, [])

  /** Puts rows into other slots, and loads those in the window. */
  const show = useCallback(
    (nextOffset: number) => {
      const element = grid.current?.element
      if (!element) return
      move(nextOffset)
      const { top, rows, rowHeight } = now.current
      now.current.loadedAt = performance.now()
      const height = element.clientHeight - HEADER_HEIGHT
      const { slot, visible } = visibleSlots({ top: nextTop.current ?? top, height, rows, rowHeight })
      setPlace({ offset: nextOffset, first: slot + nextOffset, visible })
    },
    [grid, move]
  )

  /** Keeps the rows where they are, and puts them into other slots. */
  const rebase = useCallback(() => {
    const { top, offset, rows, rowHeight } = now.current
    const next = rebasedOffset(Math.floor(top / rowHeight), offset, rows)
    if (next === offset) return
    nextTop.current = top + (offset - next) * rowHeight
    show(next)
  }, [show])

  const scroll = useCallback(() => {
    const element = grid.current?.element
    const state = now.current
    if (!element || nextTop.current !== null) return
    const moved = Math.abs(element.scrollTop - state.top)
    const top = element.scrollTop
    state.top = top
    if (moved === 0) return
    const slot = Math.floor(top / state.rowHeight)
    const isWheel = performance.now() - state.wheelAt < WHEEL_MS
    if (state.isDragging || (!isWheel && moved > 2 * element.clientHeight)) move(offsetAt(slot, state.rows))
    else if (isNearEdge(slot, state.offset, state.rows)) rebase()
    else if (performance.now() - state.loadedAt > LOAD_MS) show(state.offset)
    window.clearTimeout(state.timer)
    state.timer = window.setTimeout(() => {
      show(state.offset)
      if (!state.isDragging) rebase()
    }, 2 * LOAD_MS)
  }, [grid, move, rebase, show])

  useEffect(() => {
    const element = grid.current?.element
    if (!element) return
    const state = now.current
    const wheel = () => {
      state.wheelAt = performance.now()
    }
    const press = (event: PointerEvent) => {
      state.isDragging = isOnScrollbar(event, element)
    }
    const release = (event: PointerEvent) => {
      if (event.buttons === 0) state.isDragging = false
    }
    const listening = new AbortController()
    const { signal } = listening
    element.addEventListener('scroll', scroll, { signal })
    element.addEventListener('wheel', wheel, { signal, passive: true })
    element.addEventListener('touchmove', wheel, { signal, passive: true })
    element.addEventListener('pointerdown', press, { signal })
    window.addEventListener('pointerup', release, { signal })
    window.addEventListener('pointermove', release, { signal })
    const resized = new ResizeObserver(() => show(state.offset))
    resized.observe(element)
    return () => {
      listening.abort()
      resized.disconnect()
      window.clearTimeout(state.timer)
    }
  }, [grid, scroll, show])

  /** Shows a row, counted from 0, at the top. */
  const goTo = useCallback(
    (row: number) => {
      const { rows, rowHeight } = now.current
      const slot = slotOfRow(row, rows)
      nextTop.current = slot * rowHeight
      show(clampOffset(row - slot, rows))
    },
    [show]
  )

  return { offset, slots: slotCount(rows), first: place.first, visible: place.visible, goTo, onMoved }
}
