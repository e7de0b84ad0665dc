import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { EngineCounts, WriteBatch } from '../counts.ts'
import type { Database, Upgrade } from '../database.ts'
import { openConnection } from '../shared/connection.ts'
import { createSqliteDialect } from '../shared/sqlite-dialect.ts'
import { createUnreadText } from '../shared/unread-text.ts'
import { LATEST_VERSION } from '../writer/migrations.ts'
import { createBackups } from './backups.ts'
import { createBulkWrites } from './bulk-writes.ts'
import { fileSizes } from './file-sizes.ts'
import { createReadBatches } from './read-batches.ts'
import { createReaderPool } from './reader-pool.ts'
import { createServedRecord } from './served-record.ts'
import { createStagingFiles } from './staging-files.ts'
import { createStagings } from './stagings.ts'
import { createTrials } from './trials.ts'
import { createViewScans } from './view-scans.ts'
import { startWriter } from './writer-client.ts'

export interface DatabaseOptions {
  /** The SQLite file; created if it does not exist. Its directory must exist. */
  readonly file: string
  /** The directory of our other files; created if it does not exist. */
  readonly dataDirectory: string
  /** MiB of database pages that the event loop's and the writer's connection may each cache. */
  readonly cacheSize: number
  /** MiB of WAL after which its pages are copied into the file. */
  readonly walSize: number
  /** Returns true while so few connections are open that a read batch costs more than it saves. */
  readonly isQuiet: () => boolean
  /** Called if the writer thread ends unexpectedly. The process should then stop and be restarted. */
  readonly onDeath: (cause: Error) => void
  /** Makes a backup of a file that an older Rowhouse has used. If this rejects, the file is not changed. */
  readonly beforeUpgrade: (upgrade: Upgrade) => Promise<void>
}

/**
 * MiB. Small, because there are several readers and a scan rarely reads a page twice. It is also the size of the parts that
 * SQLite sorts in memory. Nothing stops such a sort: it takes up to 90 ms for 2 MiB, and 540 ms for 16 MiB.
 */
const READER_CACHE_SIZE = 2
const WRITER_BUSY_TIMEOUT_MS = 2000

/** A file has one lock, also when it is opened through a symbolic link. */
const canonicalPath = (file: string) =>
  existsSync(file) ? realpathSync(file) : join(realpathSync(dirname(file)), basename(file))

/** Opens the engine. @throws an Error with the reason if the file is damaged, locked, replaced or already served */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const { file, dataDirectory, cacheSize, walSize, isQuiet, onDeath, beforeUpgrade } = options
  const path = canonicalPath(file)
  const servedRecord = createServedRecord(dataDirectory, path)
  servedRecord.check()
  const listeners: (() => void)[] = []
  const onExternalCommit = () => {
    for (const listener of listeners) listener()
  }

  const batchListeners: ((batch: WriteBatch) => void)[] = []
  const onBatch = (batch: WriteBatch) => {
    for (const listener of batchListeners) listener(batch)
  }

  const onUpgrade = async (from: number) => {
    const { database, wal } = await fileSizes(path)
    const copy = (target: string) => backups.copy(target, () => {}, true)
    await beforeUpgrade({ from, to: LATEST_VERSION, bytes: database + wal, copy })
  }

  const unread = createUnreadText()
  const starting = startWriter(
    { file: path, readonly: false, busyTimeout: WRITER_BUSY_TIMEOUT_MS, cacheSize, walSize, unread },
    { onUpgrade, onBatch, onExternalCommit, onDeath }
  )
  const stagingFiles = createStagingFiles(dataDirectory, path)
  const pauseWrites = async () => (await starting).pause()
  const backups = createBackups({ servedFile: path, stagingFiles, pauseWrites })
  const writer = await starting
  stagingFiles.prepare()
  servedRecord.write()
  const connection = openConnection({ file: path, readonly: true, busyTimeout: 0, cacheSize })
  const { counts: countReads, ...readBatches } = createReadBatches(connection, isQuiet)
  const readers = createReaderPool({ file: path, cacheSize: READER_CACHE_SIZE })
  const viewScans = createViewScans({ file: path, cacheSize: READER_CACHE_SIZE })

  const bulkWrites = createBulkWrites(writer)
  const stagings = createStagings({ servedFile: path, stagingFiles, attach: writer.attach })

  const counts = (): EngineCounts => ({
    reads: countReads(),
    writes: writer.counts(),
    bulkWrites: bulkWrites.counts(),
    scans: readers.counts(),
    heldReaders: readers.countHeld(),
    viewScans: viewScans.counts(),
    viewProcesses: viewScans.countProcesses(),
    stagings: stagings.counts(),
    unreadCharacters: unread.all(),
    cachedSql: connection.countCachedSql(),
    cluster: null
  })

  const close = async () => {
    await stagings.close()
    await Promise.all([readers.close(), viewScans.close(), backups.close()])
    // The writer closes last: the last connection that closes copies the WAL into the file and removes it.
    connection.close()
    await writer.close()
  }
  let closing: Promise<void> | undefined

  return {
    dialect: createSqliteDialect(),
    replication: null,
    ...readBatches,
    scan: readers.scan,
    chunkScan: readers.chunkScan,
    holdReader: async (caller) => readers.hold(caller),
    viewScans,
    tryChange: createTrials({ file: path, read: readBatches.read, tryInProcess: viewScans.tryChange }),
    write: writer.write,
    writeBulk: bulkWrites.writeBulk,
    unread,
    stage: stagings.stage,
    backups,
    catchUp: null,
    onExternalCommit: (listener) => listeners.push(listener),
    // The listener logs its failures. Memory is older than the file until it has ended: another program may write at any time.
    onStaleMemory: (listener) => listeners.push(() => listener(null).catch(() => {})),
    fileSizes: () => fileSizes(path),
    counts,
    onWriteBatch: (listener) => batchListeners.push(listener),
    close: () => {
      closing ??= close()
      return closing
    }
  }
}
