import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { addFileBodies } from '../../plugins/http/body-chunks.ts'
import { ok, TableIdParamsSchema } from '../../schemas/envelope.ts'
import {
  ImportBodySchema,
  ImportQuerySchema,
  ImportResultEnvelope,
  TableFileQuerySchema,
  TableFromFileEnvelope
} from '../../schemas/import.ts'
import { IMPORT_ERRORS, TABLE_ERRORS } from '../../schemas/operation-errors.ts'
import { toTable } from '../../services/tables/table-json.ts'
import { fileOf, readImportRequest } from '../import-request.ts'

const importRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { imports, tableFiles, tables, accessOf, config } = fastify
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
      config: { credential: 'administrator', errors: [...TABLE_ERRORS, ...IMPORT_ERRORS], takesRetryKey: true }
    },
    async ({ caller, params, query, body, headers }) => {
      const access = accessOf(caller, tables.get(params.id))
      const request = readImportRequest({ headers, query, integers: 'auto' })
      return ok(await imports.importFile(caller, access, { ...request, setsReadOnly: true }, fileOf(body)))
    }
  )

  fastify.post(
    '/from-file',
    {
      schema: {
        operationId: 'adminCreateTableFromFile',
        summary: 'Create a table from CSV or NDJSON',
        description:
          'Infers the fields from the first 1,000 records, in at most 256 KiB: `integer`, `number`, `boolean`, otherwise `string`; in NDJSON also `object` and `array`. A field `id` of integers or texts is the key; a table without it gets one. Then all records are imported. If one is wrong, there is no table. The new table is not published.',
        tags: ['tables'],
        querystring: TableFileQuerySchema,
        body: ImportBodySchema,
        response: { 200: TableFromFileEnvelope }
      },
      config: { credential: 'administrator', errors: [...IMPORT_ERRORS, 'TABLE_EXISTS', 'TABLE_REGISTERED'] }
    },
    async ({ caller, query: { name, label, ...query }, body, headers }) => {
      const request = readImportRequest({ headers, query, integers: 'auto' })
      const options = { ...request, setsReadOnly: true }
      const { table, ...made } = await tableFiles.createFromFile(caller, { name, label }, options, fileOf(body))
      const dryRun = table === null
      return ok({ ...made, rows: [...made.rows], dryRun, ...(table && { table: toTable(table) }) })
    }
  )
}

export default importRoutes
