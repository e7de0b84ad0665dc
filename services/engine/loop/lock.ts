import BetterSqlite3 from 'better-sqlite3'
import { toPlainError } from '../shared/plain-error.ts'

const explain = (error: unknown, file: string) => {
  const { code, message } = toPlainError(error)
  return code.startsWith('SQLITE_BUSY')
    ? new Error(`Another Rowhouse serves ${file}. Stop it first, or choose another DATABASE or DATA_DIR.`)
    : new Error(
        `The lock file of ${file} cannot be opened (${message}). Give this user write permission on the directory.`
      )
}

const openLock = (file: string) => {
  const lock = new BetterSqlite3(file, { timeout: 0 })
  try {
    lock.pragma('locking_mode = EXCLUSIVE')
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    throw error
  }
}

/**
 * Makes sure that only one Rowhouse serves a file. The lock is SQLite's own, on an empty database next to the file: the
 * operating system releases it when the process ends, even after a crash. Other programs are not locked out.
 */
export const lockFile = (file: string) => {
  try {
    const lock = openLock(`${file}-rowhouse-lock`)
    return { release: () => lock.close() }
  } catch (error) {
    throw explain(error, file)
  }
}
