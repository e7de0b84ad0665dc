import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { done, Envelope, IdParamsSchema, OkSchema, ok } from '../../schemas/envelope.ts'
import {
  ImportTableSchema,
  NewTableSchema,
  TableChangesSchema,
  TableSchema,
  UnregisterQuerySchema
} from '../../schemas/table.ts'
import { toTable } from '../../services/tables/registry.ts'

const tags = ['tables']
const response = { 200: Envelope(TableSchema) }

const tableRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { tables } = fastify

  fastify.get(
    '',
    {
      schema: {
        operationId: 'listTables',
        summary: 'List the registered tables',
        tags,
        response: { 200: Envelope(Type.Array(TableSchema)) }
      }
    },
    async () => ok(tables.all().map(toTable))
  )

  fastify.get(
    '/:id',
    { schema: { operationId: 'readTable', summary: 'Read one table', tags, params: IdParamsSchema, response } },
    async ({ params }) => ok(toTable(tables.get(params.id)))
  )

  fastify.post(
    '/import',
    {
      schema: {
        operationId: 'importTable',
        summary: 'Register a table that the database already has',
        tags,
        body: ImportTableSchema,
        response
      }
    },
    async ({ body, caller }) => ok(toTable(await tables.importTable(caller, body.name)))
  )

  fastify.post(
    '',
    { schema: { operationId: 'createTable', summary: 'Create a table', tags, body: NewTableSchema, response } },
    async ({ body, caller }) => ok(toTable(await tables.create(caller, body)))
  )

  fastify.put(
    '/:id',
    {
      schema: {
        operationId: 'updateTable',
        summary: 'Change labels, note and flags',
        tags,
        params: IdParamsSchema,
        body: TableChangesSchema,
        response
      }
    },
    async ({ params, body, caller }) => ok(toTable(await tables.update(caller, params.id, body)))
  )

  fastify.post(
    '/:id/refresh',
    {
      schema: {
        operationId: 'refreshTable',
        summary: 'Read the structure of the stored table again',
        tags,
        params: IdParamsSchema,
        response
      }
    },
    async ({ params, caller }) => ok(toTable(await tables.refresh(caller, params.id)))
  )

  fastify.delete(
    '/:id',
    {
      schema: {
        operationId: 'unregisterTable',
        summary: 'Unregister a table; its rows stay in the database',
        tags,
        params: IdParamsSchema,
        querystring: UnregisterQuerySchema,
        response: { 200: OkSchema }
      }
    },
    async ({ params, query, caller }) => {
      await tables.unregister(caller, params.id, query.confirm === true)
      return done()
    }
  )
}

export default tableRoutes
