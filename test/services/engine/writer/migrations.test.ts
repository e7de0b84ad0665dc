import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { LATEST_VERSION } from '../../../../services/engine/writer/migrations.ts'
import { openWriter } from '../../../../services/engine/writer/open-writer.ts'
import { contentOf, copyOldDatabase } from '../../../old-databases.ts'
import { databaseFile } from '../engine.ts'

/** The registry as version 1 of the schema declared it. */
const OLD_REGISTRY = `
  CREATE TABLE _rowhouse_meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO _rowhouse_meta VALUES ('version', 1);
  CREATE TABLE _rowhouse_tables (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE COLLATE NOCASE, label TEXT NOT NULL, note TEXT,
    structure TEXT NOT NULL, is_published INTEGER NOT NULL, is_editable INTEGER NOT NULL, created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE _rowhouse_tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, digest TEXT NOT NULL UNIQUE, token_prefix TEXT NOT NULL,
    permissions TEXT NOT NULL, is_active INTEGER NOT NULL, expires_at INTEGER, last_used_at INTEGER,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT;
  CREATE TABLE _rowhouse_sessions (
    id TEXT PRIMARY KEY, admin_id INTEGER NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO _rowhouse_sessions VALUES ('session', 1, 5, 6);
  INSERT INTO _rowhouse_tokens VALUES (1, 'Till', 'digest', 'rh_', '{}', 1, NULL, NULL, 5, 6);`

const oldColumn = (name: string, changes: object = {}) => ({
  name,
  label: name,
  sqliteType: 'TEXT',
  jsonType: 'string',
  nullable: true,
  defaultValue: null,
  isPrimary: false,
  isAutoIncrement: false,
  isHidden: false,
  isReadonly: false,
  declaredType: 'TEXT',
  isGenerated: false,
  ...changes
})

const field = (name: string, changes: object = {}) => ({
  name,
  label: name,
  jsonType: 'string',
  isHidden: false,
  isReadonly: false,
  ...changes
})

const migrateRows = (t: Test, structures: readonly string[], more = '') => {
  const file = databaseFile(t)
  const old = new BetterSqlite3(file)
  old.exec(OLD_REGISTRY + more)
  const insert = old.prepare("INSERT INTO _rowhouse_tables VALUES (?, ?, 'L', NULL, ?, 1, 0, 5, 6)")
  for (const [index, structure] of structures.entries()) insert.run(index + 1, `t${index}`, structure)
  old.exec("UPDATE sqlite_sequence SET seq = 41 WHERE name = '_rowhouse_tables'")
  old.close()
  const connection = openWriter({ file, readonly: false, busyTimeout: 50, cacheSize: 8, walSize: 16 })
  t.teardown(() => connection.close())
  return connection
}

t.test('version 2 keeps the choices of each structure, and no facts from SQLite', async (t) => {
  const columns = [
    oldColumn('id', { sqliteType: 'INTEGER', jsonType: 'integer', isPrimary: true, nullable: false }),
    oldColumn('it\'s "odd"', { label: 'ä', jsonType: 'object', isHidden: true, isReadonly: true }),
    oldColumn('')
  ]
  const structure = { columns, isStrict: true, key: ['id'], isRowidKey: true, rowid: 'id', autoTimestamps: true }
  const connection = migrateRows(t, [JSON.stringify(structure)])
  const [row] = connection.rows('SELECT * FROM _rowhouse_tables', [])
  t.strictSame(
    { ...row, choices: JSON.parse(String(row?.choices)) },
    {
      id: 1,
      name: 't0',
      label: 'L',
      note: null,
      choices: {
        version: 1,
        autoTimestamps: true,
        fields: [
          field('id', { jsonType: 'integer', isNullableKey: false }),
          field('it\'s "odd"', { label: 'ä', jsonType: 'object', isHidden: true, isReadonly: true }),
          field('')
        ]
      },
      is_published: 1,
      is_editable: 0,
      created_at: 5,
      updated_at: 6
    }
  )
})

t.test('a structure of 1,000 columns keeps their order', async (t) => {
  const columns = Array.from({ length: 1000 }, (_, index) => oldColumn(`c${index}`))
  const connection = migrateRows(t, [JSON.stringify({ columns, autoTimestamps: false })])
  const { fields } = JSON.parse(String(connection.value('SELECT choices FROM _rowhouse_tables')))
  t.strictSame(
    fields,
    columns.map(({ name }) => field(name))
  )
})

t.test('rows that cannot be read do not stop the migration of the others', async (t) => {
  const good = JSON.stringify({ columns: [oldColumn('a')], autoTimestamps: false })
  const unreadable = [
    '{',
    '',
    '5',
    'null',
    '[]',
    '{}',
    '{"columns":5}',
    '{"columns":["x",5,null,[1]]}',
    '{"columns":{"a":1}}'
  ]
  const connection = migrateRows(t, [...unreadable, good])
  const rows = connection.rows('SELECT choices FROM _rowhouse_tables ORDER BY id', [])
  t.equal(rows.length, unreadable.length + 1)
  t.equal(rows[0]?.choices, '{')
  t.strictSame(JSON.parse(String(rows.at(-1)?.choices)).fields, [field('a')])
})

t.test('ids of tables that were unregistered are not used again', async (t) => {
  const connection = migrateRows(t, ['{}'])
  connection.run("INSERT INTO _rowhouse_tables VALUES (NULL, 'new', '', NULL, '{}', 1, 1, 0, 0)", [])
  t.equal(connection.value("SELECT id FROM _rowhouse_tables WHERE name = 'new'"), 42)
  const tables = connection.rows("SELECT name FROM sqlite_schema WHERE name LIKE '_rowhouse_old%'", [])
  t.strictSame(tables, [])
})

t.test('a broken view of the file does not stop the migration', async (t) => {
  const connection = migrateRows(t, ['{}'], 'CREATE VIEW broken AS SELECT a FROM missing;')
  t.equal(connection.value("SELECT value FROM _rowhouse_meta WHERE key = 'version'"), LATEST_VERSION)
})

t.test('version 3 gives each token the integer format auto', async (t) => {
  const connection = migrateRows(t, [])
  t.strictSame(connection.rows('SELECT id, integers FROM _rowhouse_tokens', []), [{ id: 1, integers: 'auto' }])
})

t.test('version 5 adds the stored retries', async (t) => {
  const connection = migrateRows(t, [])
  t.equal(connection.value('SELECT count(*) FROM _rowhouse_retries'), 0)
})

t.test('version 6 keeps the sessions, with an unknown client', async (t) => {
  const connection = migrateRows(t, [])
  const sessions = connection.rows('SELECT id, address, user_agent FROM _rowhouse_sessions', [])
  t.strictSame(sessions, [{ id: 'session', address: '', user_agent: '' }])
})

t.test('version 8 adds the list of imports', async (t) => {
  const connection = migrateRows(t, [])
  t.equal(connection.value('SELECT count(*) FROM _rowhouse_imports'), 0)
})

t.test('version 10 adds the audit, whose summaries are objects', async (t) => {
  const connection = migrateRows(t, [])
  const insert = (summary: string) =>
    connection.run("INSERT INTO _rowhouse_audit VALUES (NULL, 1, 'admin', 1, 'ada', '', '', 'login', '', NULL, ?, 1)", [
      summary
    ])
  t.throws(() => insert('5'), { code: 'SQLITE_CONSTRAINT_CHECK' })
  insert('{}')
  t.equal(connection.value('SELECT count(*) FROM _rowhouse_audit'), 1)
})

t.test('version 11 adds the settings', async (t) => {
  const connection = migrateRows(t, [])
  const insert = 'INSERT INTO _rowhouse_settings VALUES (?, ?, ?)'
  t.throws(() => connection.run(insert, ['logLevel', null, 1n]), { code: 'SQLITE_CONSTRAINT_NOTNULL' })
  connection.run(insert, ['logLevel', '"info"', 1n])
  t.equal(connection.value('SELECT value FROM _rowhouse_settings'), '"info"')
})

t.test('version 13 adds the admin keys', async (t) => {
  const connection = migrateRows(t, [])
  const insert = `INSERT INTO _rowhouse_admin_keys (name, digest, key_prefix, scopes, created_at) VALUES ('CI', ?, 'rha_', ?, 1)`
  connection.run(insert, ['digest', '[]'])
  t.throws(() => connection.run(insert, ['digest', '[]']), { code: 'SQLITE_CONSTRAINT_UNIQUE' })
  t.throws(() => connection.run(insert, ['other', null]), { code: 'SQLITE_CONSTRAINT_NOTNULL' })
  t.strictSame(connection.rows('SELECT id, expires_at, last_used_at FROM _rowhouse_admin_keys', []), [
    { id: 1, expires_at: null, last_used_at: null }
  ])
})

t.test('a role with two grants for one table and action stops an upgrade, and nothing is changed', (t) => {
  const file = copyOldDatabase(t, { version: 13 })
  const grant = { tables: ['orders'], actions: ['read'] }
  const store = (grants: readonly object[]) => {
    const db = new BetterSqlite3(file)
    const insert = db.prepare('INSERT OR REPLACE INTO _rowhouse_roles VALUES (?, ?, ?, 5, 6)')
    insert.run(900, 'customer', JSON.stringify(grants))
    // Grants of another form open nothing, so they stop no upgrade.
    for (const [index, other] of ['{', '{}', '[1, {"tables": "*"}]'].entries())
      insert.run(901 + index, `other ${index}`, other)
    db.pragma('wal_checkpoint(TRUNCATE)')
    db.close()
  }
  store([grant, { ...grant, tables: ['Orders'] }])
  const before = contentOf(file)
  t.throws(
    () => openWriter({ file, readonly: false, busyTimeout: 50, cacheSize: 8, walSize: 16 }),
    /cannot be upgraded. Role 'customer': Two grants name the action 'read' and the table 'orders'.*PUT \/admin\/roles\/:id/
  )
  t.ok(contentOf(file).equals(before))
  store([grant])
  const connection = openWriter({ file, readonly: false, busyTimeout: 50, cacheSize: 8, walSize: 16 })
  t.equal(Number(connection.value("SELECT value FROM _rowhouse_meta WHERE key = 'version'")), LATEST_VERSION)
  connection.close()
  t.end()
})
