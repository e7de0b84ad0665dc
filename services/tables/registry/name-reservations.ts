import { clientNameTaken } from '../failures.ts'
import { tableCandidates, takenNames, takeTableName } from '../names/client-names.ts'
import type { TableRegistry } from './registry.ts'

interface ReservedName {
  /** The table that the name is for; null for one that is being registered. */
  readonly table: number | null
  readonly clientName: string
}

/**
 * Reserves client names of tables from the choice of a name to its commit, so that concurrent requests get different
 * names. One process serves the file (docs/decisions/0005-one-process-per-file.md), so memory is enough.
 */
export const createNameReservations = (registry: TableRegistry) => {
  const reserved = new Set<ReservedName>()

  const namesOfOthers = (table: number | null) => [
    ...registry.clientNames(table),
    ...[...reserved].filter((name) => table === null || name.table !== table).map(({ clientName }) => clientName)
  ]

  const runReserved = async <T>(names: readonly ReservedName[], work: () => Promise<T>): Promise<T> => {
    for (const name of names) reserved.add(name)
    try {
      return await work()
    } finally {
      for (const name of names) reserved.delete(name)
    }
  }

  return {
    /** Chooses a client name for each of the tables, and reserves the names until `work` has ended. */
    reserveFree: async <T>(
      stored: readonly string[],
      work: (clientNames: readonly string[]) => Promise<T>
    ): Promise<T> => {
      const first = registry.all().length + 1
      const candidates = await Promise.all(stored.map((name, index) => tableCandidates(name, first + index)))
      // From here to `runReserved` nothing is awaited.
      const taken = takenNames(namesOfOthers(null))
      const clientNames = candidates.map((candidateOf) => takeTableName(candidateOf, taken))
      const names = clientNames.map((clientName) => ({ table: null, clientName }))
      return runReserved(names, () => work(clientNames))
    },
    /** Reserves a name that an administrator chose until `work` has ended. @throws UNIQUE_VIOLATION */
    reserve: async <T>(table: number, clientName: string, work: () => Promise<T>): Promise<T> => {
      if (takenNames(namesOfOthers(table)).isTaken(clientName)) {
        throw clientNameTaken('/clientName', clientName, 'another table')
      }
      return runReserved([{ table, clientName }], work)
    }
  }
}

export type NameReservations = ReturnType<typeof createNameReservations>
