import { LRUCache } from 'lru-cache'
import type { Database } from '../../engine/database.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { selectLargest } from '../../sql/affected-rows.ts'

/** Bytes. A change of a larger record takes more than about 1 ms, whatever it changes: SQLite writes the whole record. */
export const LARGE_RECORD = 160 * 1024

/** Tables. */
const MAX_SIZES = 1000
/** Other programs may store larger records. */
const LIFETIME_MS = 10 * 60_000

/** Caches which tables have large records: by a sample of the stored records, and by those that were stored since. */
export const createRecordSizes = (db: Database) => {
  const sizes = new LRUCache<number, number>({ max: MAX_SIZES, ttl: LIFETIME_MS })

  const sample = async ({ id, name, structure }: RegisteredTable) => {
    const [row] = await db.read(selectLargest(name, structure))
    const size = Math.max(Number(row?.bytes), sizes.get(id) ?? 0)
    sizes.set(id, size)
    return size > LARGE_RECORD
  }

  return {
    /** Whether a record of the table may be large. Reads a sample if none was read lately. */
    mayBeLarge: (table: RegisteredTable): boolean | Promise<boolean> => {
      const known = sizes.get(table.id)
      return known === undefined ? sample(table) : known > LARGE_RECORD
    },
    /** Adds the size of the values that an operation stores in the table, in bytes and characters. */
    add: ({ id }: RegisteredTable, size: number) => {
      if (size > LARGE_RECORD) sizes.set(id, size)
    },
    /** Forgets the size. */
    clear: ({ id }: RegisteredTable) => {
      sizes.delete(id)
    }
  }
}

export type RecordSizes = ReturnType<typeof createRecordSizes>
