import { join } from 'node:path'
import type { FastifyPluginAsyncTypebox, TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { Test } from 'tap'
import { readConfig } from '../config.ts'
import errors from '../plugins/errors.ts'
import session from '../plugins/session.ts'
import validation from '../plugins/validation.ts'
import adminRoutes from '../routes/admins.ts'
import authRoutes from '../routes/auth.ts'
import { ok } from '../schemas/envelope.ts'
import { createAdminService } from '../services/admins.ts'
import { createCredentials } from '../services/credentials.ts'
import { openDatabase } from '../services/database/open.ts'
import { createPasswords, type HashingCost } from '../services/passwords.ts'
import { createSessionService } from '../services/sessions.ts'
import { temporaryDirectory } from './helpers.ts'

/** As little work as argon2 accepts. */
export const CHEAP: HashingCost = { memoryCost: 8, timeCost: 1, parallelism: 1 }

export const PASSWORD = 'correct horse'
export const JWT_SECRET = '3f1c9a7be52d4860a1b7c3d95e8f2046'

/** A clock that stands still until it is moved. */
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
    isQuiet: () => false,
    onDeath: (cause) => t.fail('the writer died', { cause })
  })
  t.teardown(() => db.close())
  return db
}

/** The administrators' services on a real database, with one administrator called admin. */
export const startAdminServices = async (t: Test) => {
  const db = await openTestDatabase(t)
  const { clock, advance } = createTestClock()
  const credentials = createCredentials(createPasswords(CHEAP))
  const admins = createAdminService({ db, clock, credentials, passwordMinLength: 8 })
  const sessions = createSessionService({ db, clock, credentials, ttl: 3600 })
  await admins.ensureFirst({ name: 'admin', password: PASSWORD })
  return { db, clock, advance, admins, sessions }
}

/** What others build behind the same hooks. */
const probes: FastifyPluginAsyncTypebox = async (fastify) => {
  fastify.get('/probe', async ({ admin }) => ok(admin.name))
  // Says when the hooks are through and the body is about to be read.
  const preParsing = async () => {
    fastify.server.emit('authenticated')
  }
  fastify.post('/probe', { preParsing }, async ({ admin }) => ok(admin.name))
}

const adminArea: FastifyPluginAsyncTypebox = async (fastify) => {
  fastify.addHook('onRequest', fastify.refuseCrossSite)
  fastify.addHook('onRequest', fastify.authenticateAdmin)
  fastify.addHook('onRequest', fastify.requirePasswordChange)
  fastify.addHook('preHandler', fastify.confirmAdmin)
  await fastify.register(adminRoutes, { prefix: '/admins' })
  await fastify.register(probes)
}

/** The parts of the service that administrators need, on a real database. */
export const startSessionApp = async (t: Test, env: Record<string, string | undefined> = {}) => {
  const config = readConfig({ DATA_DIR: temporaryDirectory(t), JWT_SECRET, ...env })
  const { db, clock, advance, admins, sessions } = await startAdminServices(t)
  const trustProxy = config.TRUST_PROXY === '' ? false : config.TRUST_PROXY
  const app = Fastify({ trustProxy }).withTypeProvider<TypeBoxTypeProvider>()
  t.teardown(() => app.close())
  app.decorate('config', config)
  app.decorate('clock', clock)

  await app.register(errors)
  await app.register(validation)
  await app.register(
    fp(
      async (fastify) => {
        fastify.decorate('admins', admins)
        fastify.decorate('sessions', sessions)
      },
      { name: 'services' }
    )
  )
  await app.register(session)
  await app.register(authRoutes, { prefix: '/auth' })
  await app.register(adminArea, { prefix: '/admin' })
  app.get('/unguarded', async ({ admin }) => ok(admin.name))
  return { app, config, db, clock, advance }
}

/** An app to send requests to: this one, or the whole service. */
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

/** The header that a browser sends after this login. */
export const logIn = async (app: App, credential: Credential = {}) => {
  const response = await app.inject(loginRequest(credential))
  const [cookie] = response.cookies
  if (!cookie) throw new Error(`The login was refused: ${response.body}`)
  return { cookie: `${cookie.name}=${cookie.value}` }
}

/** A second administrator, created by the first. */
export const createAdmin = async (app: App, headers: { cookie: string }, name: string) => {
  const payload = { name, nickname: name.toUpperCase(), password: PASSWORD }
  const response = await app.inject({ method: 'POST', url: '/admin/admins', headers, payload })
  return response.json().data as { readonly id: number; readonly updated_at: number }
}
