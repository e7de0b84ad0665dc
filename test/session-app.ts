import { join } from 'node:path'
import type { FastifyInstance, InjectOptions } from 'fastify'
import type { Test } from 'tap'
import { ok } from '../schemas/envelope.ts'
import { createAdminService } from '../services/accounts/admins.ts'
import { createCredentials } from '../services/accounts/credentials.ts'
import { createMemorySessions } from '../services/accounts/memory-sessions.ts'
import { createPasswords } from '../services/accounts/passwords.ts'
import { createSessionService, type SessionServiceOptions } from '../services/accounts/sessions.ts'
import type { Database } from '../services/engine/database.ts'
import { openDatabase } from '../services/engine/loop/open.ts'
import { CHEAP, PASSWORD, startApp, temporaryDirectory } from './helpers.ts'

export const JWT_SECRET = '3f1c9a7be52d4860a1b7c3d95e8f2046'

/** Returns a clock that stands still, and a function that advances it. */
export const createTestClock = (now = Date.parse('2026-03-01T12:00:00.250Z')) => {
  let time = now
  return {
    clock: () => time,
    advance: (milliseconds: number) => {
      time += milliseconds
    }
  }
}

export const openTestDatabase = async (t: Test) => {
  const directory = temporaryDirectory(t)
  const db = await openDatabase({
    file: join(directory, 'test.db'),
    dataDirectory: directory,
    cacheSize: 16,
    walSize: 16,
    isQuiet: () => false,
    beforeUpgrade: async () => {},
    onDeath: (cause) => t.fail('the writer died', { cause })
  })
  t.teardown(() => db.close())
  return db
}

/** Returns a session service on a database, with sessions of one hour. */
export const createTestSessions = (
  options: Pick<SessionServiceOptions, 'db' | 'clock' | 'credentials'> & Partial<SessionServiceOptions>
) =>
  createSessionService({
    memorySessions: createMemorySessions(options),
    ttl: 3600,
    onMemorySession: () => {},
    ...options
  })

/** Returns the services of administrators and sessions on a real database, with one administrator named admin. */
export const startAdminServices = async (t: Test) => {
  const db = await openTestDatabase(t)
  const { clock, advance } = createTestClock()
  const credentials = createCredentials(createPasswords(CHEAP))
  const memorySessions = createMemorySessions({ clock })
  const admins = createAdminService({ db, clock, credentials, memorySessions, passwordMinLength: 8 })
  const sessions = createTestSessions({ db, clock, credentials, memorySessions })
  const makeFirst = await admins.prepareFirst({ name: 'admin', password: PASSWORD })
  await makeFirst()
  return { db, clock, advance, admins, sessions }
}

/** Adds test routes behind the hooks of /admin. */
const addProbes = (area: FastifyInstance) => {
  area.get('/probe', async ({ session }) => ok(session.admin.name))
  // Emitted between authentication and the reading of the body.
  const preParsing = async () => {
    area.server.emit('authenticated')
  }
  area.post('/probe', { preParsing }, async ({ session }) => ok(session.admin.name))
}

/** Starts the service with a clock that stands still, and with routes that return the name of the administrator. */
export const startSessionApp = async (t: Test, env: Record<string, string | undefined> = {}) => {
  const { clock, advance } = createTestClock()
  const onRegister = (child: FastifyInstance) => {
    if (child.prefix === '/admin') addProbes(child)
    if (child.prefix === '/auth') child.get('/unguarded', async ({ session }) => ok(session.admin.name))
  }
  const app = await startApp(t, { env: { JWT_SECRET, SESSION_TTL: '3600', ...env }, clock, onRegister })
  return { app, config: app.config, clock, advance }
}

/** Makes each insert into a table, by default that of sessions, fail with SQLITE_FULL. Returns the function that ends this. */
export const fillDisk = async (db: Database, table = '_rowhouse_sessions') => {
  const run = (...lines: string[]) => db.write(lines.map((sql) => ({ sql, params: [] })))
  await run(
    'CREATE TABLE filler (bytes BLOB)',
    `CREATE TRIGGER full BEFORE INSERT ON ${table} BEGIN INSERT INTO filler VALUES (zeroblob(1000000)); END`,
    'PRAGMA max_page_count = 1'
  )
  return () => run('PRAGMA max_page_count = 1000000', 'DROP TRIGGER full', 'DROP TABLE filler')
}

/** An app that accepts injected requests. */
export type App = Pick<FastifyInstance, 'inject'>

interface Credential {
  readonly name?: string
  readonly password?: string
}

export const loginRequest = ({ name = 'admin', password = PASSWORD }: Credential = {}): InjectOptions => ({
  method: 'POST',
  url: '/auth/login',
  payload: { name, password }
})

/** Creates an administrator, in the session of another one. */
export const createAdmin = async (app: App, headers: { cookie: string }, name: string) => {
  const payload = { name, nickname: name.toUpperCase(), password: PASSWORD }
  const response = await app.inject({ method: 'POST', url: '/admin/admins', headers, payload })
  return response.json().data as { readonly id: number; readonly updated_at: number }
}
