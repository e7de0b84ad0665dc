import { closeSync, fsyncSync, openSync } from 'node:fs'
import { type Connection, openConnection } from '../shared/connection.ts'
import { checkPages } from '../shared/integrity.ts'
import { toPlainError } from '../shared/plain-error.ts'
import { LATEST_VERSION } from '../writer/migrations.ts'
import { isDatabase, markWithoutWal } from './single-file.ts'

/** MiB. */
const CACHE_SIZE = 8

export const invalidBackup = (message: string) => Object.assign(new Error(message), { code: 'BACKUP_INVALID' })

const damaged = (reason: string) => invalidBackup(`The file is damaged: ${reason.replaceAll('\n', ' ')}.`)

/** A view or a virtual table has no root page. Reading a view of an unknown file may not end. */
const HAS_OUR_TABLES = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = '_rowhouse_meta'"

const assertNotNewer = ({ value }: Connection) => {
  if (value(HAS_OUR_TABLES) === undefined)
    throw invalidBackup('The file is not a backup of Rowhouse: it has no table _rowhouse_meta.')
  const version = Number(value("SELECT max(value) FROM _rowhouse_meta WHERE key = 'version'"))
  if (version > LATEST_VERSION)
    throw invalidBackup(
      `The file is of a newer Rowhouse: its tables have version ${version}, this one supports ${LATEST_VERSION}.`
    )
}

const checkContent = (connection: Connection) => {
  connection.raw.pragma('cell_size_check = ON')
  const result = checkPages(connection)
  if (result !== 'ok') throw damaged(result)
  assertNotNewer(connection)
}

const check = (file: string) => {
  const connection = openConnection({ file, readonly: true, busyTimeout: 0, cacheSize: CACHE_SIZE })
  try {
    checkContent(connection)
  } finally {
    connection.close()
  }
}

const explain = (error: unknown) => {
  const { code, message } = toPlainError(error)
  return /^SQLITE_(?:CORRUPT|NOTADB|ERROR)/.test(code) ? damaged(message) : error
}

/**
 * Checks a file of an unknown source, on a connection that only reads and does not trust its schema. The file is durable
 * when this returns. @throws BACKUP_INVALID
 */
export const checkBackup = (file: string) => {
  const descriptor = openSync(file, 'r+')
  try {
    if (!isDatabase(descriptor)) throw invalidBackup('The file is not a SQLite database.')
    markWithoutWal(descriptor)
    check(file)
    fsyncSync(descriptor)
  } catch (error) {
    throw explain(error)
  } finally {
    closeSync(descriptor)
  }
}
