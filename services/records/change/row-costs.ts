import { LRUCache } from 'lru-cache'
import { foldName } from '../../model/names.ts'
import type { RegisteredTable } from '../../model/table.ts'
import type { RecordChange } from './operation.ts'
import { MAX_MEASURED_MS } from './work.ts'

type Kind = RecordChange['kind']
type Named = Pick<RegisteredTable, 'name'>

/** Changed rows, and the time of their statements in the writer thread. */
interface Measured {
  readonly rows: number
  readonly ms: number
}

interface RowCostsOptions {
  /** Whether triggers, actions of foreign keys or indexes on expressions run for each changed row. */
  readonly isCostly: (table: Named) => boolean
}

/** Tables and kinds of change. */
const MAX_COSTS = 1000
/** A cost that is too high prevents the changes that would correct it, so it expires. */
const LIFETIME_MS = 10 * 60_000
/** Each change multiplies the weight of all earlier ones by this: about the last 100 count. */
const KEPT = 0.99

/** Measures the time of a changed row in costly tables: a moving mean for each table and kind of change, in memory. */
export const createRowCosts = ({ isCostly }: RowCostsOptions) => {
  const costs = new LRUCache<string, Measured>({ max: MAX_COSTS, ttl: LIFETIME_MS })
  const keyOf = ({ name }: Named, kind: Kind) => `${kind} ${foldName(name)}`

  const add = (table: Named, kind: Kind, { rows, ms }: Measured) => {
    if (rows === 0) return
    const key = keyOf(table, kind)
    const before = costs.get(key) ?? { rows: 0, ms: 0 }
    costs.set(key, { rows: KEPT * before.rows + rows, ms: KEPT * before.ms + ms })
  }

  /** Returns milliseconds; undefined if no row was changed lately. */
  const costOf = (table: Named, kind: Kind): number | undefined => {
    const known = costs.get(keyOf(table, kind))
    return known && known.ms / known.rows
  }

  /** Like `costOf`, for refusals: undefined if so little time was measured that a pause of the machine may be most of it. */
  const provenCostOf = (table: Named, kind: Kind): number | undefined =>
    Number(costs.get(keyOf(table, kind))?.ms) >= MAX_MEASURED_MS ? costOf(table, kind) : undefined

  return { isCostly, add, costOf, provenCostOf }
}

export type RowCosts = ReturnType<typeof createRowCosts>
