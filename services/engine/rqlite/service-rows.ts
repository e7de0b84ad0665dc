import type { Client } from './client.ts'
import { deleteService, selectServices } from './state.ts'
import { encodeStatement } from './values.ts'

const DAY_MS = 24 * 60 * 60 * 1000

interface ServiceRowsOptions {
  readonly client: Pick<Client, 'execute' | 'query'>
  /** Of this service. */
  readonly id: string
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number
}

interface SeenRow {
  readonly batch: number
  readonly since: number
}

/**
 * Creates the function that deletes the rows of services that were killed: those whose batch stayed the same for a day. To be called
 * from time to time. A service that has stored no batch for a day inserts its row again with the next one.
 */
export const createServiceRows = ({ client, id, clock }: ServiceRowsOptions) => {
  let seen = new Map<string, SeenRow>()

  return async () => {
    const [rows = []] = await client.query([selectServices(id)])
    const now = clock()
    const toSeen = (service: string, batch: number): SeenRow => {
      const before = seen.get(service)
      return before?.batch === batch ? before : { batch, since: now }
    }
    seen = new Map(rows.map((row) => [String(row.id), toSeen(String(row.id), Number(row.batch))]))
    for (const [service, { batch, since }] of seen)
      if (now - since >= DAY_MS) await client.execute(deleteService(service, batch).map(encodeStatement))
  }
}
