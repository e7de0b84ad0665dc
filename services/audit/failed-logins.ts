import type { Database } from '../engine/database.ts'
import type { Clock } from '../model/clock.ts'
import { type AuditCaller, auditRow } from './audit-row.ts'

/** An attacker with many networks must not fill the disk. One row is for all networks beyond the limit. */
const MAX_ROWS = 100

/** The network of the row for all networks beyond the limit. */
const OTHERS = ''

/** An IPv6 network of `networkOf` has the first four groups of its addresses. */
const toAddress = (network: string) => (network.includes(':') ? `${network}::/64` : network)

const anonymousAt = (network: string): AuditCaller => ({
  kind: 'anonymous',
  id: 0,
  name: '',
  address: toAddress(network),
  requestId: ''
})

/**
 * Counts failed logins by the network of the client, and stores the counts at intervals: a row for each login would let
 * anybody write as fast as the disk. The names that were tried are not kept: people type passwords into the wrong field.
 */
export const createFailedLogins = ({ db, clock }: { readonly db: Database; readonly clock: Clock }) => {
  let counts = new Map<string, number>()

  const add = (network: string, count: number) => {
    const isFull = !counts.has(network) && counts.size >= MAX_ROWS - 1
    const counted = isFull ? OTHERS : network
    counts.set(counted, (counts.get(counted) ?? 0) + count)
  }

  /** Stores the counts since the last flush: one row for each network, at most 100 rows. If this fails, the next one does. */
  const flush = async () => {
    if (counts.size === 0) return
    const flushed = counts
    counts = new Map()
    const now = clock()
    try {
      await db.write(
        [...flushed].map(([network, count]) => auditRow(anonymousAt(network), now, { action: 'login.failed', count }))
      )
    } catch (error) {
      for (const [network, count] of flushed) add(network, count)
      throw error
    }
  }

  return { record: (network: string) => add(network, 1), flush }
}

export type FailedLogins = ReturnType<typeof createFailedLogins>
