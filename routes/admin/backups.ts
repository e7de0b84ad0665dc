import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  BACKUP_TYPE,
  BackupEnvelope,
  BackupFileSchema,
  BackupHeadersSchema,
  BackupListEnvelope,
  BackupParamsSchema,
  RestoreQuerySchema,
  RestoreResultEnvelope
} from '../../schemas/backup.ts'
import { done, OkSchema, ok } from '../../schemas/envelope.ts'
import { READ_ERRORS, WRITE_ERRORS } from '../../schemas/operation-errors.ts'

const tags = ['backups']

const backupRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { backups } = fastify
  await fastify.register(fastifyStatic, {
    root: backups.path,
    serve: false,
    index: false,
    // The headers of all responses forbid caches to store them.
    cacheControl: false,
    contentType: false
  })

  fastify.get(
    '',
    {
      schema: {
        operationId: 'adminListBackups',
        tags,
        summary: 'List the backups',
        description: 'Lists all backups, the latest first, and the progress of the one that is being made.',
        response: { 200: BackupListEnvelope }
      },
      config: { credential: 'administrator', scope: 'backups', errors: READ_ERRORS }
    },
    async ({ caller }) => ok(backups.list(caller))
  )

  fastify.post(
    '',
    {
      schema: {
        operationId: 'adminCreateBackup',
        tags,
        summary: 'Make a backup',
        description:
          'Copies the database as it is now, while reads and writes go on, and checks the copy. Responds when the backup is whole. It is made also if the client disconnects.',
        response: { 200: BackupEnvelope }
      },
      config: {
        credential: 'administrator',
        scope: 'backups',
        errors: [...WRITE_ERRORS, 'BACKUP_RUNNING', 'NOT_ON_CLUSTER']
      }
    },
    async ({ caller }) => ok(await backups.create(caller))
  )

  fastify.get(
    '/:name',
    {
      schema: {
        operationId: 'adminDownloadBackup',
        tags,
        summary: 'Download a backup',
        description:
          'Returns the file, or with `Range` a part of it, so that a download can go on after an interruption.',
        params: BackupParamsSchema,
        headers: BackupHeadersSchema,
        response: { 200: BackupFileSchema }
      },
      config: {
        credential: 'administrator',
        scope: 'backups',
        errors: [...READ_ERRORS, 'BACKUP_NOT_FOUND', 'RANGE_NOT_SATISFIABLE']
      }
    },
    async ({ caller, params }, reply) => {
      const { name } = backups.download(caller, params.name)
      return reply.type(BACKUP_TYPE).header('content-disposition', `attachment; filename="${name}"`).sendFile(name)
    }
  )

  fastify.post(
    '/:name/restore',
    {
      schema: {
        operationId: 'adminRestoreBackup',
        tags,
        summary: 'Restore a backup',
        description:
          'Replaces all tables by those of the backup, in one step, while reads go on. Changes get 503 until this is done. The present administrators, sessions, roles, tokens, admin keys, settings and the audit stay. First the backup is checked, and the present state is backed up. It goes on if the client disconnects.',
        params: BackupParamsSchema,
        querystring: RestoreQuerySchema,
        response: { 200: RestoreResultEnvelope }
      },
      config: {
        credential: 'administrator',
        scope: 'backups',
        errors: [
          ...WRITE_ERRORS,
          'BACKUP_NOT_FOUND',
          'BACKUP_RUNNING',
          'IMPORT_RUNNING',
          'BACKUP_INVALID',
          'RIGHTS_CONFLICT',
          'NOT_ON_CLUSTER'
        ]
      }
    },
    async ({ caller, params, query }) => ok(await backups.restore(caller, params.name, query.include === 'access'))
  )

  fastify.delete(
    '/:name',
    {
      schema: {
        operationId: 'adminDeleteBackup',
        tags,
        summary: 'Delete a backup',
        description: 'Deletes the file.',
        params: BackupParamsSchema,
        response: { 200: OkSchema }
      },
      config: {
        credential: 'administrator',
        scope: 'backups',
        errors: [...WRITE_ERRORS, 'BACKUP_NOT_FOUND', 'BACKUP_RUNNING']
      }
    },
    async ({ caller, params }) => {
      await backups.remove(caller, params.name)
      return done()
    }
  )
}

export default backupRoutes
