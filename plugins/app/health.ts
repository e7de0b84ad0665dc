import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import fp from 'fastify-plugin'
import { Envelope, ok, strict } from '../../schemas/envelope.ts'

const tags = ['service']
const response = { 200: Envelope(Type.Object({ status: Type.Literal('ok') }, strict)) }
const healthy = ok({ status: 'ok' as const })

/**
 * For those who watch over the process. Liveness asks for nothing but an answer, since a restart mends no disk;
 * readiness reads and writes, and decides who gets requests.
 */
const health: FastifyPluginAsyncTypebox = async (fastify) => {
  const { readiness } = fastify

  fastify.get(
    '/health',
    {
      schema: { operationId: 'isAlive', tags, summary: 'Whether the process answers', response },
      config: { evenUnderPressure: true }
    },
    async () => healthy
  )

  fastify.get(
    '/health/ready',
    {
      schema: {
        operationId: 'isReady',
        tags,
        summary: 'Whether records can be read and written',
        description: 'Reads and writes, at most once a second however many ask. 503 says what is in the way.',
        response
      }
    },
    async () => {
      await readiness.check()
      return healthy
    }
  )
}

export default fp(health, { name: 'health', dependencies: ['services'] })
