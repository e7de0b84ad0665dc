import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { textLiteral } from '../../sql/identifiers.ts'
import { type Connection, type ConnectionOptions, openConnection } from '../shared/connection.ts'
import { toPlainError } from '../shared/plain-error.ts'
import { migrate } from './migrations.ts'

/**
 * 3.51.3 has the fix of the WAL-reset bug (https://sqlite.org/wal.html#walresetbug); 3.53 is the first whose JSON
 * shows doubles with all of their bits.
 */
const OLDEST_SQLITE = [3, 53, 0] as const

/** Magic numbers of statfs(2) for file systems whose locks and shared memory cannot carry a WAL database. */
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

/** @throws below 3.53 */
export const assertVersion = (version: string) => {
  const parts = version.split('.').map(Number)
  const difference = OLDEST_SQLITE.map((oldest, index) => (parts[index] ?? 0) - oldest).find((part) => part !== 0) ?? 0
  if (difference < 0) {
    throw new Error(
      `SQLite ${version} rounds numbers in JSON, and before 3.51.3 may lose committed data when its WAL is reset. Install better-sqlite3 with SQLite 3.53 or newer.`
    )
  }
}

/** `type`: the file system's, as statfs(2) gives it. @throws on a network file system */
export const assertLocalDisk = (file: string, type: number) => {
  const network = NETWORK_FILE_SYSTEMS.get(type)
  if (network)
    throw new Error(`${file} is on a network file system (${network}). Put it on a local disk: SQLite's WAL needs one.`)
}

const damaged = (file: string, verdict: string) =>
  new Error(
    `${file} is damaged, or not a SQLite database (${verdict.replaceAll('\n', ' ')}). Restore it from a backup.`
  )

/** null where SQLite cannot tell: the schema needs a function, collation or module that only its application has. */
const quickCheck = (connection: Connection, argument: string) => {
  try {
    return String(connection.value(`PRAGMA quick_check(${argument})`))
  } catch (error) {
    if (toPlainError(error).code.startsWith('SQLITE_ERROR')) return null
    throw error
  }
}

/** The whole file; where that cannot be checked at once, each of its tables that can. */
const check = (connection: Connection) => {
  const whole = quickCheck(connection, '1')
  if (whole !== null) return whole
  const tables = connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table'", [])
  const verdicts = tables.map(({ name }) => quickCheck(connection, textLiteral(String(name))) ?? 'ok')
  return verdicts.find((verdict) => verdict !== 'ok') ?? 'ok'
}

/** @throws when the file is damaged, or the disk does not let it be read */
export const assertIntact = (connection: Connection, file: string) => {
  const verdict = check(connection)
  if (verdict !== 'ok') throw damaged(file, verdict)
}

/** null where a change in another journal mode was under way, and must be taken back first by who can write. */
const openAsLeft = (options: WriterOptions) => {
  try {
    return openConnection({ ...options, readonly: true })
  } catch (error) {
    if (toPlainError(error).code === 'SQLITE_READONLY_ROLLBACK') return null
    throw error
  }
}

/**
 * Whether the file was checked as it was left, on a connection that cannot write: as it closes, one that can folds the
 * WAL into the file, damaged or not, and removes it, and with it the mark of an unclean end. @throws when it is damaged
 */
const isIntactAsLeft = (options: WriterOptions) => {
  const connection = openAsLeft(options)
  if (!connection) return false
  try {
    assertIntact(connection, options.file)
  } finally {
    connection.close()
  }
  return true
}

/** Settings can be undone by the first write (see the build option DEFAULT_WAL_SYNCHRONOUS), so it is written first. */
const assertDurable = (connection: Connection) => {
  connection.run("INSERT OR REPLACE INTO _rowhouse_meta VALUES ('started_at', ?)", [BigInt(Date.now())])
  const journal = connection.value('PRAGMA journal_mode')
  const synchronous = connection.value('PRAGMA synchronous')
  if (journal !== 'wal' || synchronous !== 2) {
    throw new Error(
      `SQLite did not keep journal_mode=WAL and synchronous=FULL (it says ${String(journal)}, ${String(synchronous)}).`
    )
  }
}

const explain = (error: unknown, file: string) => {
  const { code, message } = toPlainError(error)
  if (/^SQLITE_(?:CORRUPT|NOTADB)/.test(code)) return damaged(file, message)
  return code.startsWith('SQLITE_BUSY') ? new Error(`Another program holds ${file}. Stop it, then start again.`) : error
}

const prepare = (connection: Connection, { file, walSize }: WriterOptions, isTrusted: boolean) => {
  assertVersion(String(connection.value('SELECT sqlite_version()')))
  if (!isTrusted) assertIntact(connection, file)
  connection.raw.pragma('journal_mode = WAL')
  connection.raw.pragma('synchronous = FULL')
  const pageSize = Number(connection.value('PRAGMA page_size'))
  connection.raw.pragma(`wal_autocheckpoint = ${Math.ceil((walSize * 2 ** 20) / pageSize)}`)
  migrate(connection)
  assertDurable(connection)
}

const openPrepared = (options: WriterOptions) => {
  const { file } = options
  const wasAbandoned = existsSync(`${file}-wal`) && existsSync(file)
  const isTrusted = !wasAbandoned || isIntactAsLeft(options)
  const connection = openConnection(options)
  try {
    prepare(connection, options, isTrusted)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Opens the one connection that writes, having made sure that the file can be trusted with what it is told. */
export const openWriter = (options: WriterOptions): Connection => {
  const { file } = options
  assertLocalDisk(file, statfsSync(dirname(file)).type)
  try {
    return openPrepared(options)
  } catch (error) {
    throw explain(error, file)
  }
}
