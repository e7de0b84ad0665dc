import { createHash } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import BetterSqlite3 from 'better-sqlite3'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Test } from 'tap'
import { type AppOptions, buildApp } from '../app.ts'
import { readConfig } from '../config.ts'
import { type ErrorCode, ErrorSchema } from '../schemas/error.ts'
import type { Field, NewTable, Table } from '../schemas/table.ts'
import type { Permissions } from '../schemas/token.ts'
import './plain-threads.ts'

export const PASSWORD = 'correct horse'

const JSON_TYPE = 'application/json; charset=utf-8'

/** As little work as argon2 accepts. */
export const CHEAP = { memoryCost: 8, timeCost: 1, parallelism: 1 }

export const temporaryDirectory = (t: Test) => {
  const directory = mkdtempSync(join(tmpdir(), 'rowhouse-test-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const validators = new WeakMap<object, ValidateFunction>()

const validatorOf = (schema: object) => {
  const known = validators.get(schema)
  if (known) return known
  const validate = new Ajv({ strict: false }).compile(schema)
  validators.set(schema, validate)
  return validate
}

/** Whether a body is the one failure envelope, and nothing besides. */
export const isFailure = (body: unknown) => validatorOf(ErrorSchema)(body)

/** Records leave as text that no serializer has looked at, so every answer is held against its documented form. */
export const checkResponses = (fastify: FastifyInstance, fail: (says: string, extra: object) => void) => {
  fastify.addHook('onSend', async (request: FastifyRequest, reply: FastifyReply, payload) => {
    const responses = request.routeOptions.schema?.response as Record<number, object> | undefined
    const schema = reply.statusCode === 200 ? responses?.[200] : ErrorSchema
    const type = String(reply.getHeader('content-type'))
    if (typeof payload !== 'string') return
    if (schema && type !== JSON_TYPE) fail(`${request.method} ${request.url} expectData as ${type}`, { payload })
    if (!/json/.test(type)) return
    const validate = validatorOf(schema ?? {})
    if (!validate(JSON.parse(payload))) {
      fail(`${request.method} ${request.url} expectData in another form`, { errors: validate.errors, payload })
    }
  })
}

const routes = new WeakMap<object, readonly RouteOptions[]>()

/** The routes of an app that `startApp` has started, in the order of their registration. */
export const routesOf = (app: object) => routes.get(app) ?? []

interface Observers {
  /** Hears of expectData that differ from their documented form. */
  readonly fail?: (says: string, extra: object) => void
  /** Sees each part of the app before its own routes and hooks are added. */
  readonly onRegister?: (part: FastifyInstance) => void
}

/** Builds the app, and sees each route as it is registered. */
export const buildObserved = async (options: AppOptions, { fail, onRegister }: Observers = {}) => {
  const seen: RouteOptions[] = []
  const observe = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', (route) => {
      // The machine may be busy with other tests; plugins/security.test.ts has the refusal of an overloaded service.
      route.config = { ...route.config, evenUnderPressure: true }
      seen.push(route)
    })
    if (fail) checkResponses(fastify, fail)
    if (onRegister) fastify.addHook('onRegister', onRegister)
  }
  subscribe('fastify.initialization', observe)
  const building = buildApp(options)
  unsubscribe('fastify.initialization', observe)
  const app = await building
  routes.set(app, seen)
  return app
}

interface StartOptions extends Omit<Partial<AppOptions>, 'config'> {
  readonly env?: Record<string, string | undefined>
  readonly onRegister?: Observers['onRegister']
}

/**
 * A fresh service on a real SQLite file, closed and removed when `t` ends. It does not listen. An answer that differs
 * from its documented form fails `t`.
 */
export const startApp = async (t: Test, { env = {}, onRegister, ...options }: StartOptions = {}) => {
  const directory = temporaryDirectory(t)
  const config = readConfig({ DATA_DIR: directory, ADMIN_PASSWORD: PASSWORD, ...env })
  const observers = { fail: t.fail, ...(onRegister && { onRegister }) }
  const app = await buildObserved({ config, hashingCost: CHEAP, onDeath: t.threw, ...options }, observers)
  t.teardown(() => app.close())
  return app
}

export type App = Awaited<ReturnType<typeof startApp>>

/** A SQLite file that another program has made. */
export const createDatabase = (t: Test, sql: string) => {
  const file = join(temporaryDirectory(t), 'theirs.sqlite')
  const db = new BetterSqlite3(file)
  db.exec(sql)
  db.close()
  return file
}

/** Calls under one credential. */
export const client = (app: Pick<FastifyInstance, 'inject'>, headers: Record<string, string> = {}) => {
  const send =
    (method: 'GET' | 'POST' | 'PUT' | 'DELETE') =>
    (url: string, ...[payload]: [payload?: object | string]) =>
      app.inject({ method, url, headers, ...(payload !== undefined && { payload }) })
  return { headers, get: send('GET'), post: send('POST'), put: send('PUT'), delete: send('DELETE') }
}

export type Client = ReturnType<typeof client>
export type TestResponse = Awaited<ReturnType<Client['get']>>

/** The `data` of an answer that has to be a success. */
export const dataOf = (answer: TestResponse) => {
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${answer.body}`)
  return answer.json().data
}

/** The header that a browser sends after this login. */
export const logIn = async (app: Pick<FastifyInstance, 'inject'>, name = 'admin', password = PASSWORD) => {
  const answer = await app.inject({ method: 'POST', url: '/auth/login', payload: { name, password } })
  const [cookie] = answer.cookies
  if (!cookie) throw new Error(`The login was refused: ${answer.body}`)
  return { cookie: `${cookie.name}=${cookie.value}` }
}

export const asAdmin = async (app: App) => client(app, await logIn(app))

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** The secret of a new token. */
export const issueToken = async (admin: Client, permissions: Permissions): Promise<string> =>
  dataOf(await admin.post('/admin/tokens', { name: 'test', permissions })).token

const EVERYTHING: Permissions = { tables: ['*'], actions: ['read', 'write'] }

export const asToken = async (app: App, admin: Client, permissions: Permissions = EVERYTHING) =>
  client(app, bearer(await issueToken(admin, permissions)))

export const createTable = async (admin: Client, table: Pick<NewTable, 'name' | 'fields'> & Partial<NewTable>) =>
  dataOf(await admin.post('/admin/tables', { label: '', ...table })) as Table

export const importTable = async (admin: Client, name: string) =>
  dataOf(await admin.post('/admin/tables/import', { name })) as Table

/** A field as it comes back when nothing but its name and type was sent. */
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
  isReadonly: false
})

/** A success with exactly this data, null and booleans told from what resembles them. */
export const expectData = (t: Test, answer: TestResponse, data: unknown) => {
  t.equal(answer.statusCode, 200, answer.body)
  t.strictSame(answer.json(), { success: true, data })
}

export const expectDone = (t: Test, answer: TestResponse) => expectData(t, answer, { success: true })

/** A refusal in the one failure shape, with this code, about this part of the request. */
export const expectError = (t: Test, answer: TestResponse, status: number, code: ErrorCode, path?: string) => {
  t.equal(answer.statusCode, status, answer.body)
  const body = answer.json()
  t.match(body, { success: false, error: { code, message: /\w.*[.!]$/s, requestId: /\w/ } })
  t.ok(isFailure(body), 'the failure envelope and nothing besides')
  if (path !== undefined) t.strictSame(body.error.details?.[0]?.path, path, answer.body)
}

type Connection = BetterSqlite3.Database

const hashOf = (db: Connection) => {
  const hash = createHash('sha256')
  const add = (rows: readonly unknown[]) => {
    for (const row of rows)
      hash.update(`${JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))}\n`)
  }
  const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck().all()
  add(db.prepare('SELECT * FROM sqlite_schema ORDER BY name').raw().all())
  for (const name of names as string[]) {
    const quoted = `"${name.replaceAll('"', '""')}"`
    const columns = db.prepare('SELECT name FROM pragma_table_xinfo(?)').pluck().all(name) as string[]
    const kept = columns.filter((column) => !(name === '_rowhouse_tokens' && column === 'last_used_at'))
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
 * Gives, whenever it is asked, a hash of everything that a caller can change: the schema, and all rows of all tables but
 * what requests leave behind. The file is read anew where another connection has committed since.
 */
export const createFingerprint = (t: Test, file: string) => {
  const db = new BetterSqlite3(file, { readonly: true })
  db.defaultSafeIntegers()
  t.teardown(() => db.close())
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
