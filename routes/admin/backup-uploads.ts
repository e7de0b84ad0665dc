import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { addFileBodies } from '../../plugins/http/body-chunks.ts'
import { notABackup } from '../../plugins/http/errors.ts'
import { BACKUP_TYPE, BackupEnvelope, BackupUploadSchema } from '../../schemas/backup.ts'
import { ok } from '../../schemas/envelope.ts'
import { WRITE_ERRORS } from '../../schemas/operation-errors.ts'
import { fileOf } from '../import-request.ts'

/** @throws UNSUPPORTED_MEDIA_TYPE without a body, whose type no parser has checked */
const backupIn = (body: unknown) => {
  if (!body) throw notABackup()
  return fileOf(body)
}

const backupUploadRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { backups, config } = fastify
  addFileBodies(fastify, {
    maxBytes: config.IMPORT_LIMIT,
    files: { types: [BACKUP_TYPE], wrongType: notABackup }
  })

  fastify.post(
    '/upload',
    {
      schema: {
        operationId: 'adminUploadBackup',
        tags: ['backups'],
        summary: 'Upload a backup',
        description:
          'Stores a backup that was downloaded before, at most `IMPORT_LIMIT` bytes. The file is checked, and is kept only if it is an intact database of this or an older Rowhouse.',
        body: BackupUploadSchema,
        response: { 200: BackupEnvelope }
      },
      config: {
        credential: 'administrator',
        errors: [...WRITE_ERRORS, 'BACKUP_INVALID', 'BACKUP_RUNNING', 'NOT_ON_CLUSTER'],
        takesGzip: true
      }
    },
    async ({ caller, body }) => ok(await backups.upload(caller, backupIn(body)))
  )
}

export default backupUploadRoutes
