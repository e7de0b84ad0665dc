import BetterSqlite3 from 'better-sqlite3'

/**
 * Makes sure that one Rowhouse serves a file. The lock is SQLite's own, on an empty database beside the file: the
 * operating system takes it back when the process ends, however it ends. Other programs are not kept out.
 */
export const lockFile = (file: string) => {
  const lock = new BetterSqlite3(`${file}-rowhouse-lock`, { timeout: 0 })
  try {
    lock.pragma('locking_mode = EXCLUSIVE')
    lock.exec('BEGIN EXCLUSIVE')
  } catch {
    lock.close()
    throw new Error(`Another Rowhouse serves ${file}. Stop it first, or choose another DATABASE or DATA_DIR.`)
  }
  return { release: () => lock.close() }
}
