import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import BetterSqlite3 from 'better-sqlite3'
import { type Access, callAs, RECORDS, type StoredRecord, toSeen } from './access.ts'
import { createCaller, dataOf } from './caller.ts'
import type { Seen, Sight } from './ledger.ts'

export const DATABASE = 'rowhouse.db'

/** How often a WAL began anew: each time, all of it had been folded into the database (checkpointed). */
export const walSequence = (wal: Buffer | undefined) => (wal && wal.length >= 16 ? wal.readUInt32BE(12) : 0)

/** The database and its journals. Shared memory is not on the disk, and the lock holds nothing. */
const isStored = (file: string) => file.startsWith(DATABASE) && !/-(?:shm|rowhouse-lock)$/.test(file)

interface Described {
  readonly name: string
  readonly fields: readonly string[]
}

const PRESENT: Seen = { value: 1, counter: 0 }

/** Tables, and the fields that were added to them, as the clients name them. */
const toThings = (tables: readonly Described[]) =>
  tables.flatMap(({ name, fields }) => {
    const added = fields.filter((field) => /^f\d+$/.test(field))
    return [name, ...added.map((field) => `${name}.${field}`)].map((key): [string, Seen] => [key, PRESENT])
  })

const toSight = (records: readonly StoredRecord[], tables: readonly Described[]): Sight =>
  new Map([...toThings(tables), ...records.map((record): [string, Seen] => [record.key, toSeen(record)])])

const STORED_TABLES = `SELECT s.name, json_group_array(x.name) AS fields
  FROM sqlite_schema AS s, pragma_table_xinfo(s.name) AS x
  WHERE s.type = 'table' AND s.name NOT LIKE '~_rowhouse~_%' ESCAPE '~' AND s.name NOT LIKE 'sqlite~_%' ESCAPE '~'
  GROUP BY s.name ORDER BY s.name`

const REGISTERED_TABLES = `SELECT t.name, json_group_array(c.value ->> 'name') AS fields
  FROM _rowhouse_tables AS t, json_each(t.choices, '$.fields') AS c GROUP BY t.name ORDER BY t.name`

const readTables = (db: BetterSqlite3.Database, sql: string): Described[] =>
  db
    .prepare<[], { name: string; fields: string }>(sql)
    .all()
    .map(({ name, fields }) => ({ name, fields: JSON.parse(fields) }))

/** @throws when SQLite finds damage, or the registry and the schema tell of different tables */
const inspect = (db: BetterSqlite3.Database): Sight => {
  const verdict = db.pragma('integrity_check(1)', { simple: true })
  if (verdict !== 'ok') throw new Error(`integrity_check says ${String(verdict).replaceAll('\n', ' ')}`)
  const stored = readTables(db, STORED_TABLES)
  const registered = readTables(db, REGISTERED_TABLES)
  if (!isDeepStrictEqual(stored, registered)) {
    throw new Error(`The schema has ${JSON.stringify(stored)}, and the registry ${JSON.stringify(registered)}`)
  }
  return toSight(db.prepare<[], StoredRecord>(`SELECT * FROM ${RECORDS}`).all(), stored)
}

/** What a service has left behind, through SQLite alone: on a copy, since the next service is to find the crash. */
export const inspectFiles = (directory: string): Sight => {
  const copy = mkdtempSync(join(tmpdir(), 'rowhouse-copy-'))
  try {
    cpSync(directory, copy, { recursive: true, filter: (path) => path === directory || isStored(basename(path)) })
    const db = new BetterSqlite3(join(copy, DATABASE))
    try {
      return inspect(db)
    } finally {
      db.close()
    }
  } finally {
    rmSync(copy, { recursive: true })
  }
}

/** What a service says of all that it has, under the session and the token that it gave before it crashed. */
export const askService = async (address: string, access: Access): Promise<Sight> => {
  const tables = dataOf(await createCaller(address, { cookie: access.cookie })('GET', '/admin/tables'))
  const { rows, total } = dataOf(await callAs(address, access)('GET', `/data/${RECORDS}?size=1000`))
  if (rows.length !== total) throw new Error(`The page has ${rows.length} of ${total} records`)
  const described = tables.map((table: { name: string; fields: { name: string }[] }) => ({
    name: table.name,
    fields: table.fields.map(({ name }) => name)
  }))
  return toSight(rows, described)
}
