/** A transaction of the writer thread. */
export interface WriteBatch {
  readonly units: number
  /** Time from the arrival of the first unit to the begin of the transaction. */
  readonly waitMs: number
  /** Time of the statements and of the fsync. */
  readonly commitMs: number
}

export interface ReadCounts {
  readonly reads: number
  readonly batches: number
  /** Reads that wait for the next batch. */
  readonly pending: number
}

export interface WriteCounts {
  /** Units since the start, without those that were refused. */
  readonly accepted: number
  /** Units that are not settled. */
  readonly pending: number
  /** Characters and bytes of their parameters. */
  readonly pendingSize: number
  /** Units that were refused with OVERLOADED. */
  readonly refused: number
}

export interface BulkCounts {
  /** Large units that wait. */
  readonly waiting: number
  readonly refused: number
}

export interface ScanCounts {
  readonly running: number
  readonly waiting: number
  /** Scans that were refused with OVERLOADED. */
  readonly refused: number
}

export interface StagingCounts {
  readonly running: number
  readonly started: number
}

export interface ClusterCounts {
  /** The address of the node that gets the requests: the leader, if it is known. */
  readonly node: string
  /** Requests that were sent again. */
  readonly retries: number
  /** How often tables, tokens or settings were read again. */
  readonly reloads: number
  /** Milliseconds that requests have waited for these reloads. */
  readonly waitMs: number
}

/** The finished work of the engine since the start, and the pending work. */
export interface EngineCounts {
  readonly reads: ReadCounts
  readonly writes: WriteCounts
  readonly bulkWrites: BulkCounts
  /** Scans in reader threads, without those in held ones. */
  readonly scans: ScanCounts
  /** Reader threads that an export holds. */
  readonly heldReaders: number
  /** Statements on SQL views. */
  readonly viewScans: ScanCounts
  readonly viewProcesses: number
  /** Files of imports. */
  readonly stagings: StagingCounts
  /** Characters of large responses that clients have not read yet. */
  readonly unreadCharacters: number
  /** Characters of SQL whose statements the connection of the event loop caches. */
  readonly cachedSql: number
  /** null: one file. */
  readonly cluster: ClusterCounts | null
}
