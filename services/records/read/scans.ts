import type { Database } from '../../engine/database.ts'
import { scansOf } from '../../engine/scans.ts'
import type { Caller } from '../../model/caller.ts'
import type { Row } from '../../model/sql-value.ts'
import { orderBy, type RowSelection } from '../../sql/selections.ts'
import type { Statement } from '../../sql/statement.ts'
import { helpfulIndex, type IndexedSelection } from './helpful-index.ts'
import type { Search } from './search.ts'
import type { Totals } from './totals.ts'

/** A scan that took long, and what helps to make it faster. */
export interface SlowScan {
  readonly table: string
  readonly milliseconds: number
  /** The rows of the table, which the scan read unless an index narrowed them. null: they have not been counted. */
  readonly tableRows: number | null
  /** The condition in SQL, with `?` for each value. null: all rows. */
  readonly filter: string | null
  /** The order in SQL. null: none. */
  readonly order: string | null
  /** The fields of an index that would help. null: none is known. */
  readonly helpfulIndex: readonly string[] | null
}

export type OnSlowScan = (scan: SlowScan) => void

interface ScansOptions {
  readonly db: Database
  readonly search: Search
  readonly totals: Totals
  readonly onSlowScan: OnSlowScan
}

const SLOW_MS = 1000

/**
 * Creates the function that runs a statement on selected rows in a reader, with the search index of the table if it finds
 * few rows. Reports scans that take longer than a second, also those that fail.
 */
export const createScans = ({ db, search, totals, onSlowScan }: ScansOptions) => {
  const report = (selection: IndexedSelection, milliseconds: number) => {
    if (milliseconds < SLOW_MS) return
    const { table, filter, order = [] } = selection
    onSlowScan({
      table: table.name,
      milliseconds: Math.round(milliseconds),
      tableRows: totals.cached(table),
      filter: filter?.sql ?? null,
      order: order.length === 0 ? null : orderBy({ table, order }),
      helpfulIndex: helpfulIndex(selection)
    })
  }

  return <S extends RowSelection>(
    caller: Caller,
    selection: S,
    compose: (selection: S) => Statement
  ): Promise<readonly Row[]> =>
    search(caller, selection, (rows) =>
      scansOf(db, selection.table).scan(compose(rows), caller, (milliseconds) => report(selection, milliseconds))
    )
}

export type Scan = ReturnType<typeof createScans>
