import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import BetterSqlite3 from 'better-sqlite3'
import {
  type Access,
  connect,
  INDEXES,
  namesOfIndexes,
  PRESENT,
  RECORDS,
  type StoredRecord,
  toState
} from './access.ts'
import { type FilePart, IMPORTED, PARTS, SELECT_PARTS, statesOfFiles } from './files.ts'
import { dataOf } from './http.ts'
import type { State, States } from './ledger.ts'

export const DATABASE = 'rowhouse.db'

/** Returns how often a WAL was restarted. Each restart follows a complete checkpoint: https://www.sqlite.org/fileformat.html */
export const walSequence = (wal: Buffer | undefined) => (wal && wal.length >= 16 ? wal.readUInt32BE(12) : 0)

/** Selects the database and its journals. Shared memory is not on the disk, and the lock file is empty. */
const isStored = (file: string) => file.startsWith(DATABASE) && !/-(?:shm|rowhouse-lock)$/.test(file)

interface TableDescription {
  readonly name: string
  readonly fields: readonly string[]
}

/** Returns the states of tables and of the fields that clients added, under the keys that clients use. */
const schemaStates = (tables: readonly TableDescription[]) =>
  tables.flatMap(({ name, fields }) => {
    const added = fields.filter((field) => /^f\d+$/.test(field))
    return [name, ...added.map((field) => `${name}.${field}`)].map((key): [string, State] => [key, PRESENT])
  })

interface Contents {
  readonly records: readonly StoredRecord[]
  readonly tables: readonly TableDescription[]
  /** Names of the indexes that clients created. */
  readonly indexes: readonly string[]
  readonly parts: readonly FilePart[]
}

const toStates = ({ records, tables, indexes, parts }: Contents): States =>
  new Map([
    ...schemaStates(tables),
    ...indexes.map((name): [string, State] => [name, PRESENT]),
    ...statesOfFiles(parts),
    ...records.map((record): [string, State] => [record.key, toState(record)])
  ])

const STORED_TABLES = `SELECT s.name, json_group_array(x.name) AS fields
  FROM sqlite_schema AS s, pragma_table_xinfo(s.name) AS x
  WHERE s.type = 'table' AND s.name NOT LIKE '~_rowhouse~_%' ESCAPE '~' AND s.name NOT LIKE 'sqlite~_%' ESCAPE '~'
  GROUP BY s.name ORDER BY s.name`

const REGISTERED_TABLES = `SELECT t.name, json_group_array(c.value ->> 'name') AS fields
  FROM _rowhouse_tables AS t, json_each(t.choices, '$.fields') AS c GROUP BY t.name ORDER BY t.name`

const STORED_INDEXES = `SELECT name FROM sqlite_schema
  WHERE type = 'index' AND tbl_name = '${RECORDS}' AND name LIKE '~_rowhouse~_%' ESCAPE '~'`

const readTables = (db: BetterSqlite3.Database, sql: string): TableDescription[] =>
  db
    .prepare<[], { name: string; fields: string }>(sql)
    .all()
    .map(({ name, fields }) => ({ name, fields: JSON.parse(fields) }))

/** @throws when SQLite finds corruption, or the registry and the schema have different tables */
const readStates = (db: BetterSqlite3.Database): States => {
  const integrity = db.pragma('integrity_check(1)', { simple: true })
  if (integrity !== 'ok') throw new Error(`integrity_check returned ${String(integrity).replaceAll('\n', ' ')}`)
  const stored = readTables(db, STORED_TABLES)
  const registered = readTables(db, REGISTERED_TABLES)
  if (!isDeepStrictEqual(stored, registered)) {
    throw new Error(`The schema has ${JSON.stringify(stored)}, but the registry has ${JSON.stringify(registered)}`)
  }
  // Without an index: integrity_check has compared the indexes with these rows.
  const records = db.prepare<[], StoredRecord>(`SELECT * FROM ${RECORDS} NOT INDEXED`).all()
  return toStates({
    records,
    tables: stored,
    indexes: db.prepare<[], string>(STORED_INDEXES).pluck().all(),
    parts: db.prepare<[], FilePart>(SELECT_PARTS).all()
  })
}

/**
 * Returns all states that a service has stored, read through SQLite alone. It reads a copy, because the next service has
 * to recover the original files.
 */
export const readDatabase = (directory: string): States => {
  const copy = mkdtempSync(join(tmpdir(), 'rowhouse-copy-'))
  try {
    cpSync(directory, copy, { recursive: true, filter: (path) => path === directory || isStored(basename(path)) })
    const db = new BetterSqlite3(join(copy, DATABASE))
    try {
      return readStates(db)
    } finally {
      db.close()
    }
  } finally {
    rmSync(copy, { recursive: true })
  }
}

/** Returns all states through the API, with the session and the token that were issued before the crash. */
export const readService = async (address: string, access: Access): Promise<States> => {
  const call = connect(address, access)
  const tables = dataOf(await call('GET', '/admin/tables'))
  const { rows, total } = dataOf(await call('GET', `/data/${RECORDS}?size=1000`))
  if (rows.length !== total) throw new Error(`The page has only ${rows.length} of ${total} records`)
  const descriptions = tables.map((table: { name: string; fields: { name: string }[] }) => ({
    name: table.name,
    fields: table.fields.map(({ name }) => name)
  }))
  return toStates({
    records: rows,
    tables: descriptions,
    indexes: namesOfIndexes(await call('GET', INDEXES)),
    parts: dataOf(await call('POST', `/data/${IMPORTED}/aggregate`, PARTS)).rows
  })
}
