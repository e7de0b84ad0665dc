import { type Connection, openConnection } from '../shared/connection.ts'
import { checkIntegrity } from '../shared/integrity.ts'
import { toPlainError } from '../shared/plain-error.ts'
import { LATEST_VERSION, migrate, readVersion } from '../writer/migrations.ts'
import { type BrokenObject, compileAll } from './compilation.ts'
import { copyOwnRows, ownObjects } from './own-tables.ts'
import { copySchema, readDeclared } from './schema-copy.ts'

/** What a newer version of Rowhouse changes in a file. */
export interface UpgradeReport {
  /** The version of the tables of Rowhouse; 0 without them. */
  readonly version: number
  readonly latestVersion: number
  /** Tables and indexes of Rowhouse that a start creates, changes or removes. */
  readonly upgrade: readonly string[]
}

/** What a check of a file has found. */
export interface FileReport extends UpgradeReport {
  /** The first damage that SQLite has found; null without one. */
  readonly damage: string | null
  /** Tables with rows whose foreign keys refer to no row. */
  readonly foreignKeys: readonly { readonly table: string; readonly rows: number }[]
  /** What SQLite cannot compile. */
  readonly broken: readonly BrokenObject[]
}

const BUSY_TIMEOUT_MS = 2000
const CACHE_SIZE_MIB = 64

const VIOLATIONS =
  'SELECT "table", count(*) AS rows FROM temp.pragma_foreign_key_check GROUP BY "table" ORDER BY "table"'

const foreignKeysOf = (connection: Connection) =>
  connection.rows(VIOLATIONS, []).map(({ table, rows }) => ({ table: String(table), rows: Number(rows) }))

/** Migrates the copy. Returns the names of what differs after that. */
const upgradeIn = (copy: Connection) => {
  const before = ownObjects(copy)
  migrate(copy)
  const after = ownObjects(copy)
  const names = [...new Set([...before.keys(), ...after.keys()])]
  return names.filter((name) => before.get(name) !== after.get(name))
}

const reportSchema = (source: Connection) => {
  const version = readVersion(source)
  const copy = copySchema(readDeclared(source))
  try {
    const { broken } = compileAll(copy)
    copyOwnRows(source, copy)
    return { broken, version, latestVersion: LATEST_VERSION, upgrade: upgradeIn(copy) }
  } finally {
    copy.close()
  }
}

const withSource = <T>(file: string, use: (source: Connection) => T) => {
  const source = openConnection({ file, readonly: true, busyTimeout: BUSY_TIMEOUT_MS, cacheSize: CACHE_SIZE_MIB })
  try {
    return use(source)
  } finally {
    source.close()
  }
}

/**
 * Checks a file on a connection that cannot write. Blocks the thread until all pages are read.
 * @throws an Error if the file cannot be opened, or if a newer Rowhouse has written to it
 */
export const reportFile = (file: string): FileReport =>
  withSource(file, (source) => {
    const result = checkIntegrity(source, 'integrity_check')
    return { damage: result === 'ok' ? null : result, foreignKeys: foreignKeysOf(source), ...reportSchema(source) }
  })

const explain = (version: number, error: unknown) =>
  new Error(
    `The upgrade from version ${version} to ${LATEST_VERSION} would fail: ${toPlainError(error).message}. The file was not changed.`
  )

const upgradeCopy = (source: Connection) => {
  const copy = copySchema(readDeclared(source))
  try {
    copyOwnRows(source, copy)
    return upgradeIn(copy)
  } finally {
    copy.close()
  }
}

/**
 * Migrates a copy in memory, which has the schema of the file and the rows of our own tables. A migration reads and changes
 * nothing else. @throws an Error if it fails, or if the file cannot be opened
 */
export const tryUpgrade = (file: string): UpgradeReport =>
  withSource(file, (source) => {
    const version = readVersion(source)
    try {
      return { version, latestVersion: LATEST_VERSION, upgrade: upgradeCopy(source) }
    } catch (error) {
      throw explain(version, error)
    }
  })
