import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { done, Envelope, IdParamsSchema, OkSchema, ok } from '../../schemas/envelope.ts'
import { WRITE_ERRORS } from '../../schemas/operation-errors.ts'
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
      },
      config: { credential: 'administrator', errors: [] }
    },
    async () => ok(tables.all().map(toTable))
  )

  fastify.get(
    '/:id',
    {
      schema: { operationId: 'readTable', summary: 'Read one table', tags, params: IdParamsSchema, response },
      config: { credential: 'administrator', errors: ['TABLE_NOT_FOUND', 'TABLE_UNUSABLE'] }
    },
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
      },
      config: {
        credential: 'administrator',
        errors: [...WRITE_ERRORS, 'TABLE_NOT_FOUND', 'TABLE_REGISTERED', 'TABLE_NOT_IMPORTABLE', 'TABLE_UNUSABLE']
      }
    },
    async ({ caller, body }) => ok(toTable(await tables.importTable(caller, body.name)))
  )

  fastify.post(
    '',
    {
      schema: { operationId: 'createTable', summary: 'Create a table', tags, body: NewTableSchema, response },
      config: { credential: 'administrator', errors: [...WRITE_ERRORS, 'TABLE_EXISTS', 'TABLE_REGISTERED'] }
    },
    async ({ caller, body }) => ok(toTable(await tables.create(caller, body)))
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
      },
      config: {
        credential: 'administrator',
        errors: [...WRITE_ERRORS, 'TABLE_NOT_FOUND', 'TABLE_UNUSABLE', 'TABLE_CHANGED']
      }
    },
    async ({ caller, params, body }) => ok(toTable(await tables.update(caller, params.id, body)))
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
      },
      config: {
        credential: 'administrator',
        errors: [
          ...WRITE_ERRORS,
          'TABLE_NOT_FOUND',
          'TABLE_UNUSABLE',
          'TABLE_CHANGED',
          'TABLE_NOT_IMPORTABLE',
          'STRUCTURE_CHANGED'
        ]
      }
    },
    async ({ caller, params }) => ok(toTable(await tables.refresh(caller, params.id)))
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
      },
      config: { credential: 'administrator', errors: [...WRITE_ERRORS, 'TABLE_NOT_FOUND', 'CONFIRMATION_REQUIRED'] }
    },
    async ({ caller, params, query }) => {
      await tables.unregister(caller, params.id, query.confirm === true)
      return done()
    }
  )
}

export default tableRoutes
