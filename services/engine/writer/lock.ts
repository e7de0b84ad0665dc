import { existsSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import { toPlainError } from '../shared/plain-error.ts'

/** The code of the error if another Rowhouse has the lock. */
export const ALREADY_SERVED = 'ALREADY_SERVED'

const pathOfLock = (file: string) => `${file}-rowhouse-lock`

const explain = (error: unknown, file: string) => {
  const { code, message } = toPlainError(error)
  return code.startsWith('SQLITE_BUSY')
    ? Object.assign(
        new Error(
          `Another Rowhouse serves ${file}. Stop it first, or choose another DATABASE or DATA_DIR. A command reaches it with the same DATA_DIR.`
        ),
        { code: ALREADY_SERVED }
      )
    : new Error(
        `The lock file ${pathOfLock(file)} cannot be opened (${message}). Give this user write permission on it and on its directory.`
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
 * Returns the lock with which only one Rowhouse serves a file. It is SQLite's own, on an empty database next to the file:
 * the operating system releases it when the process ends, even after a crash. Other programs are not locked out.
 */
export const createLock = (file: string) => {
  let lock: BetterSqlite3.Database | undefined
  /** Has no effect if the lock is already taken. @throws an Error with the reason if it cannot be taken */
  const take = () => {
    try {
      lock ??= openLock(pathOfLock(file))
    } catch (error) {
      throw explain(error, file)
    }
  }
  return { exists: () => existsSync(pathOfLock(file)), take, release: () => lock?.close() }
}

export type Lock = ReturnType<typeof createLock>
