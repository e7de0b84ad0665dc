import type { Database } from '../engine/database.ts'
import type { Statement } from '../sql/statement.ts'

/** The use of a token or an admin key, in memory. */
export interface Used {
  readonly id: number
  lastUsedAt: number | null
  /** The stored value of `lastUsedAt`. */
  savedUse: number | null
}

export type UsesTable = '_rowhouse_tokens' | '_rowhouse_admin_keys'

/** One statement for any number of uses keeps the unit short. */
const saveUses = (table: UsesTable, uses: readonly (readonly [id: number, usedAt: number])[]): Statement => ({
  sql: `UPDATE ${table} SET last_used_at = max(use.value ->> 1, ifnull(last_used_at, 0))
    FROM temp.json_each(?) AS use WHERE ${table}.id = use.value ->> 0`,
  params: [JSON.stringify(uses)]
})

/** Keeps a use that has not been saved yet when the entry is read from the disk. `known`: the entry in memory. */
export const withLatestUse = <T extends Used>(entry: T, known: Used | undefined): T => {
  const usedAt = known?.lastUsedAt ?? 0
  if (usedAt > (entry.lastUsedAt ?? 0)) entry.lastUsedAt = usedAt
  return entry
}

/**
 * Saves the uses since the previous call. If this fails, the next call saves them. `entries` returns those in memory, which
 * may be others after the write.
 */
export const flushUses = async (db: Database, table: UsesTable, entries: () => ReadonlyMap<number, Used>) => {
  const used = [...entries().values()].filter(({ lastUsedAt, savedUse }) => lastUsedAt !== savedUse)
  if (used.length === 0) return
  const uses = used.map(({ id, lastUsedAt }) => [id, lastUsedAt as number] as const)
  await db.write([saveUses(table, uses)], { keepsMemory: true })
  for (const [id, usedAt] of uses) {
    const entry = entries().get(id)
    if (entry) entry.savedUse = usedAt
  }
}
