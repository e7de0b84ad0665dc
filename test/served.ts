import BetterSqlite3, { type Database as Connection } from 'better-sqlite3'
import type { Lifetime } from './fixtures.ts'
import { fakeOf, isOnCluster } from './rqlite/cluster.ts'

/** Options of a test that is skipped on a cluster, for this reason. */
export const onlyOnFile = (reason: string) => ({ skip: isOnCluster && reason })

export const ROWID_KEY = 'A table without a declared key is read-only on a cluster.'
export const RANDOM_DEFAULT = 'A table with a random default is read-only on a cluster.'
export const BACKUPS = 'The backups of a cluster are those of rqlite.'
export const FULL_DISK = 'If the disk of a node is full, the outcome is unknown.'
export const LOCK = 'No program can lock a cluster.'

/** Moves the epoch as an older version does, without a record of the change. The services read again all that they have in memory. */
const ANNOUNCE = `INSERT INTO _rowhouse_services VALUES ('external', 1)
  ON CONFLICT (id) DO UPDATE SET batch = batch + 1;
  UPDATE _rowhouse_state SET value = value + 1 WHERE name = 'epoch'`

/** Makes the writes of a connection to the first node change the second node, too. */
const writeToBoth = (db: Connection, other: Connection) => {
  const { exec, pragma, prepare } = db
  const announce = () => {
    for (const each of [db, other]) exec.call(each, ANNOUNCE)
  }
  const toBoth = (sql: string) => {
    const statement: BetterSqlite3.Statement<unknown[]> = prepare.call(db, sql)
    if (statement.readonly) return statement
    const { run } = statement
    return Object.assign(statement, {
      run: (...params: unknown[]) => {
        const info = run.apply(statement, params)
        other.prepare(sql).run(...params)
        announce()
        return info
      }
    })
  }
  return Object.assign(db, {
    exec: (sql: string) => {
      for (const each of [db, other]) exec.call(each, sql)
      announce()
      return db
    },
    pragma: (...args: Parameters<Connection['pragma']>) => {
      pragma.apply(other, args)
      return pragma.apply(db, args)
    },
    prepare: toBoth
  })
}

/** The file that has what is served instead of `file`: on a cluster, that of its first node. */
export const servedFile = (file: string) => fakeOf(file)?.nodes.file ?? file

/**
 * Opens what a service serves as another program, until `t` ends. On a cluster, `exec`, `pragma` and `run` change both
 * nodes, as another service of this cluster would.
 */
export const openServed = (t: Lifetime, file: string, options?: BetterSqlite3.Options): Connection => {
  const db = new BetterSqlite3(servedFile(file), options)
  t.teardown(() => db.close())
  const fake = fakeOf(file)
  return fake ? writeToBoth(db, fake.nodes.second.db) : db
}
