import type { Database } from '../engine/database.ts'
import type { Statement } from '../sql/statement.ts'
import { inUnits } from './units.ts'

/** The use of a token or an admin key, in memory. */
export interface Used {
  readonly id: number
  lastUsedAt: number | null
  /** The stored value of `lastUsedAt`. */
  savedUse: number | null
}

export type CredentialsTable = '_rowhouse_tokens' | '_rowhouse_admin_keys'

/** One statement for any number of uses keeps the unit short. */
const saveLastUses = (
  table: CredentialsTable,
  uses: readonly (readonly [id: number, usedAt: number])[]
): Statement => ({
  sql: `UPDATE ${table} SET last_used_at = max(use.value ->> 1, ifnull(last_used_at, 0))
    FROM temp.json_each(?) AS use WHERE ${table}.id = use.value ->> 0`,
  params: [JSON.stringify(uses)]
})

interface LastUsesOptions {
  readonly db: Database
  readonly table: CredentialsTable
  /** Returns the entry in memory, which may be another one after a write. */
  readonly find: (id: number) => Used | undefined
}

const isUnsaved = ({ lastUsedAt, savedUse }: Used) => lastUsedAt !== savedUse

/**
 * Creates the functions that record and save the times of the last uses. A flush visits only the entries that were used since
 * the last one.
 */
export const createLastUses = ({ db, table, find }: LastUsesOptions) => {
  /** Contains the id of each entry with a use that is not saved. */
  const used = new Set<number>()

  const record = (entry: Used, now: number) => {
    if (!isUnsaved(entry)) used.add(entry.id)
    entry.lastUsedAt = now
  }

  /** Keeps a use that has not been saved yet when the entry is read from the disk. `known`: the entry in memory. */
  const keepLatest = (entry: Used, known: Used | undefined) => {
    const usedAt = known?.lastUsedAt ?? 0
    if (usedAt <= (entry.lastUsedAt ?? 0)) return
    entry.lastUsedAt = usedAt
    used.add(entry.id)
  }

  /** Sets the stored time of the last use, which another service may have set. */
  const setSaved = (entry: Used, usedAt: number | null) => {
    entry.savedUse = usedAt
    if ((entry.lastUsedAt ?? 0) <= (usedAt ?? 0)) entry.lastUsedAt = usedAt
    else used.add(entry.id)
  }

  const unsaved = (id: number) => {
    const entry = find(id)
    return entry && isUnsaved(entry) ? entry : undefined
  }

  const saveUnit = async (ids: readonly number[]) => {
    const entries = ids.flatMap((id) => unsaved(id) ?? [])
    const uses = entries.map(({ id, lastUsedAt }) => [id, lastUsedAt as number] as const)
    if (uses.length > 0) await db.write([saveLastUses(table, uses)], { keepsMemory: true })
    for (const [id, usedAt] of uses) {
      const entry = find(id)
      if (entry) entry.savedUse = usedAt
    }
    for (const id of ids) if (!unsaved(id)) used.delete(id)
  }

  /** Saves the uses since the previous call. If this fails, the next call saves them. */
  const flush = async () => {
    for (const ids of inUnits([...used])) await saveUnit(ids)
  }

  return { record, keepLatest, setSaved, flush }
}
