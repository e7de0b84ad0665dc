import { createHash } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Database as Connection } from 'better-sqlite3'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Test } from 'tap'
import { type AppOptions, buildApp } from '../app.ts'
import { readConfig } from '../config.ts'
import type { AdminScope, IssuedAdminKey } from '../schemas/admin-key.ts'
import { type ErrorCode, ErrorSchema } from '../schemas/error.ts'
import type { NewTable } from '../schemas/new-table.ts'
import type { Field, Table } from '../schemas/table.ts'
import type { Permissions } from '../schemas/token.ts'
import { isDeclared } from './error-record.ts'
import { CHEAP, PASSWORD, temporaryDirectory } from './fixtures.ts'
import { isOnCluster, toCluster } from './rqlite/cluster.ts'
import './plain-forks.ts'
import './plain-threads.ts'
import { openServed } from './served.ts'
import { isFailure, validatorOf } from './validators.ts'

export { CHEAP, createDatabase, PASSWORD, prepareFile, temporaryDirectory } from './fixtures.ts'
export { isFailure } from './validators.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** The declarations of a request's route, in the form of its registration. */
const routeOf = ({ method, routeOptions: { url = '', config, schema } }: FastifyRequest) => ({
  method: method as RouteOptions['method'],
  url,
  config,
  ...(schema && { schema })
})

/**
 * Checks every response against its documented schema. No serializer does this for records: SQLite makes their JSON
 * text, and it is sent unchanged.
 */
export const checkResponses = (fastify: FastifyInstance, fail: (message: string, extra: object) => void) => {
  fastify.addHook('onSend', async (request: FastifyRequest, reply: FastifyReply, payload) => {
    const responses = request.routeOptions.schema?.response as Record<number, object> | undefined
    const schema = reply.statusCode === 200 ? responses?.[200] : ErrorSchema
    const type = String(reply.getHeader('content-type'))
    if (typeof payload !== 'string') return
    if (schema && type !== JSON_TYPE)
      fail(`${request.method} ${request.url} responds with content type ${type}`, { payload })
    if (!/json/.test(type)) return
    const validate = validatorOf(schema ?? {})
    const body = JSON.parse(payload)
    const isConsistent = body?.success === undefined || body.success === (reply.statusCode === 200)
    if (!validate(body) || !isConsistent) {
      fail(`${request.method} ${request.url} responds with an undocumented body`, { errors: validate.errors, payload })
    }
    if (reply.statusCode === 200 || isDeclared(routeOf(request), body.error?.code)) return
    fail(`${request.method} ${request.url} fails with ${body.error?.code}, which its route does not declare`, {
      payload
    })
  })
}

const routes = new WeakMap<object, readonly RouteOptions[]>()

/** Returns the routes of an app that `startApp` started, in the order of their registration. */
export const routesOf = (app: object) => routes.get(app) ?? []

interface Observers {
  /** Called for each response that differs from its documented schema. */
  readonly fail?: (message: string, extra: object) => void
  /** Called for each encapsulated part of the app, before its own routes and hooks are added. */
  readonly onRegister?: (part: FastifyInstance) => void
}

/** Builds the app and records its routes for `routesOf`. */
export const buildObserved = async (options: AppOptions, { fail, onRegister }: Observers = {}) => {
  const registered: RouteOptions[] = []
  const observe = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', (route) => {
      // Other tests may load the machine. test/plugins/http/security.test.ts tests how an overloaded service refuses.
      route.config = { ...route.config, evenUnderPressure: true }
      registered.push(route)
    })
    if (fail) checkResponses(fastify, fail)
    if (onRegister) fastify.addHook('onRegister', onRegister)
  }
  subscribe('fastify.initialization', observe)
  const building = buildApp(options)
  unsubscribe('fastify.initialization', observe)
  const app = await building
  routes.set(app, registered)
  return app
}

interface StartOptions extends Omit<Partial<AppOptions>, 'config'> {
  readonly env?: Record<string, string | undefined>
  readonly onRegister?: Observers['onRegister']
}

/**
 * Starts a fresh service on a real SQLite file, without listening. The service is closed and the file removed when `t`
 * ends. A response that differs from its documented schema fails `t`. With ENGINE=rqlite, a fake cluster that has the
 * content of the file is served instead.
 */
export const startApp = async (t: Test, { env = {}, onRegister, ...options }: StartOptions = {}) => {
  const directory = temporaryDirectory(t)
  const given = { DATA_DIR: directory, ADMIN_PASSWORD: PASSWORD, ...env }
  const config = readConfig(isOnCluster ? await toCluster(t, given) : given)
  const observers = { fail: t.fail, ...(onRegister && { onRegister }) }
  const app = await buildObserved({ config, hashingCost: CHEAP, onDeath: t.threw, ...options }, observers)
  t.teardown(() => app.close())
  return app
}

export type App = Awaited<ReturnType<typeof startApp>>

/** Returns functions that send requests, each with these headers. */
export const client = (app: Pick<FastifyInstance, 'inject'>, headers: Record<string, string> = {}) => {
  const send =
    (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE') =>
    (url: string, ...[payload]: [payload?: object | string]) =>
      app.inject({ method, url, headers, ...(payload !== undefined && { payload }) })
  return {
    headers,
    get: send('GET'),
    post: send('POST'),
    put: send('PUT'),
    patch: send('PATCH'),
    delete: send('DELETE')
  }
}

export type Client = ReturnType<typeof client>
export type TestResponse = Awaited<ReturnType<Client['get']>>

/**
 * Returns the `data` of a successful response.
 *
 * @throws with the status and the body of a failed one
 */
export const dataOf = (response: TestResponse) => {
  if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${response.body}`)
  return response.json().data
}

/** Logs in and returns the cookie header of the session. */
export const logIn = async (app: Pick<FastifyInstance, 'inject'>, name = 'admin', password = PASSWORD) => {
  const response = await app.inject({ method: 'POST', url: '/auth/login', payload: { name, password } })
  const [cookie] = response.cookies
  if (!cookie) throw new Error(`The login failed: ${response.body}`)
  return { cookie: `${cookie.name}=${cookie.value}` }
}

export const asAdmin = async (app: App) => client(app, await logIn(app))

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Issues a token and returns its secret. */
export const issueToken = async (admin: Client, permissions: Permissions): Promise<string> =>
  dataOf(await admin.post('/admin/tokens', { name: 'test', permissions })).token

const EVERYTHING: Permissions = { tables: ['*'], actions: ['read', 'write'] }

export const asToken = async (app: App, admin: Client, permissions: Permissions = EVERYTHING) =>
  client(app, bearer(await issueToken(admin, permissions)))

/** Issues an admin key. */
export const issueKey = async (
  admin: Client,
  scopes: readonly AdminScope[],
  expiresAt: number | null = null
): Promise<IssuedAdminKey> => dataOf(await admin.post('/admin/keys', { name: 'script', scopes, expiresAt }))

export const asKey = async (app: App, admin: Client, scopes: readonly AdminScope[]) =>
  client(app, bearer((await issueKey(admin, scopes)).key))

export const createTable = async (admin: Client, table: Pick<NewTable, 'name' | 'fields'> & Partial<NewTable>) =>
  dataOf(await admin.post('/admin/tables', { label: '', ...table })) as Table

export const importTable = async (admin: Client, name: string) =>
  dataOf(await admin.post('/admin/tables/import', { name })) as Table

/** Returns the `Field` of a response to a table that was created with only this name and type. */
export const plainField = (name: string, jsonType: Field['jsonType'], sqliteType: Field['sqliteType']): Field => ({
  name,
  label: name,
  sqliteType,
  jsonType,
  nullable: true,
  defaultValue: null,
  isPrimary: false,
  isAutoIncrement: false,
  isHidden: false,
  isReadonly: false,
  clientName: name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  isRequired: false,
  isNullable: true,
  isExact: true,
  defaultKind: 'none',
  isIndexed: false,
  isUnique: false
})

/** Returns the JSON of a field that alone is the primary key, as `plainField` does for other fields. */
export const keyField = (...plain: Parameters<typeof plainField>): Field => ({
  ...plainField(...plain),
  isPrimary: true,
  isNullable: false,
  isIndexed: true,
  isUnique: true
})

/** Asserts a success with exactly this data. The comparison is strict: null, booleans and numbers stay apart. */
export const expectData = (t: Test, response: TestResponse, data: unknown) => {
  t.equal(response.statusCode, 200, response.body)
  t.strictSame(response.json(), { success: true, data })
}

export const expectDone = (t: Test, response: TestResponse) => expectData(t, response, { success: true })

/** Asserts an error envelope with this status and code, and with `path` in its first detail. */
export const expectError = (t: Test, response: TestResponse, status: number, code: ErrorCode, path?: string) => {
  t.equal(response.statusCode, status, response.body)
  const body = response.json()
  t.match(body, { success: false, error: { code, message: /\w.*[.!]$/s, requestId: /\w/ } })
  t.ok(isFailure(body), 'the body is the error envelope, without further properties')
  if (path !== undefined) t.strictSame(body.error.details?.[0]?.path, path, response.body)
}

const USES = ['_rowhouse_tokens', '_rowhouse_admin_keys']

const hashOf = (db: Connection) => {
  const hash = createHash('sha256')
  const add = (rows: readonly unknown[]) => {
    for (const row of rows)
      hash.update(`${JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))}\n`)
  }
  // `_rowhouse_services` of a cluster has the number of the last batch, also of one that changed nothing. Uses are saved a
  // minute after their requests.
  const names = db
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('_rowhouse_services', '_rowhouse_token_uses') ORDER BY name"
    )
    .pluck()
    .all()
  add(db.prepare('SELECT * FROM sqlite_schema ORDER BY name').raw().all())
  for (const name of names as string[]) {
    const quoted = `"${name.replaceAll('"', '""')}"`
    const columns = db.prepare('SELECT name FROM pragma_table_xinfo(?)').pluck().all(name) as string[]
    const kept = columns.filter((column) => !(USES.includes(name) && column === 'last_used_at'))
    const list = kept.map((column) => `"${column.replaceAll('"', '""')}"`)
    add([
      name,
      ...db
        .prepare(`SELECT ${list.join(', ')} FROM ${quoted} ORDER BY ${list.map((_, i) => i + 1).join(', ')}`)
        .raw()
        .all()
    ])
  }
  return hash.digest('hex')
}

/**
 * Returns a function that hashes everything that a caller can change: the schema, and all rows of all tables except
 * the uses of the tokens and admin keys. The hash is computed again only after another connection has committed.
 */
export const createFingerprint = (t: Test, file: string) => {
  const db = openServed(t, file, { readonly: true })
  db.defaultSafeIntegers()
  let version: unknown
  let hash = ''
  return () => {
    const current = db.pragma('data_version', { simple: true })
    if (current !== version) {
      version = current
      hash = hashOf(db)
    }
    return hash
  }
}
