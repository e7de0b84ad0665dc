import { MEMORY_TABLES, type MemoryChanges, type MemoryKind, type RowId, type UsedMemory } from '../../model/memory.ts'
import type { Row } from '../../model/sql-value.ts'
import type { Statement } from '../../sql/statement.ts'
import { CHANGE, EPOCH, failIf, type KnownState, UNRECORDED } from './state.ts'

/** Changes that the table keeps. */
const MAX_CHANGES = 10_000
/** A service that has more rows to read loads all of them. */
const MAX_ROWS = 1000

/** Each change adds one row of this kind, even if it changes no row of memory. */
const MOVE = 'move'

/** Its times of use are saved without a change of memory. */
const hasUses = (table: string) => table === 'tokens' || table === 'admin_keys'

const triggersOf = (table: (typeof MEMORY_TABLES)[number]) => {
  const id = table === 'settings' ? 'name' : 'id'
  return (['INSERT', 'UPDATE', 'DELETE'] as const).map((event) => {
    const when = event === 'UPDATE' && hasUses(table) ? ' WHEN new.last_used_at IS old.last_used_at' : ''
    return `CREATE TRIGGER IF NOT EXISTS _rowhouse_${table}_${event.toLowerCase()} AFTER ${event} ON _rowhouse_${table}${when} BEGIN
      INSERT OR IGNORE INTO _rowhouse_memory_changes VALUES (${EPOCH}, ${CHANGE}, '${table}', ${event === 'DELETE' ? 'old' : 'new'}.${id}); END`
  })
}

/**
 * The table of changes of what services have in memory. `number`: the epoch that the change has made, `id`: the random id of the
 * change, `kind` and `row`: what changed. Triggers add the rows, so no statement is missed. A service whose last known
 * change is in the table reloads only the rows with a higher `number`.
 */
export const CHANGES_TABLE = [
  `CREATE TABLE IF NOT EXISTS _rowhouse_memory_changes
    (number INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, row ANY NOT NULL, PRIMARY KEY (number, kind, row)) STRICT, WITHOUT ROWID`,
  ...MEMORY_TABLES.flatMap(triggersOf)
]

const recordKind = (kind: string): Statement => ({
  sql: `INSERT OR IGNORE INTO _rowhouse_memory_changes VALUES (${EPOCH}, ${CHANGE}, '${kind}', '')`,
  params: []
})

/** Records the present epoch, so that the next change is not the first one. */
export const recordEpoch = recordKind(MOVE)

const RECORDED = "name IN ('epoch', 'recorded')"

/**
 * Moves the epoch, before the statements that change memory. `id`: a random text, so that two changes differ that make the same
 * epoch, one before and one after a restore of the cluster.
 */
export const recordChange = (id: string, isStructure: boolean): readonly Statement[] => [
  {
    sql: `UPDATE _rowhouse_state SET value = iif(${RECORDED}, value + 1, ?)
      WHERE ${RECORDED} OR name IN ('change'${isStructure ? ", 'structure'" : ''})`,
    params: [id]
  },
  recordEpoch,
  ...(isStructure ? [recordKind('structure')] : []),
  { sql: `DELETE FROM _rowhouse_memory_changes WHERE number <= ${EPOCH} - ${MAX_CHANGES}`, params: [] }
]

/** Selects the change that has made the known state, and what has changed since. */
export const selectChanges = ({ epoch, change }: KnownState): Statement => ({
  sql: `SELECT kind, row FROM _rowhouse_memory_changes
    WHERE number >= ? AND iif(number = ?, kind = '${MOVE}' AND id = ?, kind <> '${MOVE}')
    ORDER BY number LIMIT ${MAX_ROWS + 2}`,
  params: [BigInt(epoch), BigInt(epoch), change]
})

/** The boundary where a row gets its type. */
const toChange = ({ kind, row }: Row) => ({ kind: kind as MemoryKind, row: row as RowId })

/** Returns what has changed since a known state; null if its change is not in the table, or if too many rows have changed. */
export const toChanges = ([first, ...rows]: readonly Row[]): MemoryChanges | null => {
  if (first?.kind !== MOVE || rows.length > MAX_ROWS) return null
  const changes = new Map<MemoryKind, RowId[]>()
  for (const { kind, row } of rows.map(toChange)) {
    const ids = changes.get(kind)
    if (ids) ids.push(row)
    else changes.set(kind, [row])
  }
  return changes
}

/** Fails the transaction if any of the used memory may have changed since the known state. */
export const expectMemory = ({ epoch, change, unrecorded }: KnownState, used: readonly UsedMemory[]): Statement => ({
  sql: failIf(`(${EPOCH}, ${CHANGE}) <> (?, ?) AND (${UNRECORDED} <> ?
    OR NOT EXISTS (SELECT 1 FROM _rowhouse_memory_changes WHERE number = ? AND kind = '${MOVE}' AND id = ?)
    OR EXISTS (SELECT 1 FROM _rowhouse_memory_changes AS changed, temp.json_each(?) AS used
      WHERE changed.number > ? AND changed.kind = used.value ->> 0 AND ifnull(changed.row = used.value ->> 1, TRUE)))`),
  params: [BigInt(epoch), change, BigInt(unrecorded), BigInt(epoch), change, JSON.stringify(used), BigInt(epoch)]
})
