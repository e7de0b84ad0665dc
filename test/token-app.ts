import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify from 'fastify'
import type { Test } from 'tap'
import { readConfig } from '../config.ts'
import database, { startOpening } from '../plugins/app/database.ts'
import type { SaveUsesOptions } from '../plugins/app/save-uses.ts'
import services from '../plugins/app/services.ts'
import tokenAuth from '../plugins/app/token-auth.ts'
import caller from '../plugins/http/caller.ts'
import errors from '../plugins/http/errors.ts'
import { compilers } from '../plugins/http/schema-compilers.ts'
import validation from '../plugins/http/validation.ts'
import dataRoutes from '../routes/data/area.ts'
import { ok } from '../schemas/envelope.ts'
import type { Permissions } from '../schemas/token.ts'
import { serviceCaller } from '../services/model/caller.ts'
import { createSettings } from '../services/settings/settings.ts'
import { CHEAP, PASSWORD, temporaryDirectory } from './helpers.ts'

interface StartOptions extends SaveUsesOptions {
  readonly clock?: () => number
  readonly onLog?: (line: string) => void
  readonly env?: Record<string, string>
}

/**
 * Starts the /data routes alone, on a real database. Unlike the whole service, it takes the options of the token plugin:
 * a test controls when uses of tokens are saved.
 */
export const startTokenApp = async (t: Test, { clock = Date.now, onLog, env, ...options }: StartOptions = {}) => {
  const config = readConfig({ DATA_DIR: temporaryDirectory(t), ADMIN_PASSWORD: PASSWORD, ...env })
  const app = Fastify({
    schemaController: compilers,
    logger: onLog ? { level: 'error', stream: { write: onLog } } : false
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.decorate('config', config)
  app.decorate('settings', createSettings(config))
  app.decorate('clock', clock)

  await app.register(errors)
  await app.register(validation)
  await app.register(database, { opening: startOpening({ config, onDeath: t.threw }) })
  await app.register(services, { hashingCost: CHEAP })
  await app.register(caller)
  await app.register(tokenAuth, options)
  await app.register(dataRoutes, { prefix: '/data' })
  app.get('/without-key', async ({ key }) => ok(key.name))
  app.get('/without-table', async ({ table }) => ok(table.name))
  t.teardown(() => app.close())
  return { app, file: `${config.DATA_DIR}/rowhouse.db` }
}

export type TokenApp = Awaited<ReturnType<typeof startTokenApp>>['app']

export const createTable = (app: TokenApp, name: string) =>
  app.tables.create(serviceCaller, {
    name,
    label: '',
    fields: [
      { name: 'name', jsonType: 'string' },
      { name: 'lives', jsonType: 'integer' }
    ]
  })

/** Issues a token through the token service. Its name lists its actions. */
export const issue = (app: TokenApp, permissions: Permissions, expiresAt: number | null = null) =>
  app.tokens.issue(serviceCaller, { name: permissions.actions.join('+'), permissions, expiresAt })
