import type { MemoryChanges } from '../../model/memory.ts'
import type { ClusterState, KnownState } from './state.ts'

/** A state, and what has changed since an earlier one. null: anything may have changed. */
export interface StateWithChanges {
  readonly state: ClusterState
  readonly changes: MemoryChanges | null
}

interface EpochOptions {
  readonly initial: ClusterState
  /** Reads the state of the cluster, and what has changed since a known one. */
  readonly readChanges: (known: KnownState) => Promise<StateWithChanges>
  /** Resolves when no write of this service is in flight: its own changes move the epoch, too. */
  readonly settled: () => Promise<unknown>
  /** Reads again what the service has in memory of these rows. null: all of them. */
  readonly reload: (changes: MemoryChanges | null) => Promise<unknown>
  /** Called if another service has stored a batch. */
  readonly onExternalCommit: () => void
}

const isSame = (one: KnownState, other: KnownState) => one.epoch === other.epoch && one.change === other.change

/** Compares what the service has in memory with the state of the cluster, by the epoch and its change. */
export const createEpoch = ({ initial, readChanges, settled, reload, onExternalCommit }: EpochOptions) => {
  let known: KnownState = initial
  let { otherBatches } = initial
  let reloads = 0
  let waitMs = 0
  let running: Promise<void> | undefined

  const reloadChanges = async () => {
    reloads += 1
    const { state, changes } = await readChanges(known)
    await reload(changes)
    // What changes during the reload moves the epoch again.
    known = state
  }

  const startReload = () => {
    running = reloadChanges().finally(() => {
      running = undefined
    })
    return running
  }

  /**
   * Whether memory is at least as new as a state. `since`: what was known before the state was read. If the epoch of the state is
   * lower, the cluster was restored.
   */
  const isCurrent = (state: KnownState, since: KnownState) =>
    isSame(state, known) || (state.epoch < known.epoch && (state.epoch > since.epoch || isSame(state, since)))

  const waitForReload = async (state: KnownState, since: KnownState) => {
    // A batch of this service may have moved the epoch, and not be acknowledged yet.
    if (state.epoch > known.epoch) await settled()
    while (!isCurrent(state, since)) {
      if (!running) return startReload()
      // It may have begun before the state was read.
      await running
    }
  }

  /** Resolves when memory is as new as a state. `since`: what was known before the state was read. */
  const catchUp = async (state: KnownState, since: KnownState): Promise<void> => {
    if (isCurrent(state, since)) return
    const start = performance.now()
    try {
      await waitForReload(state, since)
    } finally {
      waitMs += performance.now() - start
    }
  }

  const compareBatches = (state: ClusterState) => {
    if (state.otherBatches === otherBatches) return
    otherBatches = state.otherBatches
    onExternalCommit()
  }

  return {
    known: () => known,
    /** Moves the known state by the changes of a stored batch of this service, which expected the known state. */
    add: (moves: number, change: string) => {
      known = { ...known, epoch: known.epoch + moves, change }
    },
    compareBatches,
    /** Whether memory has changes that a response with this state does not have. */
    isOlder: ({ epoch }: KnownState) => epoch < known.epoch,
    catchUp,
    counts: () => ({ reloads, waitMs })
  }
}

export type Epoch = ReturnType<typeof createEpoch>
