import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { BatchEnvelope, BatchSchema, MAX_BATCH_PARTS } from '../../schemas/batch.ts'
import { BATCH_ERRORS, TOKEN_CHANGE_ERRORS } from '../../schemas/operation-errors.ts'
import type { RegisteredTable } from '../../services/model/table.ts'
import type { BatchTables } from '../../services/records/batch/batch.ts'
import { assertSameRecords, openToTokens, reachableTables } from '../../services/tables/token-access.ts'
import { authorize } from '../../services/tokens/authorize.ts'
import { assertRoomForResponse, okBatch } from '../replies/json-text.ts'
import { wideIntegersAsText } from './wide-integers.ts'

type Actions = Parameters<BatchTables['open']>[1]

/** A table that a batch uses, as it was when the batch began. */
interface UsedTable {
  readonly table: RegisteredTable
  readonly actions: Set<Actions[number]>
}

/** Creates the tables of one batch of a token, and the check that the token may still use them. */
const createTokenTables = ({ tables, keys, accessOf }: FastifyInstance, { caller, key }: FastifyRequest) => {
  const usedTables = new Map<string, UsedTable>()

  const find = (name: string, actions: Iterable<Actions[number]>) => {
    const current = keys.current(key)
    const table = tables.findByPath(name)
    for (const action of actions) authorize(current, action, table?.name ?? name, name)
    const reachable = () => reachableTables(tables.all(), current.scope)
    return openToTokens(table, name, { isWrite: true, reachable })
  }

  const use = (name: string, table: RegisteredTable) => {
    const used = usedTables.get(name) ?? { table, actions: new Set() }
    usedTables.set(name, used)
    return used
  }

  const batchTables: BatchTables = {
    open: (name, actions) => {
      const used = use(name, find(name, actions))
      for (const action of actions) used.actions.add(action)
      return accessOf(caller, used.table, actions)
    }
  }

  /** @throws the error of the right that has ended, TABLE_CHANGED */
  const confirm = () => {
    for (const [name, { table, actions }] of usedTables) assertSameRecords(table, find(name, actions))
  }
  return { batchTables, confirm }
}

/** Returns the operations of a body that has not been validated. */
const operationsIn = (body: unknown): readonly unknown[] => {
  const { operations } = Object(body)
  return Array.isArray(operations) ? operations : []
}

const batchRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { records, config } = fastify

  fastify.post(
    '/_batch',
    {
      schema: {
        operationId: 'runBatch',
        summary: 'Change several records at once',
        description:
          'Runs up to 1,000 operations in one transaction: all of them, or none. The token needs the right to each.',
        tags: ['data'],
        body: BatchSchema,
        response: { 200: BatchEnvelope }
      },
      bodyLimit: config.BATCH_LIMIT,
      preValidation: (request, _reply, done) => {
        for (const operation of operationsIn(request.body)) wideIntegersAsText(operation)
        done()
      },
      config: {
        credential: 'token',
        action: 'none',
        errors: [...TOKEN_CHANGE_ERRORS, ...BATCH_ERRORS],
        takesRetryKey: true,
        maxParts: MAX_BATCH_PARTS
      }
    },
    async (request, reply) => {
      const { caller, body } = request
      fastify.countOperations(reply, body.operations.length)
      assertRoomForResponse(reply)
      const { batchTables, confirm } = createTokenTables(fastify, request)
      const confirmAll = async () => {
        await caller.confirm()
        confirm()
      }
      return okBatch(reply, await records.batch({ ...caller, confirm: confirmAll }, batchTables, body.operations))
    }
  )
}

export default batchRoutes
