import type { Statement } from '../sql/statement.ts'

/** The uses of a token on one day. */
export type DayUses = readonly [tokenId: number, requests: number, refused: number, failed: number]

/** Adds uses to those of the day: other services add theirs. Skips a token that was deleted. */
export const addUses = (day: string, uses: readonly DayUses[]): Statement => ({
  sql: `INSERT INTO _rowhouse_token_uses (token_id, day, requests, refused, failed)
    SELECT use.value ->> 0, ?, use.value ->> 1, use.value ->> 2, use.value ->> 3 FROM temp.json_each(?) AS use
    WHERE EXISTS (SELECT 1 FROM _rowhouse_tokens WHERE id = use.value ->> 0)
    ON CONFLICT (token_id, day) DO UPDATE SET
      requests = requests + excluded.requests, refused = refused + excluded.refused, failed = failed + excluded.failed`,
  params: [day, JSON.stringify(uses)]
})

/** Selects the uses of a token on this day and later ones. */
export const selectUses = (tokenId: number, firstDay: string): Statement => ({
  sql: `SELECT day, requests, refused, failed FROM _rowhouse_token_uses WHERE token_id = ? AND day >= ?`,
  params: [BigInt(tokenId), firstDay]
})

/** Tokens that one read looks up. */
const MAX_TOKENS = 1000
/** Rows of one unit. It must not delay other writes. */
const MAX_DELETED = 1000

const TOKENS = `SELECT id FROM _rowhouse_tokens WHERE id > ? ORDER BY id LIMIT ${MAX_TOKENS}`

/**
 * Selects, of the 1,000 tokens after an id, the last id, and whether one of them has uses before a day. The table has no index
 * of days, so each token is looked up.
 */
export const selectPurgeable = (afterId: number, firstDay: string): Statement => ({
  sql: `SELECT max(id) AS last,
    max(EXISTS (SELECT 1 FROM _rowhouse_token_uses WHERE token_id = id AND day < ?)) AS has_old FROM (${TOKENS})`,
  params: [firstDay, BigInt(afterId)]
})

/** Deletes at most 1,000 uses before a day of the 1,000 tokens after an id. */
export const purgeUses = (afterId: number, firstDay: string): Statement => ({
  sql: `DELETE FROM _rowhouse_token_uses WHERE (token_id, day) IN (
    SELECT token_id, day FROM _rowhouse_token_uses WHERE day < ? AND token_id IN (${TOKENS}) LIMIT ${MAX_DELETED})`,
  params: [firstDay, BigInt(afterId)]
})
