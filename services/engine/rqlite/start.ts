import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '../../model/errors.ts'
import type { Statement, Unit } from '../../sql/statement.ts'
import {
  CREATE_META,
  LATEST_VERSION,
  migrations,
  NEEDED_PROGRAM,
  newerVersion,
  SELECT_VERSION,
  storeVersion
} from '../writer/migrations.ts'
import { type Client, type ClusterNode, originOf } from './client.ts'
import { CHANGES_TABLE, recordEpoch } from './memory-changes.ts'
import { failIf, IS_FAILED_CHECK, initialState, insertService, STATE_TABLES, selectMark } from './state.ts'
import { encodeStatement } from './values.ts'

/** The first version whose `/db/execute` rolls back after an error of any statement. */
const MIN_RQLITE = [10, 2] as const
const MIN_SQLITE = [3, 53] as const

const OTHER_BUILD = `Use the released build of rqlite ${MIN_RQLITE.join('.')} or later.`

const statement = (sql: string): Statement => ({ sql, params: [] })

const isBelow = (version: string, [major, minor]: readonly [number, number]) => {
  // A build from source has no minor version.
  const [found = 0, foundMinor = minor] = (version.match(/\d+/g) ?? []).map(Number)
  return found < major || (found === major && foundMinor < minor)
}

interface Status {
  readonly build: { readonly version: string }
  readonly store: { readonly sqlite3: { readonly version: string } }
}

/** Returns why the current node is not ready; null if it is. @throws STORAGE_UNAVAILABLE for wrong credentials */
const problemOf = async (client: Client) => {
  try {
    const { statusCode, text } = await client.get('/readyz?sync')
    return statusCode === 200 ? null : `is not ready: ${text.trim().replaceAll('\n', ', ')}`
  } catch (error) {
    if (error instanceof DomainError) throw error
    return `cannot be reached: ${(error as Error).message}`
  }
}

const START_PAUSE_MS = 200

/** Waits for an election, or for nodes that start at the same time. */
const assertReady = async (client: Client) => {
  const start = performance.now()
  for (;;) {
    await client.chooseNode()
    const problem = await problemOf(client)
    if (problem === null) return
    if (!client.mayRetry(start))
      throw new Error(`RQLITE_URLS: ${client.counts().node} ${problem}. A majority of the nodes must run.`)
    await delay(START_PAUSE_MS)
  }
}

const assertVersions = async (client: Client) => {
  const { text } = await client.get('/status')
  const { build, store } = JSON.parse(text) as Status
  const [rqlite, sqlite] = [build.version, store.sqlite3.version]
  if (isBelow(rqlite, MIN_RQLITE))
    throw new Error(`The cluster runs rqlite ${rqlite}. Rowhouse needs ${MIN_RQLITE.join('.')} or later.`)
  if (isBelow(sqlite, MIN_SQLITE))
    throw new Error(`The cluster runs SQLite ${sqlite}. Rowhouse needs ${MIN_SQLITE.join('.')} or later.`)
}

/** @throws an Error if the SQLite of the cluster lacks what Rowhouse needs */
const assertAbilities = async (client: Client) => {
  const [keys, doubles, search] = await client.query([
    statement('SELECT foreign_keys AS is_on FROM pragma_foreign_keys'),
    statement("SELECT json_array(0.1 + 0.2) = '[0.30000000000000004]' AS is_exact"),
    statement("SELECT count(*) AS count FROM pragma_module_list WHERE name = 'fts5'")
  ])
  if (keys?.[0]?.is_on !== 1) throw new Error('The cluster does not check foreign keys. Start each rqlited with -fk.')
  if (doubles?.[0]?.is_exact !== 1)
    throw new Error(`The cluster does not keep all digits of numbers in JSON. ${OTHER_BUILD}`)
  if (search?.[0]?.count !== 1)
    throw new Error(`The SQLite of the cluster has no FTS5, which searches need. ${OTHER_BUILD}`)
}

/** Runs a unit of the start, which may run twice. Does nothing if another service was faster. */
const execute = async (client: Client, unit: Unit): Promise<void> => {
  const response = await client.execute(unit.map(encodeStatement))
  if (response === null) throw new Error('The cluster does not respond.')
  if (response.error !== undefined) throw new Error(`The cluster refuses the start: ${response.error}.`)
  const failed = response.results.find(({ error }) => error !== undefined)
  if (failed && !IS_FAILED_CHECK.test(String(failed.error)))
    throw new Error(`The tables of Rowhouse cannot be created in the cluster: ${failed.error}.`)
}

const readVersion = async (client: Client) => {
  const [rows] = await client.query([statement(SELECT_VERSION)])
  const version = Number(rows?.[0]?.version)
  if (version <= LATEST_VERSION) return version
  const [needed] = await client.query([statement(NEEDED_PROGRAM)])
  throw newerVersion('The cluster', version, String(needed?.[0]?.program))
}

const expectVersion = (version: number): Statement => ({
  sql: failIf("(SELECT ifnull(max(value), 0) FROM _rowhouse_meta WHERE key = 'version') <> ?"),
  params: [BigInt(version)]
})

/** Two services may start at once: each migration checks the version first. */
const migrate = async (client: Client) => {
  await execute(client, [statement(CREATE_META)])
  for (let version = await readVersion(client); version < LATEST_VERSION; version = await readVersion(client)) {
    const statements = migrations[version] as readonly string[]
    await execute(client, [expectVersion(version), ...statements.map(statement), storeVersion(version + 1)])
  }
}

const MARK_BYTES = 24

/**
 * Checks the cluster, migrates our tables, and adds the row of this service. Returns the mark of BLOBs.
 * @throws an Error that says what to do
 */
export const prepareCluster = async (client: Client, id: string): Promise<string> => {
  try {
    await assertReady(client)
    // Without its permission, the leader would not be found after a failure.
    await client.get('/leader')
    await assertVersions(client)
    await assertAbilities(client)
    await migrate(client)
    const mark = `rowhouse-blob-${randomBytes(MARK_BYTES).toString('base64url')}-`
    await execute(client, [
      ...[...STATE_TABLES, ...CHANGES_TABLE].map(statement),
      initialState(mark, randomUUID()),
      recordEpoch,
      insertService(id)
    ])
    const [rows] = await client.query([selectMark])
    return String(rows?.[0]?.value)
  } catch (error) {
    throw error instanceof DomainError ? new Error(error.message) : error
  }
}

/** Calls `onWarning` if nodes advertise addresses that RQLITE_URLS does not have: the client does not find such a leader. */
export const warnOfAddresses = async (client: Client, onWarning: (message: string) => void) => {
  const { text } = await client.get('/nodes?ver=2&timeout=1s')
  const { nodes } = JSON.parse(text) as { readonly nodes: readonly ClusterNode[] }
  const advertised = nodes.flatMap(({ api_addr }) => (api_addr === undefined ? [] : [originOf(api_addr)]))
  const missing = advertised.filter((address) => !client.addresses.includes(address))
  if (missing.length === 0) return
  onWarning(
    `RQLITE_URLS does not have ${missing.join(', ')}, as nodes advertise themselves. If a machine fails, requests may wait for a minute. Add the addresses, or start these nodes with -http-adv-addr and the host and port that RQLITE_URLS has.`
  )
}
