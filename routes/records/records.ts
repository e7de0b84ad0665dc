import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ok } from '../../schemas/envelope.ts'
import {
  QUERY_ERRORS,
  READ_ONLY_ERRORS,
  RECORD_CHANGE_ERRORS,
  RECORD_CREATE_ERRORS,
  RECORD_READ_ERRORS
} from '../../schemas/operation-errors.ts'
import {
  CreateHeadersSchema,
  CreateQuerySchema,
  IfMatchHeadersSchema,
  IfNoneMatchHeadersSchema,
  ListQuerySchema,
  PageEnvelope,
  RecordBodySchema,
  RecordChangedSchema,
  RecordCreatedSchema,
  RecordTaggedChangeSchema,
  ReturnQuerySchema,
  recordResponses
} from '../../schemas/record.ts'
import { ReferrersEnvelope } from '../../schemas/referrers.ts'
import { readListQuery } from '../list-query.ts'
import { parentPath, pathKey } from '../path-key.ts'
import { onlyCreates, refuseIfNoneMatch } from '../preconditions.ts'
import {
  assertRoomForResponse,
  changeOptions,
  okChanged,
  okCreated,
  okDeleted,
  okRecord,
  okText,
  okUpserted
} from '../replies/json-text.ts'
import type { RecordAreaOptions } from './area.ts'
import { actionsToReturn, actionsToUpsert } from './further-actions.ts'

/** The methods that update a record. Each is an operation of its own in the document. */
const UPDATES = [
  {
    method: 'PUT',
    operationId: { administrator: 'adminUpdateRecord', token: 'updateRecord' },
    summary: 'Update a record'
  },
  {
    method: 'PATCH',
    operationId: { administrator: 'adminPatchRecord', token: 'patchRecord' },
    summary: 'Update a record, with PATCH'
  }
] as const

const recordRoutes: FastifyPluginAsyncTypebox<RecordAreaOptions> = async (fastify, { area }) => {
  const { records, readableBy } = fastify
  const { credential, tags, paths, tableParams, recordParams, recheckErrors, recordsPath, accessTo } = area
  const changeErrors = [...area.changeErrors, ...RECORD_CHANGE_ERRORS, ...READ_ONLY_ERRORS] as const

  fastify.get(
    paths.list,
    {
      schema: {
        operationId: { administrator: 'adminListRecords', token: 'listRecords' }[credential],
        summary: 'List, sort and search records',
        description: {
          administrator:
            'Returns one page of the matching records, with the hidden fields. Without `order`, the records are sorted by the key.',
          token: 'Returns one page of the matching records, sorted by the key unless `order` is sent.'
        }[credential],
        tags,
        params: tableParams,
        querystring: ListQuerySchema,
        response: { 200: PageEnvelope }
      },
      config: { credential, action: 'read', scope: 'records:read', errors: [...recheckErrors, ...QUERY_ERRORS] }
    },
    async (request, reply) => {
      const { caller, query } = request
      const access = accessTo(request)
      return okText(
        reply,
        await records.list(
          caller,
          access,
          readListQuery(query, { access, readable: readableBy(caller) }, ListQuerySchema)
        )
      )
    }
  )

  fastify.get(
    `${paths.records}/:pk`,
    {
      schema: {
        operationId: { administrator: 'adminReadRecord', token: 'readRecord' }[credential],
        summary: 'Read one record',
        description: {
          administrator: 'Returns the record with this key, with the hidden fields.',
          token: 'Returns the record with this key, without the hidden fields.'
        }[credential],
        tags,
        params: recordParams,
        headers: IfNoneMatchHeadersSchema,
        response: recordResponses
      },
      config: {
        credential,
        action: 'read',
        scope: 'records:read',
        errors: [...recheckErrors, ...RECORD_READ_ERRORS, 'RECORD_NOT_FOUND']
      }
    },
    async (request, reply) => {
      const { caller, params, url } = request
      const access = accessTo(request)
      return okRecord(reply, await records.read(caller, access, pathKey(access.table, params.pk, url)))
    }
  )

  fastify.post(
    paths.records,
    {
      schema: {
        operationId: { administrator: 'adminCreateRecord', token: 'createRecord' }[credential],
        summary: 'Create a record',
        description:
          'Stores a record and returns it, with its key and its defaults. The header `Location` has the path of the record.',
        tags,
        params: tableParams,
        querystring: CreateQuerySchema,
        headers: CreateHeadersSchema,
        body: RecordBodySchema,
        response: { 200: RecordCreatedSchema }
      },
      config: {
        credential,
        action: 'create',
        scope: 'records:write',
        furtherActions: actionsToUpsert,
        errors: [...area.changeErrors, ...RECORD_CREATE_ERRORS, ...READ_ONLY_ERRORS, 'PRECONDITION_FAILED'],
        takesRetryKey: true
      }
    },
    async (request, reply) => {
      const { caller, query, headers, body } = request
      assertRoomForResponse(reply)
      const access = accessTo(request)
      const { table } = access
      const place = { table, recordsPath: recordsPath(table), isReadable: caller.mayRead(table.name) }
      if (query.upsert === undefined) {
        refuseIfNoneMatch(headers)
        return okCreated(reply, await records.create(caller, access, body), place)
      }
      const upsert = { on: query.upsert.split(','), values: body, onlyCreates: onlyCreates(headers) }
      return okUpserted(reply, await records.upsert(caller, access, upsert), place)
    }
  )

  fastify.get(
    `${paths.records}/:pk/referring`,
    {
      schema: {
        operationId: { administrator: 'adminCountReferrers', token: 'countReferrers' }[credential],
        summary: 'Count the records that refer to a record',
        description:
          'Returns the number of records of each table whose foreign key refers to this record. To read them, query the table by these fields.',
        tags,
        params: recordParams,
        response: { 200: ReferrersEnvelope }
      },
      config: {
        credential,
        action: 'read',
        scope: 'records:read',
        errors: [...recheckErrors, ...RECORD_READ_ERRORS, 'RECORD_NOT_FOUND']
      }
    },
    async (request) => {
      const { caller, params, url } = request
      const access = accessTo(request)
      return ok(await records.countReferrers(caller, access, pathKey(access.table, params.pk, parentPath(url))))
    }
  )

  for (const { method, operationId, summary } of UPDATES) {
    fastify.route({
      method,
      url: `${paths.records}/:pk`,
      schema: {
        operationId: operationId[credential],
        summary,
        description: 'Changes only the fields that are sent. The key cannot change. `PUT` and `PATCH` do the same.',
        tags,
        params: recordParams,
        querystring: ReturnQuerySchema,
        headers: IfMatchHeadersSchema,
        body: RecordBodySchema,
        response: { 200: RecordTaggedChangeSchema }
      },
      config: {
        credential,
        action: 'update',
        scope: 'records:write',
        furtherActions: actionsToReturn,
        errors: changeErrors,
        takesRetryKey: true
      },
      handler: async (request, reply) => {
        const { caller, params, url, query, body } = request
        const access = accessTo(request)
        const pk = pathKey(access.table, params.pk, url)
        const options = changeOptions(reply, query)
        return okChanged(reply, await records.update(caller, access, pk, body, options))
      }
    })
  }

  fastify.delete(
    `${paths.records}/:pk`,
    {
      schema: {
        operationId: { administrator: 'adminDeleteRecord', token: 'deleteRecord' }[credential],
        summary: 'Delete a record',
        description: 'Deletes the record with this key. With `return=record`, returns it as it was.',
        tags,
        params: recordParams,
        querystring: ReturnQuerySchema,
        headers: IfMatchHeadersSchema,
        response: { 200: RecordChangedSchema }
      },
      config: {
        credential,
        action: 'delete',
        scope: 'records:write',
        furtherActions: actionsToReturn,
        errors: changeErrors,
        takesRetryKey: true
      }
    },
    async (request, reply) => {
      const { caller, params, url, query } = request
      const access = accessTo(request)
      const pk = pathKey(access.table, params.pk, url)
      const options = changeOptions(reply, query)
      return okDeleted(reply, await records.remove(caller, access, pk, options))
    }
  )
}

export default recordRoutes
