import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ok } from '../../schemas/envelope.ts'
import type { ErrorCode } from '../../schemas/error.ts'
import { READ_ONLY_ERRORS, WRITE_ERRORS } from '../../schemas/operation-errors.ts'
import { TableEnvelope } from '../../schemas/table.ts'
import { FieldParamsSchema, FieldRedefinitionSchema, FieldRemovalQuerySchema } from '../../schemas/table-changes.ts'
import { toTable } from '../../services/tables/table-json.ts'

const tags = ['tables']
const response = { 200: TableEnvelope }

const ERRORS: readonly ErrorCode[] = [
  ...WRITE_ERRORS,
  'TABLE_NOT_FOUND',
  'TABLE_UNUSABLE',
  ...READ_ONLY_ERRORS,
  'TABLE_CHANGED',
  'STRUCTURE_CHANGED',
  'FIELD_NOT_FOUND',
  'STRUCTURE_IN_USE',
  'TABLE_TOO_LARGE',
  'SCAN_TIMEOUT'
]

/** Changes of fields, for administrators. `tables.ts` adds fields. */
const fieldRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { tables } = fastify

  fastify.put(
    '/:id/fields/:name',
    {
      schema: {
        operationId: 'adminUpdateTableField',
        summary: 'Change a field of a table',
        description:
          'Changes only the properties that are sent. Foreign keys, indexes, triggers and views follow a new `name`; the client name stays. A new `jsonType` converts the stored values. If one of them does not fit, nothing changes, and the error has an example.',
        tags,
        params: FieldParamsSchema,
        body: FieldRedefinitionSchema,
        response
      },
      config: {
        credential: 'administrator',
        scope: 'tables:write',
        errors: [...ERRORS, 'FIELD_EXISTS', 'RIGHTS_CONFLICT', 'VALUES_DO_NOT_FIT']
      }
    },
    async ({ caller, params, body }) => ok(toTable(await tables.changeField(caller, params.id, params.name, body)))
  )

  fastify.delete(
    '/:id/fields/:name',
    {
      schema: {
        operationId: 'adminDropTableField',
        summary: 'Drop a field of a table',
        description:
          'Deletes the column with its values, and the indexes of only this field that were created through the API. Refused for the key, and while a foreign key, another index, a trigger or a view needs the field.',
        tags,
        params: FieldParamsSchema,
        querystring: FieldRemovalQuerySchema,
        response
      },
      config: { credential: 'administrator', scope: 'tables:write', errors: [...ERRORS, 'CONFIRMATION_REQUIRED'] }
    },
    async ({ caller, params, query }) =>
      ok(toTable(await tables.dropField(caller, params.id, params.name, query.confirm === true)))
  )
}

export default fieldRoutes
