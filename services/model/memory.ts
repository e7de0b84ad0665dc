/** Our tables whose rows each service has in memory, without their prefix. */
export const MEMORY_TABLES = ['tables', 'tokens', 'roles', 'admin_keys', 'settings'] as const

/** What a service caches: rows of one of our tables, or the declarations of all tables. */
export type MemoryKind = (typeof MEMORY_TABLES)[number] | 'structure'

/** The id of a row; the name of a setting. */
export type RowId = number | string

/** Cached rows that a unit was made from. null: all rows of the kind. */
export type UsedMemory = readonly [kind: MemoryKind, row: RowId | null]

/** The rows of each kind that other services have changed. A kind without an entry did not change. */
export type MemoryChanges = ReadonlyMap<MemoryKind, readonly RowId[]>
