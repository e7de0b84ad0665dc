import type { Database } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import { foldName } from '../model/names.ts'
import type { RegisteredTable } from '../model/table.ts'
import { countRows, countUpTo } from '../sql/lists.ts'

interface Entry {
  /** undefined: not counted yet. */
  total: number | undefined
  writesInFlight: number
  /** Grows with every write that may change the number of rows. */
  version: number
}

/** A write that changes the number of rows of a table. */
interface CountedWrite {
  readonly table: RegisteredTable
  /** null: not known before the write. The rows are counted again then. */
  readonly countChange: number | null
}

/** Rows that may be counted on the event loop. */
const SMALL_TABLE = 1000

interface TotalsOptions {
  readonly db: Database
  /** Whether only our own inserts and deletes can change the number of rows of the table. */
  readonly isCountable: (table: RegisteredTable) => boolean
}

/**
 * Caches the number of rows of each table: it halves the cost of a list. Our own writes add their changes
 * to it. A count that ran concurrently with a write may or may not include it, so it is returned but not cached.
 */
export const createTotals = ({ db, isCountable }: TotalsOptions) => {
  const entries = new Map<string, Entry>()

  const entryOf = ({ name }: RegisteredTable): Entry => {
    const key = foldName(name)
    const cached = entries.get(key)
    if (cached) return cached
    const entry = { total: undefined, writesInFlight: 0, version: 0 }
    entries.set(key, entry)
    return entry
  }

  /** Small tables are counted on the event loop: their lists do not wait for scans of large tables. */
  const countNow = async (caller: Caller, table: RegisteredTable) => {
    const [few] = await db.read(countUpTo(table, SMALL_TABLE + 1))
    if (Number(few?.total) <= SMALL_TABLE) return Number(few?.total)
    const [row] = await db.scan(countRows({ table, dialect: db.dialect, filter: null }), caller)
    return Number(row?.total)
  }

  const count = async (caller: Caller, table: RegisteredTable, entry: Entry) => {
    const { version, writesInFlight } = entry
    const total = await countNow(caller, table)
    const isExact = writesInFlight === 0 && entry.writesInFlight === 0 && entry.version === version
    if (isExact && isCountable(table)) entry.total = total
    return total
  }

  /** Returns the number of rows if it has been counted; otherwise null. */
  const cached = (table: RegisteredTable): number | null =>
    (isCountable(table) ? entryOf(table).total : undefined) ?? null

  const get = async (caller: Caller, table: RegisteredTable): Promise<number> => {
    const entry = entryOf(table)
    return cached(table) ?? count(caller, table, entry)
  }

  const begin = ({ table, countChange }: CountedWrite) => {
    if (countChange !== 0) entryOf(table).writesInFlight += 1
  }

  const end = ({ table, countChange }: CountedWrite, hasCommitted: boolean) => {
    if (countChange === 0) return
    const entry = entryOf(table)
    entry.writesInFlight -= 1
    entry.version += 1
    if (!hasCommitted || entry.total === undefined) return
    entry.total = countChange === null ? undefined : entry.total + countChange
  }

  /** Adds the count changes of the writes to the totals when `committed` resolves. Counts them as in flight until then. */
  const track = async <T>(writes: readonly CountedWrite[], committed: Promise<T>): Promise<T> => {
    let hasCommitted = false
    for (const write of writes) begin(write)
    try {
      const result = await committed
      hasCommitted = true
      return result
    } finally {
      for (const write of writes) end(write, hasCommitted)
    }
  }

  /** Another program has committed: every table is counted again. */
  const clear = () => {
    for (const entry of entries.values()) {
      entry.total = undefined
      entry.version += 1
    }
  }

  return { get, cached, track, clear }
}

export type Totals = ReturnType<typeof createTotals>
