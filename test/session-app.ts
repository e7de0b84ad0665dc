import { join } from 'node:path'
import type { FastifyInstance, InjectOptions } from 'fastify'
import type { Test } from 'tap'
import { ok } from '../schemas/envelope.ts'
import { createAdminService } from '../services/accounts/admins.ts'
import { createCredentials } from '../services/accounts/credentials.ts'
import { createPasswords } from '../services/accounts/passwords.ts'
import { createSessionService } from '../services/accounts/sessions.ts'
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
  const db = await openDatabase({
    file: join(temporaryDirectory(t), 'test.db'),
    cacheSize: 16,
    walSize: 16,
    isQuiet: () => false,
    onDeath: (cause) => t.fail('the writer died', { cause })
  })
  t.teardown(() => db.close())
  return db
}

/** Returns the services of administrators and sessions on a real database, with one administrator named admin. */
export const startAdminServices = async (t: Test) => {
  const db = await openTestDatabase(t)
  const { clock, advance } = createTestClock()
  const credentials = createCredentials(createPasswords(CHEAP))
  const admins = createAdminService({ db, clock, credentials, passwordMinLength: 8 })
  const sessions = createSessionService({ db, clock, credentials, ttl: 3600 })
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
