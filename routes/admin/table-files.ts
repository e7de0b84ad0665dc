import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { addFileBodies } from '../../plugins/http/body-chunks.ts'
import { ok } from '../../schemas/envelope.ts'
import { ImportBodySchema, TableFileQuerySchema, TableFromFileEnvelope } from '../../schemas/import.ts'
import { IMPORT_ERRORS } from '../../schemas/operation-errors.ts'
import { splitNames } from '../../services/model/names.ts'
import { toNewTable } from '../../services/tables/table-json.ts'
import { fileOf, readImportRequest } from '../import-request.ts'

const tableFileRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { tableFiles, tables, config } = fastify
  addFileBodies(fastify, { maxBytes: config.IMPORT_LIMIT })

  fastify.post(
    '/from-file',
    {
      schema: {
        operationId: 'adminCreateTableFromFile',
        summary: 'Create a table from CSV, NDJSON or JSON',
        description:
          'Infers the fields from the first 1,000 records, in at most 256 KiB: `integer`, `number`, `boolean`, otherwise `string`; in JSON also `object` and `array`. `primaryKey` names the fields of the key. Otherwise a field `id` of integers or texts is the key; a table without it gets one. Then all records are imported. If one is wrong, there is no table. The new table is not published.',
        tags: ['tables'],
        querystring: TableFileQuerySchema,
        body: ImportBodySchema,
        response: { 200: TableFromFileEnvelope }
      },
      config: {
        credential: 'administrator',
        scope: 'tables:write',
        errors: [...IMPORT_ERRORS, 'TABLE_EXISTS', 'TABLE_REGISTERED'],
        takesGzip: true
      }
    },
    async ({ caller, query: { name, label, primaryKey, ...query }, body, headers }) => {
      const fileTable = {
        name,
        ...(label !== undefined && { label }),
        ...(primaryKey !== undefined && { primaryKey: splitNames(primaryKey) })
      }
      const request = readImportRequest({ headers, query, integers: 'auto' })
      const options = { ...request, setsReadOnly: true }
      const { table, ...made } = await tableFiles.createFromFile(caller, fileTable, options, fileOf(body))
      const dryRun = table === null
      return ok({
        ...made,
        rows: [...made.rows],
        dryRun,
        ...(table && { table: toNewTable(table, tables.namedBy(table)) })
      })
    }
  )
}

export default tableFileRoutes
