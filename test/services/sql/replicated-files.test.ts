import t from 'tap'
import { readDeclared } from '../../../services/engine/reader/schema-copy.ts'
import { type Connection, openConnection } from '../../../services/engine/shared/connection.ts'
import { findUnreplicable, timeDefaults } from '../../../services/sql/replicable.ts'
import { databaseFile } from '../engine/engine.ts'

const SCHEMA = `
  CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT, at DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')));
  CREATE TABLE codes (code TEXT PRIMARY KEY, cat REFERENCES cats (id) ON DELETE CASCADE, n DEFAULT (unixepoch('subsec')));
  CREATE TABLE log (id INTEGER PRIMARY KEY, name TEXT, at TEXT);
  CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, n INTEGER, day AS (date(n, 'unixepoch')));
  CREATE INDEX cats_name ON cats (name);
  CREATE TRIGGER a AFTER INSERT ON cats BEGIN
    INSERT INTO log (name, at) SELECT name, NEW.at FROM cats WHERE name > 'c' ORDER BY id;
    INSERT INTO counted (n) VALUES (NEW.id);
  END;
  CREATE TRIGGER b AFTER DELETE ON codes BEGIN UPDATE counted SET n = n + 1 WHERE id % 2 = 0; END;
  CREATE TABLE refused (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TRIGGER c AFTER INSERT ON refused BEGIN UPDATE refused SET name = random() WHERE id = NEW.id; END`

const TABLES = ['cats', 'codes', 'log', 'counted']
/** Seconds since 1970, as Rowhouse would send them. */
const SENT = 1_700_000_000.123

type Write = (connection: Connection, step: number) => void

const timesOf = (connection: Connection, table: string, column: string) => {
  const declared = readDeclared(connection).find(({ name }) => name === table)
  const expression = declared && timeDefaults(declared).get(column)
  return { sql: String(expression?.sql), params: new Array<number>(Number(expression?.times)).fill(SENT) }
}

const writeAccepted: Write = (connection, step) => {
  const at = timesOf(connection, 'cats', 'at')
  const n = timesOf(connection, 'codes', 'n')
  connection.run(`INSERT INTO cats (name, at) VALUES (?, ${at.sql})`, [
    String.fromCharCode(97 + (step % 7)),
    ...at.params
  ])
  connection.run(`INSERT INTO codes (code, cat, n) VALUES (?, (SELECT max(id) FROM cats), ${n.sql})`, [
    `c${step}`,
    ...n.params
  ])
  if (step % 3 === 0) connection.run('DELETE FROM cats WHERE id = (SELECT min(id) FROM cats)', [])
  if (step % 5 === 0) connection.run('DELETE FROM log WHERE id = (SELECT max(id) FROM log)', [])
}

const writeRefused: Write = ({ run }, step) => run('INSERT INTO refused (id) VALUES (?)', [BigInt(step)])

/** Runs the writes as a node does. `isDisturbed`: it is vacuumed, analysed and restarted in between. */
const runNode = (file: string, write: Write, isDisturbed: boolean) => {
  const open = () => openConnection({ file, readonly: false, busyTimeout: 0, cacheSize: 1 })
  let connection = open()
  connection.raw.exec(SCHEMA)
  const unreplicable = [...findUnreplicable(readDeclared(connection)).keys()]
  for (let step = 1; step <= 40; step += 1) {
    write(connection, step)
    if (!isDisturbed || step % 10 !== 0) continue
    connection.raw.exec('ANALYZE; VACUUM')
    connection.close()
    connection = open()
  }
  const rowsOf = (table: string) => connection.rows(`SELECT * FROM ${table} ORDER BY 1`, [])
  const rows = Object.fromEntries([...TABLES, 'refused', 'sqlite_sequence'].map((table) => [table, rowsOf(table)]))
  connection.close()
  return { unreplicable, rows }
}

t.test('two nodes with other plans, rowids and times store the same in the tables that are accepted', async (t) => {
  const file = databaseFile(t)
  const one = runNode(file, writeAccepted, false)
  const other = runNode(`${file}-2`, writeAccepted, true)
  t.strictSame(one.unreplicable, ['refused'])
  t.ok(TABLES.every((table) => Number(one.rows[table]?.length) > 5))
  t.strictSame(other.rows, one.rows)
  t.match(one.rows.cats?.[0], { at: '2023-11-14 22:13:20.123' })
})

t.test('two nodes store other values in a table that is refused', async (t) => {
  const file = databaseFile(t)
  const one = runNode(file, writeRefused, false)
  t.strictNotSame(runNode(`${file}-2`, writeRefused, true).rows.refused, one.rows.refused)
})
