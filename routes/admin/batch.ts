import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { BatchEnvelope, BatchSchema, MAX_BATCH_PARTS } from '../../schemas/batch.ts'
import { BATCH_ERRORS, TABLE_ERRORS } from '../../schemas/operation-errors.ts'
import type { Caller } from '../../services/model/caller.ts'
import type { BatchTables } from '../../services/records/batch/batch.ts'
import { scopeMissing } from '../../services/tokens/admin-keys.ts'
import { assertRoomForResponse, okBatch } from '../replies/json-text.ts'

const batchRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { records, tables, accessOf, config } = fastify

  const tablesOf = (caller: Caller): BatchTables => ({
    open: (name, actions) => {
      if (actions.includes('read') && !caller.mayRead(name)) throw scopeMissing('records:read')
      return accessOf(caller, tables.getByPath(name), [])
    }
  })

  fastify.post(
    '',
    {
      schema: {
        operationId: 'adminRunBatch',
        summary: 'Change several records at once',
        description: 'Runs up to 1,000 operations on any tables in one transaction: all of them, or none.',
        tags: ['records'],
        body: BatchSchema,
        response: { 200: BatchEnvelope }
      },
      bodyLimit: config.BATCH_LIMIT,
      config: {
        credential: 'administrator',
        scope: 'records:write',
        errors: [...TABLE_ERRORS, ...BATCH_ERRORS],
        takesRetryKey: true,
        maxParts: MAX_BATCH_PARTS
      }
    },
    async ({ caller, body }, reply) => {
      assertRoomForResponse(reply)
      return okBatch(reply, await records.batch(caller, tablesOf(caller), body.operations))
    }
  )
}

export default batchRoutes
