import type { FastifyPluginAsyncTypebox, TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify from 'fastify'
import fp from 'fastify-plugin'
import type { Test } from 'tap'
import { readConfig } from '../config.ts'
import database from '../plugins/database.ts'
import errors from '../plugins/errors.ts'
import tokenAuth, { type TokenAuthOptions } from '../plugins/token-auth.ts'
import validation from '../plugins/validation.ts'
import tokenRoutes from '../routes/tokens.ts'
import { ok } from '../schemas/envelope.ts'
import { TableParamsSchema } from '../schemas/record.ts'
import { AddFieldSchema, NewTableSchema } from '../schemas/table.ts'
import type { Permissions } from '../schemas/token.ts'
import type { NeededAction } from '../services/permissions.ts'
import type { RegisteredTable } from '../services/tables/registered-table.ts'
import { createTokenService } from '../services/tokens.ts'
import { temporaryDirectory } from './helpers.ts'

export const registered = (id: number, name: string, flags: Partial<RegisteredTable> = {}): RegisteredTable => ({
  id,
  name,
  label: '',
  isPublished: true,
  isEditable: true,
  note: null,
  createdAt: 0,
  updatedAt: 0,
  structure: { columns: [], isStrict: true, key: ['id'], isRowidKey: true, rowid: 'rowid', autoTimestamps: false },
  ...flags
})

/** The calls that a token can make, each answering with what the hooks found. */
const probes: FastifyPluginAsyncTypebox = async (fastify) => {
  fastify.addHook('onRequest', fastify.authenticateToken)

  for (const action of ['read', 'create', 'update', 'delete'] as const satisfies readonly NeededAction[]) {
    fastify.post(
      `/:table/${action}`,
      { schema: { params: TableParamsSchema }, preHandler: fastify.allow(action) },
      async ({ token, table }) => ok({ token: token.name, table: table.name })
    )
  }
  fastify.post(
    '/_schema/tables',
    { schema: { body: NewTableSchema }, preHandler: fastify.allow('schema') },
    async ({ token }) => ok({ token: token.name })
  )
  fastify.post(
    '/_schema/tables/:table/fields',
    { schema: { params: TableParamsSchema, body: AddFieldSchema }, preHandler: fastify.allow('schema') },
    async ({ table }) => ok({ table: table.name })
  )
  fastify.get('/unguarded', async ({ table }) => ok(table.name))
}

interface StartOptions extends TokenAuthOptions {
  readonly clock?: () => number
  readonly tables?: readonly RegisteredTable[]
  readonly onLog?: (line: string) => void
}

/** The parts of the service that tokens need, on a real database. */
export const startTokenApp = async (
  t: Test,
  { clock = Date.now, tables = [], onLog, ...options }: StartOptions = {}
) => {
  const config = readConfig({ DATA_DIR: temporaryDirectory(t) })
  const app = Fastify({
    logger: onLog ? { level: 'error', stream: { write: onLog } } : false
  }).withTypeProvider<TypeBoxTypeProvider>()
  const byName = new Map(tables.map((table) => [table.name.toLowerCase(), table]))

  await app.register(errors)
  await app.register(validation)
  await app.register(database, { config, onDeath: t.threw })
  await app.register(
    fp(
      async (fastify) => {
        fastify.decorate('tokens', createTokenService({ db: fastify.database, clock }))
        fastify.decorate('tables', { find: (name: string) => byName.get(name.toLowerCase()) })
      },
      { name: 'services' }
    )
  )
  await app.register(tokenAuth, options)
  await app.register(tokenRoutes, { prefix: '/admin/tokens' })
  await app.register(probes, { prefix: '/data' })
  app.get('/bare', async ({ token }) => ok(token.name))
  t.teardown(() => app.close())
  return { app, file: `${config.DATA_DIR}/rowhouse.db`, tables: byName }
}

export type TokenApp = Awaited<ReturnType<typeof startTokenApp>>['app']

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Issues a token through the service; its name is made of its actions. */
export const issue = (app: TokenApp, permissions: Permissions, expiresAt: number | null = null) =>
  app.tokens.issue({ name: permissions.actions.join('+'), permissions, expiresAt })
