import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { done, OkSchema, ok, TableIdParamsSchema } from '../../schemas/envelope.ts'
import { READ_ERRORS, READ_ONLY_ERRORS, TABLE_ERRORS, WRITE_ERRORS } from '../../schemas/operation-errors.ts'
import {
  NewTableIndexSchema,
  TableIndexEnvelope,
  TableIndexesEnvelope,
  TableIndexParamsSchema
} from '../../schemas/table-index.ts'

const tags = ['tables']
const credential = 'administrator'

const indexRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { tables } = fastify

  fastify.get(
    '/:id/indexes',
    {
      schema: {
        operationId: 'adminListTableIndexes',
        summary: 'List the indexes of a table',
        description: 'Lists all indexes of the stored table by name, also those of other programs and of SQLite.',
        tags,
        params: TableIdParamsSchema,
        response: { 200: TableIndexesEnvelope }
      },
      config: { credential, scope: 'tables:read', errors: [...READ_ERRORS, ...TABLE_ERRORS] }
    },
    async ({ params }) => ok(await tables.listIndexes(params.id))
  )

  fastify.post(
    '/:id/indexes',
    {
      schema: {
        operationId: 'adminCreateTableIndex',
        summary: 'Create an index',
        description:
          'Creates an index in the stored table. Until it is stored, other writes wait, and reads continue. For a large table this may take minutes.',
        tags,
        params: TableIdParamsSchema,
        body: NewTableIndexSchema,
        response: { 200: TableIndexEnvelope }
      },
      config: {
        credential,
        scope: 'tables:write',
        errors: [
          ...WRITE_ERRORS,
          ...TABLE_ERRORS,
          ...READ_ONLY_ERRORS,
          'STRUCTURE_CHANGED',
          'INDEX_EXISTS',
          'UNIQUE_VIOLATION',
          'CONSTRAINT_VIOLATION'
        ]
      }
    },
    async ({ caller, params, body }) => ok(await tables.createIndex(caller, params.id, body))
  )

  fastify.delete(
    '/:id/indexes/:name',
    {
      schema: {
        operationId: 'adminDropTableIndex',
        summary: 'Delete an index',
        description:
          'Deletes an index that was created through the API. The records do not change. Refused while a foreign key, a trigger or a view needs the index.',
        tags,
        params: TableIndexParamsSchema,
        response: { 200: OkSchema }
      },
      config: {
        credential,
        scope: 'tables:write',
        errors: [
          ...WRITE_ERRORS,
          ...TABLE_ERRORS,
          'TABLE_CHANGED',
          'STRUCTURE_IN_USE',
          'SCAN_TIMEOUT',
          'INDEX_NOT_FOUND',
          'INDEX_NOT_OURS'
        ]
      }
    },
    async ({ caller, params }) => {
      await tables.dropIndex(caller, params.id, params.name)
      return done()
    }
  )
}

export default indexRoutes
