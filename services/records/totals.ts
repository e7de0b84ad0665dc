import type { ScanCaller as Caller, Database } from '../engine/database.ts'
import { foldName } from '../model/names.ts'
import type { RegisteredTable } from '../model/table.ts'
import { countRows, countUpTo } from '../sql/lists.ts'

interface Entry {
  /** undefined: to be counted. */
  total: number | undefined
  writesUnderWay: number
  /** Moves with everything that may change the number of rows. */
  version: number
}

/** Rows that may be counted on the event loop. */
const SMALL_TABLE = 1000

interface TotalsOptions {
  readonly db: Database
  /** Whether only our own inserts and deletes can change the number of rows of the table. */
  readonly isCountable: (table: RegisteredTable) => boolean
}

/**
 * How many rows each table has, remembered: it halves the cost of a list. Kept right by the change counts of our own
 * writes. A count that ran beside a write may or may not have seen it, so it is answered but not remembered.
 */
export const createTotals = ({ db, isCountable }: TotalsOptions) => {
  const entries = new Map<string, Entry>()

  const entryOf = ({ name }: RegisteredTable): Entry => {
    const key = foldName(name)
    const known = entries.get(key)
    if (known) return known
    const entry = { total: undefined, writesUnderWay: 0, version: 0 }
    entries.set(key, entry)
    return entry
  }

  /** Small tables are counted on the event loop: their lists wait for no search of a large one. */
  const countNow = async (table: RegisteredTable, caller?: Caller) => {
    const [few] = await db.read(countUpTo(table, SMALL_TABLE + 1))
    if (Number(few?.total) <= SMALL_TABLE) return Number(few?.total)
    const [row] = await db.scan(countRows({ table, dialect: db.dialect, filter: null }), caller)
    return Number(row?.total)
  }

  const count = async (table: RegisteredTable, entry: Entry, caller?: Caller) => {
    const { version } = entry
    const wasQuiet = entry.writesUnderWay === 0
    const total = await countNow(table, caller)
    if (wasQuiet && entry.writesUnderWay === 0 && entry.version === version && isCountable(table)) entry.total = total
    return total
  }

  const get = async (table: RegisteredTable, caller?: Caller): Promise<number> => {
    const entry = entryOf(table)
    return entry.total !== undefined && isCountable(table) ? entry.total : count(table, entry, caller)
  }

  /** Follows a write that adds `delta` rows if it succeeds. */
  const follow = async <T>(table: RegisteredTable, delta: number, write: Promise<T>): Promise<T> => {
    const entry = entryOf(table)
    entry.writesUnderWay += 1
    try {
      const result = await write
      if (entry.total !== undefined) entry.total += delta
      return result
    } finally {
      entry.writesUnderWay -= 1
      entry.version += 1
    }
  }

  /** Somebody else has written: every table is to be counted again. */
  const forget = () => {
    for (const entry of entries.values()) {
      entry.total = undefined
      entry.version += 1
    }
  }

  return { get, follow, forget }
}

export type Totals = ReturnType<typeof createTotals>
