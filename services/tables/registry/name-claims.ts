import { clientNameTaken } from '../failures.ts'
import { tableCandidates, takenNames, takeTableName } from '../names/client-names.ts'
import type { TableRegistry } from './registry.ts'

interface Claim {
  /** The table that the name is for; null for one that is being registered. */
  readonly table: number | null
  readonly clientName: string
}

/**
 * Names of tables for clients, between the choice of a name and its commit: concurrent requests get different names.
 * One process serves the file (docs/decisions/0005-one-process-per-file.md), so memory is enough.
 */
export const createNameClaims = (registry: TableRegistry) => {
  const claims = new Set<Claim>()

  const namesOfOthers = (table: number | null) => [
    ...registry.clientNames(table),
    ...[...claims].filter((claim) => table === null || claim.table !== table).map(({ clientName }) => clientName)
  ]

  const hold = async <T>(held: readonly Claim[], work: () => Promise<T>): Promise<T> => {
    for (const claim of held) claims.add(claim)
    try {
      return await work()
    } finally {
      for (const claim of held) claims.delete(claim)
    }
  }

  return {
    /** Chooses a name for each of the tables, and holds the names until `work` has ended. */
    give: async <T>(stored: readonly string[], work: (clientNames: readonly string[]) => Promise<T>): Promise<T> => {
      const first = registry.all().length + 1
      const candidates = await Promise.all(stored.map((name, index) => tableCandidates(name, first + index)))
      // From here to `hold` nothing is awaited.
      const taken = takenNames(namesOfOthers(null))
      const given = candidates.map((candidateOf) => takeTableName(candidateOf, taken))
      const held = given.map((clientName) => ({ table: null, clientName }))
      return hold(held, () => work(given))
    },
    /** Holds a name that an administrator chose. @throws UNIQUE_VIOLATION */
    claim: async <T>(table: number, clientName: string, work: () => Promise<T>): Promise<T> => {
      if (takenNames(namesOfOthers(table)).isTaken(clientName)) {
        throw clientNameTaken('/clientName', clientName, 'another table')
      }
      return hold([{ table, clientName }], work)
    }
  }
}

export type NameClaims = ReturnType<typeof createNameClaims>
