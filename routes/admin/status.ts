import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ok } from '../../schemas/envelope.ts'
import { READ_ERRORS } from '../../schemas/operation-errors.ts'
import { StatusEnvelope } from '../../schemas/status.ts'

const statusRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  fastify.get(
    '',
    {
      schema: {
        operationId: 'adminReadStatus',
        tags: ['service'],
        summary: 'Read the state of the service',
        description: 'Returns the version, the sizes of the files, and counts since the start.',
        response: { 200: StatusEnvelope }
      },
      config: { credential: 'administrator', scope: 'settings', errors: READ_ERRORS }
    },
    async () => ok(await fastify.readStatus())
  )
}

export default statusRoutes
