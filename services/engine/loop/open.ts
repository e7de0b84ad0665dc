import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Database } from '../database.ts'
import { openConnection } from '../shared/connection.ts'
import { createSqliteDialect } from '../shared/sqlite-dialect.ts'
import { lockFile } from './lock.ts'
import { createReadBatches } from './read-batches.ts'
import { createReaderPool } from './reader-pool.ts'
import { startWriter } from './writer-client.ts'

export interface DatabaseOptions {
  /** The SQLite file; created where there is none. Its directory exists. */
  readonly file: string
  /** MiB of pages that each connection of the event loop and the writer may keep in memory. */
  readonly cacheSize: number
  /** MiB of WAL after which it is copied into the file. */
  readonly walSize: number
  /** Whether so few connections are open that gathering the reads of a turn does not pay. */
  readonly isQuiet: () => boolean
  /** The writer thread has ended unasked. The process should stop and be started again. */
  readonly onDeath: (cause: Error) => void
}

/** MiB; scans walk through tables rather than come back to pages, and there are several readers. */
const READER_CACHE_SIZE = 16
const WRITER_BUSY_TIMEOUT_MS = 2000

/** One file has one lock, by whatever path it is reached. */
const canonicalPath = (file: string) =>
  existsSync(file) ? realpathSync(file) : join(realpathSync(dirname(file)), basename(file))

/** The engine. @throws an Error with the reason when the file cannot be trusted or is served already. */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const { file, cacheSize, walSize, isQuiet, onDeath } = options
  const path = canonicalPath(file)
  const lock = lockFile(path)
  const listeners: (() => void)[] = []
  const onExternalCommit = () => {
    for (const listener of listeners) listener()
  }

  const writer = await startWriter(
    { file: path, readonly: false, busyTimeout: WRITER_BUSY_TIMEOUT_MS, cacheSize, walSize },
    { onExternalCommit, onDeath }
  ).catch((error) => {
    lock.release()
    throw error
  })
  const connection = openConnection({ file: path, readonly: true, busyTimeout: 0, cacheSize })
  const turn = createReadBatches(connection, isQuiet)
  const readers = createReaderPool({ file: path, cacheSize: READER_CACHE_SIZE })

  const close = async () => {
    await readers.close()
    // The writer closes last: the last connection to go folds the WAL into the file and removes it.
    connection.close()
    await writer.close()
    lock.release()
  }
  let closing: Promise<void> | undefined

  return {
    dialect: createSqliteDialect(),
    ...turn,
    scan: readers.scan,
    holdReader: async () => readers.hold(),
    write: writer.write,
    onExternalCommit: (listener) => listeners.push(listener),
    close: () => {
      closing ??= close()
      return closing
    }
  }
}
