import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { addFileBodies } from '../../plugins/http/body-chunks.ts'
import { ok } from '../../schemas/envelope.ts'
import { ImportBodySchema, ImportQuerySchema, ImportResultEnvelope } from '../../schemas/import.ts'
import { IMPORT_ERRORS } from '../../schemas/operation-errors.ts'
import { fileOf, readImportRequest } from '../import-request.ts'
import type { RecordAreaOptions } from './area.ts'
import { actionsToUpsert } from './further-actions.ts'

const importRoutes: FastifyPluginAsyncTypebox<RecordAreaOptions> = async (fastify, { area }) => {
  const { imports, config } = fastify
  const { credential, tags, paths, tableParams, changeErrors, setsReadOnly, accessTo } = area
  addFileBodies(fastify, { maxBytes: config.IMPORT_LIMIT })

  fastify.post(
    `${paths.table}/import`,
    {
      schema: {
        operationId: { administrator: 'adminImportRecords', token: 'importRecords' }[credential],
        summary: 'Import records from CSV, NDJSON or JSON',
        description: {
          administrator:
            'Creates the records of a file, or changes those with the same keys. All records are checked first: if one is wrong, nothing is imported. The file may also set read-only fields. Generated fields are ignored.',
          token:
            'Creates the records of a file, or changes those with the same keys. All records are checked first: if one is wrong, nothing is imported. The file has the fields that a create takes.'
        }[credential],
        tags,
        params: tableParams,
        querystring: ImportQuerySchema,
        body: ImportBodySchema,
        response: { 200: ImportResultEnvelope }
      },
      config: {
        credential,
        action: 'create',
        scope: 'imports',
        furtherActions: actionsToUpsert,
        errors: [...changeErrors, ...IMPORT_ERRORS],
        takesRetryKey: true,
        takesGzip: true
      }
    },
    async (request) => {
      const { caller, query, body, headers } = request
      const access = accessTo(request)
      const options = { ...readImportRequest({ headers, query, integers: caller.integers }), setsReadOnly }
      return ok(await imports.importFile(caller, access, options, fileOf(body)))
    }
  )
}

export default importRoutes
