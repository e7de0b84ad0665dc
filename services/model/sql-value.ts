/** A value as SQLite binds and returns it. Integers that must stay exact are bigint. */
export type SqlValue = null | bigint | number | string | Uint8Array

export type Row = Record<string, SqlValue>
