import { randomBytes } from 'node:crypto'
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
import type { Client } from './client.ts'
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

const assertReady = async (client: Client) => {
  const { statusCode, text } = await client.get('/readyz?sync').catch((error) => {
    throw new Error(
      `RQLITE_URLS: ${client.counts().node} cannot be reached (${(error as Error).message}). Start the cluster.`
    )
  })
  if (statusCode === 200) return
  throw new Error(
    statusCode === 401
      ? 'The cluster refuses RQLITE_USER and RQLITE_PASSWORD.'
      : `The cluster is not ready: ${text.trim().replaceAll('\n', ', ')}.`
  )
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
    await client.chooseNode()
    await assertReady(client)
    await assertVersions(client)
    await assertAbilities(client)
    await migrate(client)
    const mark = `rowhouse-blob-${randomBytes(MARK_BYTES).toString('base64url')}-`
    await execute(client, [...STATE_TABLES.map(statement), ...initialState(mark), insertService(id)])
    const [rows] = await client.query([selectMark])
    return String(rows?.[0]?.value)
  } catch (error) {
    throw error instanceof DomainError ? new Error(error.message) : error
  }
}
