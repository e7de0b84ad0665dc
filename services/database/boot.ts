import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Connection, type ConnectionOptions, openConnection } from './connection.ts'
import { migrate } from './migrations.ts'

/** The first release with the fix of the WAL-reset bug: https://sqlite.org/wal.html#walresetbug */
const OLDEST_SQLITE = [3, 51, 3] as const

/** Magic numbers of statfs(2) for file systems whose locks and shared memory cannot carry a WAL database. */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS']
])

const assertVersion = (version: string) => {
  const parts = version.split('.').map(Number)
  const difference = OLDEST_SQLITE.map((oldest, index) => (parts[index] ?? 0) - oldest).find((part) => part !== 0) ?? 0
  if (difference < 0) {
    throw new Error(
      `SQLite ${version} may lose committed data when its WAL is reset. Install better-sqlite3 with SQLite 3.51.3 or newer.`
    )
  }
}

const assertLocalDisk = (file: string) => {
  const network = NETWORK_FILE_SYSTEMS.get(statfsSync(dirname(file)).type)
  if (network)
    throw new Error(`${file} is on a network file system (${network}). Put it on a local disk: SQLite's WAL needs one.`)
}

const assertIntact = (connection: Connection, file: string) => {
  const verdict = connection.value('PRAGMA quick_check(1)')
  if (verdict !== 'ok') throw new Error(`${file} is damaged (${String(verdict)}). Restore it from a backup.`)
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

/** Opens the one connection that writes, having made sure that the file can be trusted with what it is told. */
export const openWriter = (options: ConnectionOptions): Connection => {
  const { file } = options
  assertLocalDisk(file)
  const closedCleanly = !existsSync(`${file}-wal`)
  const connection = openConnection(options)
  try {
    assertVersion(String(connection.value('SELECT sqlite_version()')))
    if (!closedCleanly) assertIntact(connection, file)
    connection.raw.pragma('journal_mode = WAL')
    connection.raw.pragma('synchronous = FULL')
    migrate(connection)
    assertDurable(connection)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}
