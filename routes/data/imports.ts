import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { addFileBodies } from '../../plugins/http/body-chunks.ts'
import { ok } from '../../schemas/envelope.ts'
import { ImportBodySchema, ImportQuerySchema, ImportResultEnvelope } from '../../schemas/import.ts'
import { IMPORT_ERRORS, TOKEN_READ_ERRORS } from '../../schemas/operation-errors.ts'
import { TableParamsSchema } from '../../schemas/record.ts'
import { actionsToUpsert } from '../further-actions.ts'
import { fileOf, readImportRequest } from '../import-request.ts'

const importRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { imports, config, accessOf } = fastify
  addFileBodies(fastify, config.IMPORT_LIMIT)

  fastify.post(
    '/:table/import',
    {
      schema: {
        operationId: 'importRecords',
        summary: 'Import records from CSV or NDJSON',
        description:
          'Creates a record for each line of a file, or changes the records with the same keys. All lines are checked first: if one is wrong, nothing is imported. The file has the fields that a create takes.',
        tags: ['data'],
        params: TableParamsSchema,
        querystring: ImportQuerySchema,
        body: ImportBodySchema,
        response: { 200: ImportResultEnvelope }
      },
      config: {
        credential: 'token',
        action: 'create',
        furtherActions: actionsToUpsert,
        errors: [...TOKEN_READ_ERRORS, ...IMPORT_ERRORS],
        takesRetryKey: true
      }
    },
    async ({ caller, token, table, query, body, headers }) => {
      const { integers } = token
      const request = readImportRequest({ headers, query, integers })
      const access = accessOf(caller, table)
      return ok(await imports.importFile(caller, access, { ...request, setsReadOnly: false }, fileOf(body)))
    }
  )
}

export default importRoutes
