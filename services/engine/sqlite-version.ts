import BetterSqlite3 from 'better-sqlite3'

/** Returns the version of the SQLite library. */
export const sqliteVersion = () => {
  const db = new BetterSqlite3(':memory:')
  const version = db.prepare('SELECT sqlite_version()').pluck().get()
  db.close()
  return String(version)
}
