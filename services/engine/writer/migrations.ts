import type { Connection } from '../shared/connection.ts'

/** The prefix of the tables of this service, which are in the same file as the tables that it serves. */
export const RESERVED_PREFIX = '_rowhouse_'

/**
 * One entry per version. Each runs in a transaction of its own, and is never edited once released. The version is stored
 * in a table of this service: `user_version` and `application_id` of an imported file belong to its application.
 */
const migrations: readonly (readonly string[])[] = [
  [
    `CREATE TABLE _rowhouse_admins (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL UNIQUE COLLATE NOCASE,
      nickname TEXT NOT NULL,
      password_hash TEXT NOT NULL,
      must_change_password INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    ) STRICT`,
    `CREATE TABLE _rowhouse_sessions (
      id TEXT PRIMARY KEY,
      admin_id INTEGER NOT NULL REFERENCES _rowhouse_admins (id) ON DELETE CASCADE,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX _rowhouse_sessions_admin ON _rowhouse_sessions (admin_id)',
    `CREATE TABLE _rowhouse_tables (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL UNIQUE COLLATE NOCASE,
      label TEXT NOT NULL,
      note TEXT,
      structure TEXT NOT NULL,
      is_published INTEGER NOT NULL,
      is_editable INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    ) STRICT`,
    `CREATE TABLE _rowhouse_tokens (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL,
      digest TEXT NOT NULL UNIQUE,
      token_prefix TEXT NOT NULL,
      permissions TEXT NOT NULL,
      is_active INTEGER NOT NULL,
      expires_at INTEGER,
      last_used_at INTEGER,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    ) STRICT`
  ]
]

const currentVersion = (connection: Connection) =>
  Number(connection.value("SELECT value FROM _rowhouse_meta WHERE key = 'version'") ?? 0)

/** @throws if a newer Rowhouse has written to the file */
export const migrate = (connection: Connection) => {
  const { run } = connection
  run('CREATE TABLE IF NOT EXISTS _rowhouse_meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID', [])
  const version = currentVersion(connection)
  if (version > migrations.length) {
    throw new Error(
      `The database was last used by a newer Rowhouse (its schema has version ${version}, this one supports ${migrations.length}). Start the newer one.`
    )
  }
  for (const [index, statements] of migrations.entries()) {
    if (index < version) continue
    connection.raw.transaction(() => {
      for (const sql of statements) connection.raw.exec(sql)
      run("INSERT OR REPLACE INTO _rowhouse_meta VALUES ('version', ?)", [BigInt(index + 1)])
    })()
  }
}
