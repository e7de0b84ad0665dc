import { API_VERSION } from '../../model/version.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Connection } from '../shared/connection.ts'

/** The prefix of the tables of this service, which are in the same file as the tables that it serves. */
export const RESERVED_PREFIX = '_rowhouse_'

/**
 * The choices in a `structure` of version 1. Its columns are read by their paths: an element that is not an object gives
 * nulls, which later make one table unusable, where `->` on the element would fail. SQLite 3.54 needs the outer `json((…))`.
 */
const CHOICES_OF_STRUCTURE = `json_object('version', 1, 'autoTimestamps', structure -> '$.autoTimestamps', 'fields', json((
  SELECT json_group_array(json(iif(structure ->> (path || '.isPrimary'),
    json_insert(field, '$.isNullableKey', structure -> (path || '.nullable')), field)) ORDER BY position)
  FROM (SELECT key AS position, fullkey AS path, json_object(
      'name', structure -> (fullkey || '.name'), 'label', structure -> (fullkey || '.label'),
      'jsonType', structure -> (fullkey || '.jsonType'), 'isHidden', structure -> (fullkey || '.isHidden'),
      'isReadonly', structure -> (fullkey || '.isReadonly')) AS field
    FROM temp.json_each(structure, '$.columns')))))`

/**
 * One entry per version. Each runs in a transaction of its own, and is never edited once released. The version is stored
 * in a table of this service: `user_version` and `application_id` of an imported file belong to its application.
 */
export const migrations: readonly (readonly string[])[] = [
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
  ],
  // Creates the table again: ALTER TABLE fails if a view of the file is broken (https://sqlite.org/lang_altertable.html).
  [
    'CREATE TABLE _rowhouse_old_tables AS SELECT * FROM _rowhouse_tables',
    "CREATE TABLE _rowhouse_old_sequence AS SELECT seq FROM sqlite_sequence WHERE name = '_rowhouse_tables'",
    'DROP TABLE _rowhouse_tables',
    `CREATE TABLE _rowhouse_tables (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL UNIQUE COLLATE NOCASE,
      label TEXT NOT NULL,
      note TEXT,
      choices TEXT NOT NULL,
      is_published INTEGER NOT NULL,
      is_editable INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    ) STRICT`,
    `INSERT INTO _rowhouse_tables
      SELECT id, name, label, note, iif(json_valid(structure), ${CHOICES_OF_STRUCTURE}, structure),
        is_published, is_editable, created_at, updated_at
      FROM _rowhouse_old_tables`,
    "DELETE FROM sqlite_sequence WHERE name = '_rowhouse_tables'",
    "INSERT INTO sqlite_sequence (name, seq) SELECT '_rowhouse_tables', seq FROM _rowhouse_old_sequence",
    'DROP TABLE _rowhouse_old_tables',
    'DROP TABLE _rowhouse_old_sequence'
  ],
  [
    "ALTER TABLE _rowhouse_tokens ADD COLUMN integers TEXT NOT NULL DEFAULT 'auto' CHECK (integers IN ('auto', 'number', 'string'))"
  ],
  // Choices of version 2, which services/tables/registry/choices-upgrade.ts writes. An older Rowhouse could not read
  // them.
  [],
  // `number`: 1, 2, … for each caller. `total_bytes`: of this row and all earlier ones of its caller.
  [
    `CREATE TABLE _rowhouse_retries (
      id INTEGER PRIMARY KEY,
      caller TEXT NOT NULL,
      number INTEGER NOT NULL,
      key TEXT NOT NULL,
      digest TEXT NOT NULL,
      results TEXT NOT NULL,
      total_bytes INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      UNIQUE (caller, number),
      UNIQUE (caller, key)
    ) STRICT`,
    'CREATE INDEX _rowhouse_retries_created_at ON _rowhouse_retries (created_at)'
  ],
  [
    "ALTER TABLE _rowhouse_sessions ADD COLUMN address TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE _rowhouse_sessions ADD COLUMN user_agent TEXT NOT NULL DEFAULT ''"
  ],
  // `tables`: the ids of the tables of the request, with a space before and after each.
  [
    'CREATE INDEX _rowhouse_sessions_expires_at ON _rowhouse_sessions (expires_at)',
    "ALTER TABLE _rowhouse_retries ADD COLUMN tables TEXT NOT NULL DEFAULT ''",
    'CREATE INDEX _rowhouse_retries_tables ON _rowhouse_retries (tables)'
  ],
  // `table_id`: NULL until a new table exists. `total_rows`: of the file.
  [
    `CREATE TABLE _rowhouse_imports (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      table_id INTEGER,
      table_name TEXT NOT NULL,
      is_new_table INTEGER NOT NULL,
      file TEXT,
      format TEXT NOT NULL,
      caller_kind TEXT NOT NULL,
      caller_name TEXT NOT NULL,
      state TEXT NOT NULL,
      stored_rows INTEGER NOT NULL,
      total_rows INTEGER NOT NULL,
      error TEXT,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    ) STRICT`
  ],
  // What later statements of a unit use. A table with a rowid would change `last_insert_rowid()`.
  [
    'CREATE TABLE _rowhouse_unit_values (part INTEGER PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID',
    `CREATE TABLE _rowhouse_unit_results (
      operation INTEGER NOT NULL,
      position INTEGER NOT NULL,
      changes INTEGER NOT NULL,
      record TEXT,
      PRIMARY KEY (operation, position)
    ) STRICT, WITHOUT ROWID`
  ],
  // `count`: of the failed logins that a row stands for, otherwise 1. `target_id`: NULL if the change created the target.
  [
    `CREATE TABLE _rowhouse_audit (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      at INTEGER NOT NULL,
      caller_kind TEXT NOT NULL,
      caller_id INTEGER NOT NULL,
      caller_name TEXT NOT NULL,
      address TEXT NOT NULL,
      request_id TEXT NOT NULL,
      action TEXT NOT NULL,
      target TEXT NOT NULL,
      target_id INTEGER,
      summary TEXT NOT NULL CHECK (json_type(summary) = 'object'),
      count INTEGER NOT NULL
    ) STRICT`,
    'CREATE INDEX _rowhouse_audit_at ON _rowhouse_audit (at)'
  ],
  // `value`: JSON.
  [
    `CREATE TABLE _rowhouse_settings (
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL,
      updated_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`
  ],
  // `grants` and `claims`: JSON. A token has a role, or permissions.
  [
    `CREATE TABLE _rowhouse_roles (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL UNIQUE COLLATE NOCASE,
      grants TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    ) STRICT`,
    'ALTER TABLE _rowhouse_tokens ADD COLUMN role_id INTEGER REFERENCES _rowhouse_roles (id)',
    "ALTER TABLE _rowhouse_tokens ADD COLUMN claims TEXT NOT NULL DEFAULT '{}'",
    'CREATE INDEX _rowhouse_tokens_role_id ON _rowhouse_tokens (role_id)'
  ],
  // `scopes`: JSON.
  [
    `CREATE TABLE _rowhouse_admin_keys (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL,
      digest TEXT NOT NULL UNIQUE,
      key_prefix TEXT NOT NULL,
      scopes TEXT NOT NULL,
      expires_at INTEGER,
      last_used_at INTEGER,
      created_at INTEGER NOT NULL
    ) STRICT`
  ],
  // `rate_limit` and `networks`: JSON. `previous_digest`: of the previous secret, valid until `previous_until`.
  // `day`: such as 2026-01-31, in UTC.
  [
    'ALTER TABLE _rowhouse_tokens ADD COLUMN rate_limit TEXT',
    'ALTER TABLE _rowhouse_tokens ADD COLUMN networks TEXT',
    'ALTER TABLE _rowhouse_tokens ADD COLUMN previous_digest TEXT',
    'ALTER TABLE _rowhouse_tokens ADD COLUMN previous_until INTEGER',
    `CREATE TABLE _rowhouse_token_uses (
      token_id INTEGER NOT NULL REFERENCES _rowhouse_tokens (id) ON DELETE CASCADE,
      day TEXT NOT NULL,
      requests INTEGER NOT NULL,
      refused INTEGER NOT NULL,
      failed INTEGER NOT NULL,
      PRIMARY KEY (token_id, day)
    ) STRICT, WITHOUT ROWID`
  ]
]

export const CREATE_META =
  'CREATE TABLE IF NOT EXISTS _rowhouse_meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID'

export const HAS_META = "SELECT 1 FROM sqlite_schema WHERE name = '_rowhouse_meta'"

/** max() returns NULL without a row. */
export const SELECT_VERSION = "SELECT max(value) AS version FROM _rowhouse_meta WHERE key = 'version'"

/** Stores the version of our tables, and that of this program. */
export const storeVersion = (version: number): Statement => ({
  sql: "INSERT OR REPLACE INTO _rowhouse_meta VALUES ('version', ?), ('program', ?)",
  params: [BigInt(version), API_VERSION]
})

const currentVersion = (connection: Connection) => {
  const hasTable = connection.value(HAS_META) !== undefined
  return hasTable ? Number(connection.value(SELECT_VERSION)) : 0
}

/** The version of our tables after all migrations. */
export const LATEST_VERSION = migrations.length

/** Selects the first version of Rowhouse that can use the file, which has stored it. */
export const NEEDED_PROGRAM =
  "SELECT coalesce(max(value) || ' or later', 'in a later version') AS program FROM _rowhouse_meta WHERE key = 'program'"

/** `name`: of the file or of the cluster. */
export const newerVersion = (name: string, version: number, program: string) =>
  new Error(
    `${name} was last used by a newer Rowhouse (its schema has version ${version}, this one supports ${LATEST_VERSION}). Start Rowhouse ${program}.`
  )

/** Returns the version of our tables, 0 without them. Writes nothing. @throws if a newer Rowhouse has written to the file */
export const readVersion = (connection: Connection) => {
  const version = currentVersion(connection)
  if (version <= LATEST_VERSION) return version
  throw newerVersion(connection.raw.name, version, String(connection.value(NEEDED_PROGRAM)))
}

/** Whether the file has tables of an older Rowhouse. A file without any is only added to. */
export const isOlder = (version: number) => version > 0 && version < LATEST_VERSION

/** @throws if a newer Rowhouse has written to the file */
export const migrate = (connection: Connection) => {
  const { run } = connection
  const version = readVersion(connection)
  run(CREATE_META, [])
  for (const [index, statements] of migrations.entries()) {
    if (index < version) continue
    connection.raw.transaction(() => {
      for (const sql of statements) connection.raw.exec(sql)
      const { sql, params } = storeVersion(index + 1)
      run(sql, params)
    })()
  }
}
