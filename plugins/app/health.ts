import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import fp from 'fastify-plugin'
import { Envelope, ok, strict } from '../../schemas/envelope.ts'
import { READ_ERRORS } from '../../schemas/operation-errors.ts'

const tags = ['service']
const HealthSchema = Type.Object(
  { status: Type.String({ description: '`ok`', examples: ['ok'] }) },
  { title: 'Health', description: 'The result of a check that has passed.', ...strict }
)
const response = { 200: Envelope('HealthEnvelope', HealthSchema) }
const healthy = ok({ status: 'ok' as const })

/**
 * For supervisors and load balancers. Liveness only responds: a failed check makes a supervisor restart the process,
 * which does not repair a disk. Readiness reads and writes.
 */
const health: FastifyPluginAsyncTypebox = async (fastify) => {
  const { readiness } = fastify

  fastify.get(
    '/health',
    {
      schema: {
        operationId: 'checkLiveness',
        tags,
        summary: 'Check that the process responds',
        description: 'Responds without a look at the database.',
        response
      },
      config: { credential: 'none', errors: [], evenUnderPressure: true }
    },
    async () => healthy
  )

  fastify.get(
    '/health/ready',
    {
      schema: {
        operationId: 'checkReadiness',
        tags,
        summary: 'Check that records can be read and written',
        description: 'Reads and writes the database, at most once a second. The message of a 503 contains the cause.',
        response
      },
      config: { credential: 'none', errors: [...READ_ERRORS, 'OUTCOME_UNKNOWN'], failurePrefix: 'Not ready: ' }
    },
    async () => {
      await readiness.check()
      return healthy
    }
  )
}

export default fp(health, { name: 'health', dependencies: ['services'] })
