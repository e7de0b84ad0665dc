import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { noBackupsOnCluster } from '../../model/errors.ts'
import type { MemoryChanges } from '../../model/memory.ts'
import type { Row, SqlValue } from '../../model/sql-value.ts'
import type { Statement } from '../../sql/statement.ts'
import type { EngineCounts, WriteBatch } from '../counts.ts'
import type { Database, FileSizes } from '../database.ts'
import { createBulkWrites } from '../loop/bulk-writes.ts'
import { createStagingFiles } from '../loop/staging-files.ts'
import { openConnection } from '../shared/connection.ts'
import { createUnreadText } from '../shared/unread-text.ts'
import { createLock, type Lock } from '../writer/lock.ts'
import { createBatchSender } from './batch-sender.ts'
import { type Client, createRqliteClient, type RqliteOptions } from './client.ts'
import { createRqliteDialect } from './dialect.ts'
import { createEpoch, type Epoch } from './epoch.ts'
import { createHeldReaders } from './held-readers.ts'
import { selectChanges, toChanges } from './memory-changes.ts'
import { createReadBatches } from './read-batches.ts'
import { createScans } from './scans.ts'
import { createSchemaTrials } from './schema-trials.ts'
import { createServiceRows } from './service-rows.ts'
import { createClusterStagings } from './stagings.ts'
import { prepareCluster, warnOfAddresses } from './start.ts'
import { deleteService, type KnownState, selectState, toState } from './state.ts'
import { encodeStatement } from './values.ts'
import { createWriteBatches } from './write-batches.ts'

export interface ClusterOptions extends RqliteOptions {
  /** The directory of files of this service. */
  readonly dataDirectory: string
  /** Called with a sentence about settings that work, but should be corrected. */
  readonly onWarning?: ((message: string) => void) | undefined
  /** Milliseconds between two checks for services that were killed. */
  readonly checkServicesMs?: number
  /** A monotonic clock, in milliseconds. Tests replace it. */
  readonly clock?: () => number
}

const HOUR_MS = 60 * 60 * 1000

/** The name by which files of this service belong to the cluster. */
const CLUSTER = 'cluster'

const refuseBackups = async () => {
  throw noBackupsOnCluster()
}

const SELECT_SIZE: Statement = {
  sql: 'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
  params: []
}

/** Metrics must be readable while the cluster does not respond, so a call returns what the call before it has read. */
const createSizes = (read: Database['read']) => {
  let known: FileSizes | undefined
  const readSizes = async () => {
    const [row] = await read(SELECT_SIZE)
    known = { database: Number(row?.bytes), wal: 0, walRestarts: 0 }
    return known
  }
  const latest = async (): Promise<FileSizes> => {
    const reading = readSizes()
    if (known === undefined) return reading
    reading.catch(() => {})
    return known
  }
  return { latest }
}

const openWith = async (
  client: Client,
  lock: Lock,
  { dataDirectory, onWarning, checkServicesMs = HOUR_MS, clock = () => performance.now() }: ClusterOptions
): Promise<Database> => {
  const id = randomUUID()
  const mark = await prepareCluster(client, id)
  client.setMark(mark)
  // A start does not fail because of this check.
  if (onWarning) await warnOfAddresses(client, onWarning).catch(() => {})

  const commitListeners: (() => void)[] = []
  const batchListeners: ((batch: WriteBatch) => void)[] = []
  let reload: (changes: MemoryChanges | null) => Promise<unknown> = async () => {}
  let hasDeferredKeys = false
  const readDeferredKeys = async () => {
    const [rows] = await client.query([
      { sql: "SELECT 1 FROM sqlite_schema WHERE sql LIKE '%INITIALLY%DEFERRED%' LIMIT 1", params: [] }
    ])
    hasDeferredKeys = rows?.[0] !== undefined
  }

  const onExternalCommit = () => {
    for (const listener of commitListeners) listener()
  }

  // The parts refer to each other.
  let epoch: Epoch
  const shared = { client, epoch: () => epoch, id }
  const sender = createBatchSender(shared)
  await sender.start()
  const readState = async () => {
    const [rows] = await client.query([selectState(id)])
    return toState(rows?.[0])
  }
  const readChanges = async (known: KnownState) => {
    const [rows, changed] = await client.query([selectState(id), selectChanges(known)])
    const state = toState(rows?.[0])
    return { state, changes: state.unrecorded === known.unrecorded ? toChanges(changed as readonly Row[]) : null }
  }
  epoch = createEpoch({
    initial: await readState(),
    readChanges,
    settled: sender.settled,
    reload: async (changes) => {
      if (changes?.has('structure') ?? true) await readDeferredKeys()
      await reload(changes)
    },
    onExternalCommit
  })
  await readDeferredKeys()

  const { counts: countReads, read, catchUp } = createReadBatches(shared)
  const { tables, views } = createScans(shared)
  const writes = createWriteBatches({
    sender,
    readState,
    epoch: () => epoch,
    hasDeferredKeys: () => hasDeferredKeys,
    onBatch: (batch) => {
      for (const listener of batchListeners) listener(batch)
    },
    onExternalCommit
  })
  const bulkWrites = createBulkWrites(writes)
  const unread = createUnreadText()
  const stagingFiles = createStagingFiles(dataDirectory, CLUSTER)
  stagingFiles.prepare()
  const sizes = createSizes(read)
  const stagings = createClusterStagings({ stagingFiles, query: client.query })
  const held = createHeldReaders({ stagingFiles, scan: tables.scanNow })
  const heldOfViews = createHeldReaders({ stagingFiles, scan: views.scanNow })
  const trials = createSchemaTrials({ client })
  const local = openConnection({ file: ':memory:', readonly: false, busyTimeout: 0, cacheSize: 1 })

  const counts = (): EngineCounts => ({
    reads: countReads(),
    writes: writes.counts(),
    bulkWrites: bulkWrites.counts(),
    scans: tables.slots.counts(),
    heldReaders: held.countHeld(),
    viewScans: views.slots.counts(),
    viewProcesses: trials.countProcesses(),
    stagings: stagings.counts(),
    unreadCharacters: unread.all(),
    cachedSql: 0,
    cluster: { ...client.counts(), ...epoch.counts() }
  })

  const deleteKilled = createServiceRows({ client, id, clock })
  // The next check repeats one that fails.
  const checking = setInterval(() => deleteKilled().catch(() => {}), checkServicesMs).unref()

  const close = async () => {
    clearInterval(checking)
    await stagings.close()
    held.close()
    heldOfViews.close()
    await trials.close()
    await writes.close()
    local.close()
    try {
      await client.execute(deleteService(id, null).map(encodeStatement))
    } finally {
      await client.close()
      lock.release()
    }
  }
  let closing: Promise<void> | undefined

  return {
    dialect: createRqliteDialect(mark),
    replication: { evaluate: (sql, params) => local.value(`SELECT ${sql}`, params) as SqlValue },
    read,
    readText: async (statement) => {
      const [row] = await read(statement)
      return row === undefined ? null : (Object.values(row)[0] as string | null)
    },
    plan: async (statement) => {
      const steps = await read({ sql: `EXPLAIN QUERY PLAN ${statement.sql}`, params: statement.params })
      return steps.map(({ detail }) => String(detail))
    },
    catchUp,
    scan: tables.scan,
    chunkScan: (caller) => async (statement) => (await tables.scan(statement, caller))[0],
    holdReader: async (caller) => held.hold(caller),
    viewScans: {
      scan: views.scan,
      holdReader: async (caller) => heldOfViews.hold(caller),
      describe: trials.describe
    },
    tryChange: trials.tryChange,
    stage: stagings.stage,
    write: writes.write,
    writeBulk: bulkWrites.writeBulk,
    unread,
    backups: { copy: refuseBackups, check: refuseBackups, restore: refuseBackups },
    fileSizes: sizes.latest,
    onExternalCommit: (listener) => commitListeners.push(listener),
    onStaleMemory: (listener) => {
      reload = listener
    },
    counts,
    onWriteBatch: (listener) => batchListeners.push(listener),
    close: () => {
      closing ??= close()
      return closing
    }
  }
}

/** Opens a cluster of rqlite nodes. @throws an Error that says what to do, also if another service uses the data directory */
export const openCluster = async (options: ClusterOptions): Promise<Database> => {
  const client = createRqliteClient(options)
  const lock = createLock(join(options.dataDirectory, CLUSTER))
  try {
    lock.take()
    return await openWith(client, lock, options)
  } catch (error) {
    await client.close()
    lock.release()
    throw error
  }
}
