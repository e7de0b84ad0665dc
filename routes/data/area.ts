import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import identity from './identity.ts'
import records from './records.ts'
import schema from './schema.ts'

/** The routes for programs with a token. The hooks apply to all of them. */
const dataArea: FastifyPluginAsyncTypebox = async (fastify) => {
  fastify.addHook('onRoute', fastify.requireAction)
  fastify.addHook('onRequest', fastify.authenticateToken)

  await fastify.register(identity)
  await fastify.register(schema)
  await fastify.register(records)
}

export default dataArea
