import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Table } from '../../schemas/table.ts'
import { createDatabase, PASSWORD } from '../fixtures.ts'
import { isOnCluster, toCluster } from '../rqlite/cluster.ts'
import { type Service, startService } from '../service-process.ts'
import { createHttpClient, type HttpRequest, type HttpResponse, type Send } from './http-client.ts'
import type { Operation } from './openapi-document.ts'

/** Tables of another program: unusual names, every kind of key, and constraints. */
const EXTERNAL_TABLES = `
  CREATE TABLE plain (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, r REAL, b BLOB, d DATETIME, x, ok BOOLEAN);
  CREATE TABLE "odd ""name"", ü/%" ("a b" TEXT PRIMARY KEY, "" INTEGER, "ORDER" TEXT, "__proto__" TEXT);
  CREATE TABLE pairs (a INTEGER, b TEXT, n NUMERIC, PRIMARY KEY (a, b)) WITHOUT ROWID;
  CREATE TABLE keyless (a TEXT, b INTEGER UNIQUE);
  CREATE TABLE ruled (id INTEGER PRIMARY KEY, n INTEGER NOT NULL CHECK (n < 100), plain INTEGER REFERENCES plain);
  CREATE TABLE summed (id INTEGER PRIMARY KEY, a INTEGER, twice INTEGER GENERATED ALWAYS AS (a * 2)) STRICT;
  CREATE TABLE watched (id INTEGER PRIMARY KEY, a TEXT);
  CREATE TRIGGER watching BEFORE INSERT ON watched WHEN new.a = 'a' BEGIN SELECT RAISE(ABORT, 'no'); END;
  CREATE VIEW seen AS SELECT * FROM plain;
  INSERT INTO plain VALUES (1, 'one', 1, 1.5, x'00ff', '2020-01-01', 'x', 1), (2, NULL, 9223372036854775807, 9e999, 'text', 3, 4, 7);
  INSERT INTO "odd ""name"", ü/%" VALUES ('a,b/c%', 1, 'x', 'y'), ('', 2, NULL, NULL);
  INSERT INTO pairs VALUES (1, 'x,y', 1), (2, '', 2.5);
  INSERT INTO keyless VALUES ('a', 1), (NULL, NULL);
  INSERT INTO ruled VALUES (1, 1, 1);
  INSERT INTO summed (a) VALUES (1), (NULL);`

export const EXTERNAL_TABLE_NAMES = [
  'plain',
  'odd "name", ü/%',
  'pairs',
  'keyless',
  'ruled',
  'summed',
  'watched',
  'seen'
]

export const METRICS_TOKEN = 'a-token-for-metrics'

/** An administrator whose sessions may end and whose password may change. */
const SPARE = { name: 'spare', password: 'battery staple' }
/** A cluster has no backups. */
const NO_BACKUP = { name: '2026-01-01T00-00-00Z-manual.db' }

const MAX_KEPT = 30

/** A running service, its credentials, and what exists in it according to its responses. */
export interface Environment {
  readonly service: Service
  readonly send: Send
  readonly cookie: string
  readonly token: string
  readonly tables: Map<number, Table>
  readonly tokens: { readonly id: number; readonly token: string }[]
  readonly adminIds: number[]
  /** The name of the last index that was created, by the id of its table. */
  readonly indexes: Map<number, string>
  /** Keys of records, in the format of paths. */
  readonly keys: string[]
  /** Names of backups. */
  readonly backups: string[]
  /** The content of a backup. */
  readonly backupFile: Buffer
  readonly spare: { name: string; password: string; cookie: string }
}

const keep = <T>(list: T[], item: T) => {
  list.push(item)
  if (list.length > MAX_KEPT) list.shift()
}

const cookieOf = ({ headers }: HttpResponse) => String(headers['set-cookie']).split(';', 1)[0] as string

const createSetupSender =
  (send: Send) =>
  async (
    method: string,
    target: string,
    cookie: string,
    body: unknown
  ): Promise<HttpResponse & { readonly data: never }> => {
    const headers = { cookie, 'content-type': 'application/json' }
    const response = await send({ method, target, headers, body: JSON.stringify(body) })
    if (response.status !== 200) throw new Error(`${method} ${target} failed: ${response.body}`)
    return { ...response, data: JSON.parse(response.body).data as never }
  }

/** Starts a service with imported tables, a token with full access and a second administrator. */
export const createEnvironment = async (t: Test): Promise<Environment> => {
  const DATABASE = createDatabase(t, EXTERNAL_TABLES)
  const settings = { DATABASE, METRICS_TOKEN, BODY_LIMIT: '65536' }
  const service = await startService(t, isOnCluster ? await toCluster(t, settings) : settings)
  const send = createHttpClient(t, service.port)
  const setUp = createSetupSender(send)
  const cookie = cookieOf(await setUp('POST', '/auth/login', '', { name: 'admin', password: PASSWORD }))
  const permissions = { tables: ['*'], actions: ['read', 'write'] }
  const { token } = (await setUp('POST', '/admin/tokens', cookie, { name: 'main', permissions })).data as {
    token: string
  }
  await setUp('POST', '/admin/admins', cookie, { ...SPARE, nickname: '' })
  const spare = { ...SPARE, cookie: cookieOf(await setUp('POST', '/auth/login', '', SPARE)) }
  const tables = new Map<number, Table>()
  for (const name of EXTERNAL_TABLE_NAMES) {
    const table: Table = (await setUp('POST', '/admin/tables/import', cookie, { name })).data
    tables.set(table.id, table)
  }
  const { name } = isOnCluster
    ? NO_BACKUP
    : ((await setUp('POST', '/admin/backups', cookie, {})).data as { name: string })
  return {
    service,
    send,
    cookie,
    token,
    tables,
    tokens: [],
    adminIds: [],
    indexes: new Map(),
    keys: ['1', '2', 'a,b/c%', '1,x%2Cy'],
    backups: [name],
    backupFile: readFileSync(isOnCluster ? DATABASE : join(service.dataDir, 'backups', name)),
    spare
  }
}

const idIn = (target: string) => Number(/\d+/.exec(target)?.[0])

const recordTable = ({ tables }: Environment, data: Table) => {
  tables.set(data.id, data)
  // The external tables are first in the map and stay.
  const dropped = [...tables.keys()][EXTERNAL_TABLE_NAMES.length]
  if (tables.size > MAX_KEPT && dropped !== undefined) tables.delete(dropped)
}

const recordKey = ({ keys }: Environment, data: Record<string, unknown>) => keep(keys, String(Object.values(data)[0]))

/** How each successful operation changes the environment. The response was already checked against the document. */
const updates: Record<string, (environment: Environment, data: never, target: string) => void> = {
  adminCreateTable: recordTable,
  createTable: recordTable,
  adminImportTables: recordTable,
  adminUpdateTable: recordTable,
  adminRefreshTable: recordTable,
  addTableField: recordTable,
  adminUpdateTableField: recordTable,
  adminDropTableField: recordTable,
  adminUnregisterTable: ({ tables }, _data, target) => tables.size > 1 && tables.delete(idIn(target)),
  adminCreateTableIndex: ({ indexes }, { name }: { name: string }, target) => indexes.set(idIn(target), name),
  adminIssueToken: ({ tokens }, data: { id: number; token: string }) => keep(tokens, data),
  adminCreateAccount: ({ adminIds }, { id }: { id: number }) => keep(adminIds, id),
  adminCreateBackup: ({ backups }, { name }: { name: string }) => keep(backups, name),
  adminCreateRecord: recordKey,
  createRecord: recordKey
}

/** Updates the environment after an operation that succeeded. */
export const updateEnvironment = (
  environment: Environment,
  operation: Operation,
  { method, target }: HttpRequest,
  response: HttpResponse
) => {
  if (response.status !== 200 || method !== operation.method) return
  updates[operation.operationId]?.(environment, JSON.parse(response.body).data as never, target)
  if (operation.operationId === 'logIn') environment.spare.cookie = cookieOf(response)
  if (operation.operationId === 'changeOwnPassword') environment.spare.password = 'correct battery'
}
