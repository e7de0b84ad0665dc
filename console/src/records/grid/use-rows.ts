import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useRef } from 'react'
import type { Table } from '../../tables/queries.ts'
import type { Draft } from '../fields/draft.ts'
import { keyOf } from '../keys.ts'
import { PAGE_SIZE, pageQuery, pageSizeQuery, type RecordData } from '../queries.ts'
import type { Shape } from '../shape.ts'
import { useSource } from '../source.ts'
import type { View } from '../view.ts'
import type { Unsaved, UnsavedCells } from './unsaved.ts'

/** A row of the grid. */
export interface Row {
  /** Counted from 0. */
  readonly number: number
  /** Left out: it is not loaded yet. */
  readonly record?: RecordData | undefined
  readonly pk: string | null
  /** What is not saved yet, by field. */
  readonly unsaved?: ReadonlyMap<string, Unsaved> | undefined
  readonly isSelected: boolean
  /** What a cell editor has entered. */
  readonly entry?: { readonly field: string; readonly draft: Draft }
}

const MARGIN = 6
const MAX_WAITING = 2

interface Window {
  readonly first: number
  readonly visible: number
  readonly total: number
}

const pagesOf = ({ first, visible, total }: Window, size: number) => {
  const last = Math.min(first + visible + MARGIN, total - 1)
  const firstPage = Math.floor(Math.max(0, first - MARGIN) / size)
  const count = Math.floor(last / size) - firstPage + 1
  return Array.from({ length: Math.max(0, count) }, (_, index) => firstPage + index)
}

/** The records of the loaded pages, by number of the page. */
type Pages = ReadonlyMap<number, readonly RecordData[]>

const isEqual = (a: Pages, b: Pages) => a.size === b.size && [...a].every(([page, records]) => b.get(page) === records)

/** Returns the same pages as long as their records are the same. */
const useStable = (pages: Pages) => {
  const stable = useRef(pages)
  if (!isEqual(stable.current, pages)) stable.current = pages
  return stable.current
}

/** What the pages show. */
interface Content {
  readonly table: Table
  readonly view: View
  readonly shape: Shape
}

/** Loads the pages of the visible rows. A page that is scrolled past before it has come is aborted. */
const usePages = ({ table, view, shape }: Content, window: Window) => {
  const client = useQueryClient()
  const source = useSource()
  const { data: size = PAGE_SIZE } = useQuery(pageSizeQuery)
  let waiting = 0
  const queries = pagesOf(window, size).map((page) => {
    const query = pageQuery({ source, table, view, shape, page, size })
    const isCached = client.getQueryData(query.queryKey) !== undefined
    if (!isCached) waiting += 1
    return { page, query: { ...query, enabled: isCached || waiting <= MAX_WAITING } }
  })
  const results = useQueries({ queries: queries.map(({ query }) => query) })
  const loaded = queries.flatMap(({ page }, index) => {
    const records = results[index]?.data
    return records ? [[page, records] as const] : []
  })
  const pages = useStable(new Map(loaded))
  const failed = results.find(({ isError, data }) => isError && data === undefined)
  return { pages, size, error: failed?.error, retry: () => results.map((result) => result.isError && result.refetch()) }
}

interface RowsOptions extends Window, Content {
  readonly offset: number
  readonly slots: number
  readonly unsaved: UnsavedCells
  readonly selected: ReadonlyMap<string, RecordData>
}

const isSame = (a: Row | undefined, b: Row) =>
  a?.record === b.record && a?.unsaved === b.unsaved && a?.isSelected === b.isSelected

/** The rows of all slots. Those that are not loaded have no record. */
export const useRows = ({ table, view, shape, offset, slots, unsaved, selected, ...window }: RowsOptions) => {
  const { pages, size, error, retry } = usePages({ table, view, shape }, window)
  // A row that has not changed stays the same object, so that it is not rendered again.
  const known = useRef(new Map<number, Row>())
  const rows = useMemo(() => {
    const rowAt = (number: number): Row => {
      const record = pages.get(Math.floor(number / size))?.[number % size]
      const pk = record && table.primaryKey !== '' ? keyOf(table, record) : null
      const isSelected = pk !== null && selected.has(pk)
      const row = { number, record, pk, unsaved: pk === null ? undefined : unsaved.get(pk), isSelected }
      const before = known.current.get(number)
      return before && isSame(before, row) ? before : row
    }
    const next = Array.from({ length: slots }, (_, slot) => rowAt(slot + offset))
    known.current = new Map(next.map((row) => [row.number, row]))
    return next
  }, [offset, slots, table, unsaved, selected, pages, size])
  return { rows, error, retry }
}
