import type { ClusterState } from './state.ts'

interface EpochOptions {
  readonly initial: ClusterState
  /** Resolves when no write of this service is in flight: its own changes move the epoch, too. */
  readonly settled: () => Promise<unknown>
  /** Reads again what the service has in memory. */
  readonly reload: () => Promise<unknown>
  /** Called if another service has stored a batch. */
  readonly onExternalCommit: () => void
}

/** Compares what the service has in memory with the state of the cluster, by the epoch. */
export const createEpoch = ({ initial, settled, reload, onExternalCommit }: EpochOptions) => {
  let { epoch: known, otherBatches } = initial
  let reloads = 0
  let running: Promise<void> | undefined

  const reloadFrom = async (epoch: number) => {
    reloads += 1
    await reload()
    // What changes during the reload moves the epoch again.
    known = epoch
  }

  const startReload = (epoch: number) => {
    running ??= reloadFrom(epoch).finally(() => {
      running = undefined
    })
    return running
  }

  /**
   * Resolves when memory is as new as this state, which was read after the call, or is not older than memory.
   */
  const catchUp = async (state: ClusterState): Promise<void> => {
    // The epoch is lower than that of memory: the cluster was restored from a backup.
    if (state.epoch < known) return startReload(state.epoch)
    // A batch of this service may have moved the epoch, and not be acknowledged yet.
    if (state.epoch > known) await settled()
    while (state.epoch > known) await (running ?? startReload(state.epoch))
  }

  const compareBatches = (state: ClusterState) => {
    if (state.otherBatches === otherBatches) return
    otherBatches = state.otherBatches
    onExternalCommit()
  }

  return {
    known: () => known,
    /** Adds by how much a stored batch of this service has moved the epoch. */
    add: (moves: number) => {
      known += moves
    },
    compareBatches,
    /** Whether memory has changes that a response with this state does not have. */
    isOlder: ({ epoch }: ClusterState) => epoch < known,
    catchUp,
    counts: () => ({ reloads })
  }
}

export type Epoch = ReturnType<typeof createEpoch>
