import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { ok } from '../../schemas/envelope.ts'
import { TokenFieldAdditionSchema, TokenNewTableSchema } from '../../schemas/new-table.ts'
import { READ_ONLY_ERRORS, WRITE_ERRORS } from '../../schemas/operation-errors.ts'
import { TableParamsSchema } from '../../schemas/record.ts'
import { TableEnvelope } from '../../schemas/table.ts'
import type { RegisteredTable } from '../../services/model/table.ts'
import type { Referable } from '../../services/tables/changes/references.ts'
import { toVisibleTable } from '../../services/tables/table-json.ts'
import { readableFields } from '../../services/tables/token-access.ts'
import type { LiveKey } from '../../services/tokens/keys.ts'

const tags = ['data']
const credential = 'token'
const response = { 200: TableEnvelope }

const schemaRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { tables } = fastify

  const show = (table: RegisteredTable, { scope }: LiveKey) =>
    ok(toVisibleTable(table, scope.fieldsOf(table), readableFields(tables.find, scope)))

  /** With the latest state of the token: its right may be checked again during the request. */
  const referable =
    (request: Pick<FastifyRequest, 'key'>): Referable =>
    (table, field) =>
      readableFields(tables.find, request.key.scope)(table, field)

  fastify.post(
    '/_schema/tables',
    {
      schema: {
        operationId: 'createTable',
        summary: 'Create a table',
        description:
          'Creates the table in the database and registers it. `references` can name tables whose records the token can read.',
        tags,
        body: TokenNewTableSchema,
        response
      },
      config: {
        credential,
        action: 'schema',
        errors: [...WRITE_ERRORS, 'ACTION_NOT_ALLOWED', 'TABLE_EXISTS', 'TABLE_REGISTERED', 'STRUCTURE_CHANGED']
      }
    },
    async (request) =>
      show(await tables.create(request.caller, request.body, { isReferable: referable(request) }), request.key)
  )

  fastify.post(
    '/_schema/tables/:table/fields',
    {
      schema: {
        operationId: 'addTableField',
        summary: 'Add a field to a table',
        description:
          'Adds a column to the stored table. A field that is not `nullable` needs a default. `references` can name tables whose records the token can read.',
        tags,
        params: TableParamsSchema,
        body: TokenFieldAdditionSchema,
        response
      },
      config: {
        credential,
        action: 'schema',
        errors: [
          ...WRITE_ERRORS,
          'ACTION_NOT_ALLOWED',
          'TABLE_NOT_FOUND',
          'TABLE_UNUSABLE',
          ...READ_ONLY_ERRORS,
          'TABLE_CHANGED',
          'FIELD_EXISTS',
          'UNIQUE_VIOLATION',
          'STRUCTURE_CHANGED',
          'STRUCTURE_IN_USE',
          'SCAN_TIMEOUT'
        ]
      }
    },
    async (request) => {
      const { caller, table, body } = request
      return show(await tables.addField(caller, table.id, body.field, referable(request)), request.key)
    }
  )

  fastify.get(
    '/:table/schema',
    {
      schema: {
        operationId: 'readTableSchema',
        summary: 'Read the fields of a table',
        description: 'Returns the table with its fields, without the hidden ones.',
        tags,
        params: TableParamsSchema,
        response
      },
      config: { credential, action: 'read', errors: ['ACTION_NOT_ALLOWED', 'TABLE_NOT_FOUND', 'TABLE_UNUSABLE'] }
    },
    async ({ table, key }) => show(table, key)
  )
}

export default schemaRoutes
