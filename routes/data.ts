import { isDeepStrictEqual } from 'node:util'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest, preHandlerHookHandler } from 'fastify'
import { done, Envelope, OkSchema, ok } from '../schemas/envelope.ts'
import {
  IncrementSchema,
  ListQuerySchema,
  PageSchema,
  RecordBodySchema,
  RecordSchema,
  TableParamsSchema,
  TableRecordParamsSchema
} from '../schemas/record.ts'
import { AddFieldSchema, TableSchema, TokenNewTableSchema } from '../schemas/table.ts'
import { TokenIdentitySchema } from '../schemas/token.ts'
import type { Caller } from '../services/model/caller.ts'
import { DomainError } from '../services/model/errors.ts'
import { tokenView } from '../services/records/view.ts'
import { toVisibleTable } from '../services/tables/registry.ts'
import type { Scope } from '../services/tokens/permissions.ts'
import { okCreated, okText } from './replies/json-text.ts'
import { createCallerOf } from './scan-caller.ts'

const tags = ['data']

const viewOf = ({ table }: FastifyRequest) => tokenView(table)

const changedMeanwhile = (name: string) =>
  new DomainError('TABLE_CHANGED', `The table '${name}' was changed meanwhile. Try again.`)

const dataRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { records, tables, allow } = fastify
  const reachable = (scope: Scope) => tables.all().filter(({ name, isPublished }) => isPublished && scope.reaches(name))

  const mayRead = allow('read')
  const [mayUpdate, mayDelete, maySchema] = [allow('update'), allow('delete'), allow('schema')]
  /** Asks again whether the token may: what came in between may have ended its right. */
  const again = (may: preHandlerHookHandler, reply: FastifyReply) => () => {
    may.call(fastify, reply.request, reply, () => {})
  }

  /** The same, and whether the table is what it was: which fields are hidden, and which may be changed. */
  const againUnchanged = (may: preHandlerHookHandler, reply: FastifyReply) => () => {
    const { request } = reply
    const { structure, name } = request.table
    again(may, reply)()
    if (!isDeepStrictEqual(structure, request.table.structure)) throw changedMeanwhile(name)
  }

  const callerOf = createCallerOf({
    identify: ({ token: { id } }) => ({ kind: 'token', id }),
    confirm: async (reply) => againUnchanged(mayRead, reply)()
  })
  /** The caller of a change to the schema. */
  const schemaCallerOf = (reply: FastifyReply): Caller => {
    const { id, ip, token } = reply.request
    const confirm = async () => again(maySchema, reply)()
    return { kind: 'token', id: token.id, name: token.name, requestId: id, address: ip, confirm }
  }
  fastify.addHook('onRequest', fastify.authenticateToken)

  fastify.get(
    '/_me',
    {
      schema: {
        operationId: 'readTokenIdentity',
        summary: 'What this token is and what it opens',
        tags,
        response: { 200: Envelope(TokenIdentitySchema) }
      }
    },
    async ({ token: { name, permissions, expiresAt, scope } }) =>
      ok({ name, permissions, expires_at: expiresAt, tables: reachable(scope).map((table) => table.name) })
  )

  fastify.post(
    '/_schema/tables',
    {
      schema: {
        operationId: 'createTableByToken',
        summary: 'Create a table',
        tags,
        body: TokenNewTableSchema,
        response: { 200: Envelope(TableSchema) }
      },
      preHandler: maySchema
    },
    async (request, reply) => ok(toVisibleTable(await tables.create(schemaCallerOf(reply), request.body)))
  )

  fastify.post(
    '/_schema/tables/:table/fields',
    {
      schema: {
        operationId: 'addField',
        summary: 'Add a field to a table',
        tags,
        params: TableParamsSchema,
        body: AddFieldSchema,
        response: { 200: Envelope(TableSchema) }
      },
      preHandler: maySchema
    },
    async (request, reply) => {
      const { table, body } = request
      return ok(toVisibleTable(await tables.addField(schemaCallerOf(reply), table.id, body.field)))
    }
  )

  fastify.get(
    '/:table',
    {
      schema: {
        operationId: 'listTableRecords',
        summary: 'List, sort and search records',
        tags,
        params: TableParamsSchema,
        querystring: ListQuerySchema,
        response: { 200: Envelope(PageSchema) }
      },
      preHandler: mayRead
    },
    async (request, reply) => okText(reply, await records.list(viewOf(request), request.query, callerOf(reply)))
  )

  fastify.get(
    '/:table/schema',
    {
      schema: {
        operationId: 'readTableSchema',
        summary: 'Read the schema of a table',
        tags,
        params: TableParamsSchema,
        response: { 200: Envelope(TableSchema) }
      },
      preHandler: mayRead
    },
    async (request) => ok(toVisibleTable(request.table))
  )

  fastify.get(
    '/:table/records/:pk',
    {
      schema: {
        operationId: 'readTableRecord',
        summary: 'Read one record',
        tags,
        params: TableRecordParamsSchema,
        response: { 200: Envelope(RecordSchema) }
      },
      preHandler: mayRead
    },
    async (request, reply) => okText(reply, await records.read(viewOf(request), request.params.pk, callerOf(reply)))
  )

  fastify.post(
    '/:table/records',
    {
      schema: {
        operationId: 'createTableRecord',
        summary: 'Create a record',
        tags,
        params: TableParamsSchema,
        body: RecordBodySchema,
        response: { 200: Envelope(RecordSchema) }
      },
      preHandler: allow('create')
    },
    (request, reply) => okCreated(reply, () => records.create(viewOf(request), request.body))
  )

  fastify.put(
    '/:table/records/:pk',
    {
      schema: {
        operationId: 'updateTableRecord',
        summary: 'Change fields of a record',
        tags,
        params: TableRecordParamsSchema,
        body: RecordBodySchema,
        response: { 200: OkSchema }
      },
      preHandler: mayUpdate
    },
    async (request, reply) => {
      await records.update(viewOf(request), request.params.pk, request.body, againUnchanged(mayUpdate, reply))
      return done()
    }
  )

  fastify.delete(
    '/:table/records/:pk',
    {
      schema: {
        operationId: 'deleteTableRecord',
        summary: 'Delete a record',
        tags,
        params: TableRecordParamsSchema,
        response: { 200: OkSchema }
      },
      preHandler: mayDelete
    },
    async (request, reply) => {
      await records.remove(viewOf(request), request.params.pk, againUnchanged(mayDelete, reply))
      return done()
    }
  )

  fastify.post(
    '/:table/incr',
    {
      schema: {
        operationId: 'incrementField',
        summary: 'Add to a numeric field',
        tags,
        params: TableParamsSchema,
        body: IncrementSchema,
        response: { 200: OkSchema }
      },
      preHandler: mayUpdate
    },
    async (request, reply) => {
      await records.increment(viewOf(request), request.body, againUnchanged(mayUpdate, reply))
      return done()
    }
  )
}

export default dataRoutes
