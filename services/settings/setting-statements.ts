import type { Statement } from '../sql/statement.ts'

export const listSettings: Statement = { sql: 'SELECT name, value FROM _rowhouse_settings', params: [] }

/** `value`: JSON. */
export const storeSetting = (name: string, value: string, now: number): Statement => ({
  sql: `INSERT INTO _rowhouse_settings (name, value, updated_at) VALUES (?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
  params: [name, value, BigInt(now)]
})

export const deleteSetting = (name: string): Statement => ({
  sql: 'DELETE FROM _rowhouse_settings WHERE name = ?',
  params: [name]
})
