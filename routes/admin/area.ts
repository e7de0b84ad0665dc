import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import recordRoutes from '../records/routes.ts'
import adminKeys from './admin-keys.ts'
import admins from './admins.ts'
import audit from './audit.ts'
import backupUploads from './backup-uploads.ts'
import backups from './backups.ts'
import batch from './batch.ts'
import document from './document.ts'
import fields from './fields.ts'
import importLog from './import-log.ts'
import indexes from './indexes.ts'
import { adminRecords } from './records.ts'
import roles from './roles.ts'
import settings from './settings.ts'
import status from './status.ts'
import tableFiles from './table-files.ts'
import tables from './tables.ts'
import tokenViews from './token-views.ts'
import tokens from './tokens.ts'

/** The routes for administrators and their keys. The hooks apply to all of them. */
const adminArea: FastifyPluginAsyncTypebox = async (fastify) => {
  const { unlessKey } = fastify
  fastify.addHook('onRequest', fastify.authenticateKey)
  fastify.addHook('onRequest', unlessKey(fastify.refuseCrossSite))
  fastify.addHook('onRequest', unlessKey(fastify.authenticateAdmin))
  fastify.addHook('onRequest', unlessKey(fastify.requirePasswordChange))
  fastify.addHook('preHandler', fastify.confirmKey)
  fastify.addHook('preHandler', unlessKey(fastify.confirmAdmin))

  await fastify.register(document, { prefix: '/openapi.json' })
  await fastify.register(status, { prefix: '/status' })
  await fastify.register(settings, { prefix: '/settings' })
  await fastify.register(tables, { prefix: '/tables' })
  await fastify.register(fields, { prefix: '/tables' })
  await fastify.register(indexes, { prefix: '/tables' })
  await fastify.register(tableFiles, { prefix: '/tables' })
  await fastify.register(recordRoutes, { prefix: '/tables', area: adminRecords })
  await fastify.register(importLog, { prefix: '/imports' })
  await fastify.register(batch, { prefix: '/batch' })
  await fastify.register(tokens, { prefix: '/tokens' })
  await fastify.register(tokenViews, { prefix: '/tokens' })
  await fastify.register(roles, { prefix: '/roles' })
  await fastify.register(adminKeys, { prefix: '/keys' })
  await fastify.register(backupUploads, { prefix: '/backups' })
  await fastify.register(backups, { prefix: '/backups' })
  await fastify.register(admins, { prefix: '/admins' })
  await fastify.register(audit, { prefix: '/audit' })
}

export default adminArea
