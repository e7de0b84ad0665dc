import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Connection, type ConnectionOptions, openConnection } from '../shared/connection.ts'
import { checkIntegrity, hideFullText } from '../shared/integrity.ts'
import { toPlainError } from '../shared/plain-error.ts'
import { readRepeatedGrants } from '../shared/stored-grants.ts'
import { isOlder, migrate, readVersion } from './migrations.ts'

/**
 * 3.51.3 fixes the WAL-reset bug (https://sqlite.org/wal.html#walresetbug). 3.53 is the first version whose JSON has
 * doubles with all of their bits.
 */
const MIN_SQLITE = [3, 53, 0] as const

/** Magic numbers of statfs(2) for file systems whose locks and shared memory do not work for a WAL database. */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS']
])

export interface WriterOptions extends ConnectionOptions {
  /** MiB of WAL after which its pages are copied into the file. */
  readonly walSize: number
}

/** What the writer thread is started with. */
export interface WriterThreadData extends WriterOptions {
  /** The memory of the count of unread text. */
  readonly unread: SharedArrayBuffer
  /** An UpgradeState. */
  readonly upgrade: SharedArrayBuffer
}

/** Whether the writer thread may migrate the file. It waits for the backup until this changes. */
export const UpgradeState = { waiting: 0, allowed: 1, refused: 2 } as const

/** @throws below 3.53 */
export const assertVersion = (version: string) => {
  const parts = version.split('.').map(Number)
  const difference = MIN_SQLITE.map((min, index) => (parts[index] ?? 0) - min).find((part) => part !== 0) ?? 0
  if (difference < 0) {
    throw new Error(
      `SQLite ${version} rounds numbers in JSON, and before 3.51.3 may lose committed data when its WAL is reset. Install a better-sqlite3 with SQLite 3.53 or newer.`
    )
  }
}

/** `type`: the file system's magic number from statfs(2). @throws on a network file system */
export const assertLocalDisk = (file: string, type: number) => {
  const network = NETWORK_FILE_SYSTEMS.get(type)
  if (network)
    throw new Error(
      `${file} is on a network file system (${network}). Move it to a local disk: SQLite's WAL needs one.`
    )
}

const assertAccess = (path: string, mode: number, advice: string) => {
  try {
    accessSync(path, mode)
  } catch (error) {
    throw new Error(`This user cannot write to ${path} (${toPlainError(error).code}). ${advice}`)
  }
}

/**
 * SQLite opens a file without write permission as read-only, and fails later. It names the WAL after the path, so a file
 * may have only one. @throws an Error that names the path
 */
export const assertWritable = (file: string) => {
  const { R_OK, W_OK, X_OK } = constants
  assertAccess(dirname(file), W_OK | X_OK, `SQLite keeps the write-ahead log of ${file} there. Give it the permission.`)
  if (!existsSync(file)) return
  const stats = statSync(file)
  if (!stats.isFile()) throw new Error(`${file} is not a file. Name a SQLite database.`)
  if (stats.nlink > 1) {
    throw new Error(
      `${file} has ${stats.nlink} names (hard links). A program that opens another one would not find the write-ahead log and could damage the file. Serve a copy, or remove the other names.`
    )
  }
  assertAccess(file, R_OK | W_OK, 'Give it the permission to read and write this file.')
}

const damaged = (file: string, result: string) =>
  new Error(`${file} is damaged, or not a SQLite database (${result.replaceAll('\n', ' ')}). Restore it from a backup.`)

/** @throws if the file is damaged, or if reading it fails */
export const assertIntact = (connection: Connection, file: string) => {
  const result = checkIntegrity(connection)
  if (result !== 'ok') throw damaged(file, result)
}

/** Returns null if the file has a hot rollback journal, which only a connection that can write can roll back. */
const openReadOnly = (options: WriterOptions) => {
  try {
    return openConnection({ ...options, readonly: true })
  } catch (error) {
    if (toPlainError(error).code === 'SQLITE_READONLY_ROLLBACK') return null
    throw error
  }
}

/**
 * Checks the file on a connection that cannot write. A connection that can write copies the WAL into the file and
 * removes it when it closes, even into a damaged file; the next start would then not check the file again.
 * Returns false if the file could not be opened this way. @throws if it is damaged, or of a newer Rowhouse
 */
const checkReadOnly = (options: WriterOptions) => {
  const connection = openReadOnly(options)
  if (!connection) return false
  try {
    hideFullText(connection)
    assertIntact(connection, options.file)
    readVersion(connection)
  } finally {
    connection.close()
  }
  return true
}

/** Writes before it checks: the first write can change the setting (build option DEFAULT_WAL_SYNCHRONOUS). */
const assertDurable = (connection: Connection) => {
  connection.run("INSERT OR REPLACE INTO _rowhouse_meta VALUES ('started_at', ?)", [BigInt(Date.now())])
  const journal = connection.value('PRAGMA journal_mode')
  const synchronous = connection.value('PRAGMA synchronous')
  if (journal !== 'wal' || synchronous !== 2) {
    throw new Error(
      `SQLite did not keep journal_mode=WAL and synchronous=FULL for ${connection.raw.name} (they are ${String(journal)} and ${String(synchronous)}).`
    )
  }
}

const explain = (error: unknown, file: string) => {
  const { code, message } = toPlainError(error)
  if (/^SQLITE_(?:CORRUPT|NOTADB)/.test(code)) return damaged(file, message)
  if (code.startsWith('SQLITE_BUSY')) return new Error(`Another program has locked ${file}. Stop it, then start again.`)
  return code.startsWith('SQLITE_') ? new Error(`${file} cannot be opened: ${message} (${code}).`) : error
}

/** @throws an Error if two grants of a role name the same table and action */
const assertUpgradableGrants = (connection: Connection, file: string) => {
  const repeated = readRepeatedGrants(connection)
  if (repeated.length === 0) return
  throw new Error(
    `${file} cannot be upgraded. ${repeated.join(' ')} Start the Rowhouse that last used the file, and join these grants or split their tables: PUT /admin/roles/:id.`
  )
}

/** Only reads: a file that is refused is not changed. Returns the version of our tables. */
const inspect = (connection: Connection, file: string, isChecked: boolean) => {
  assertVersion(String(connection.value('SELECT sqlite_version()')))
  if (!isChecked) assertIntact(connection, file)
  const version = readVersion(connection)
  if (isOlder(version)) assertUpgradableGrants(connection, file)
  return version
}

const prepare = (connection: Connection, walSize: number) => {
  connection.raw.pragma('journal_mode = WAL')
  connection.raw.pragma('synchronous = FULL')
  const pageSize = Number(connection.value('PRAGMA page_size'))
  connection.raw.pragma(`wal_autocheckpoint = ${Math.ceil((walSize * 2 ** 20) / pageSize)}`)
  migrate(connection)
  assertDurable(connection)
}

interface OpenEvents {
  /** Called before the first change, at least once. */
  readonly beforeWrite?: () => void
  /** Called before the tables of an older Rowhouse are migrated, with their version. */
  readonly beforeUpgrade?: (version: number) => void
}

const openPrepared = (options: WriterOptions, { beforeWrite = () => {}, beforeUpgrade = () => {} }: OpenEvents) => {
  const { file } = options
  const isNew = !existsSync(file)
  // Opening creates the file.
  if (isNew) beforeWrite()
  const wasClosedCleanly = isNew || !existsSync(`${file}-wal`)
  const isChecked = wasClosedCleanly || checkReadOnly(options)
  const connection = openConnection(options)
  try {
    const version = inspect(connection, file, isChecked)
    beforeWrite()
    if (isOlder(version)) beforeUpgrade(version)
    prepare(connection, options.walSize)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/**
 * Opens the only connection that writes, after checks of the disk, the SQLite version, the file and durability.
 * @throws an Error that names the file, or the error of an event
 */
export const openWriter = (options: WriterOptions, events: OpenEvents = {}): Connection => {
  const { file } = options
  assertLocalDisk(file, statfsSync(dirname(file)).type)
  assertWritable(file)
  try {
    return openPrepared(options, events)
  } catch (error) {
    throw explain(error, file)
  }
}
