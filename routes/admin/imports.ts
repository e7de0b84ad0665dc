import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { addFileBodies } from '../../plugins/http/body-chunks.ts'
import { ok, TableIdParamsSchema } from '../../schemas/envelope.ts'
import { ImportBodySchema, ImportQuerySchema, ImportResultEnvelope } from '../../schemas/import.ts'
import { IMPORT_ERRORS, TABLE_ERRORS } from '../../schemas/operation-errors.ts'
import { fileOf, readImportRequest } from '../import-request.ts'

const importRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { imports, tables, views, config } = fastify
  addFileBodies(fastify, config.IMPORT_LIMIT)

  fastify.post(
    '/:id/import',
    {
      schema: {
        operationId: 'adminImportRecords',
        summary: 'Import records from CSV or NDJSON',
        description:
          'Creates a record for each line of a file, or changes the records with the same keys. All lines are checked first: if one is wrong, nothing is imported. The file may also set read-only fields. Generated fields are ignored.',
        tags: ['records'],
        params: TableIdParamsSchema,
        querystring: ImportQuerySchema,
        body: ImportBodySchema,
        response: { 200: ImportResultEnvelope }
      },
      config: { credential: 'administrator', errors: [...TABLE_ERRORS, ...IMPORT_ERRORS] }
    },
    async ({ caller, params, query, body, headers }) => {
      const view = views.administratorView(tables.get(params.id))
      const request = readImportRequest({ contentType: headers['content-type'], query, integers: 'auto' })
      return ok(await imports.importFile(caller, view, { ...request, setsReadOnly: true }, fileOf(body)))
    }
  )
}

export default importRoutes
