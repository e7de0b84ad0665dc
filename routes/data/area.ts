import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { createBodyParser } from '../../plugins/http/body-parser.ts'
import { parseJson } from '../../plugins/http/json-body.ts'
import recordRoutes from '../records/routes.ts'
import batch from './batch.ts'
import document from './document.ts'
import identity from './identity.ts'
import increments from './increments.ts'
import { tokenRecords } from './records.ts'
import schema from './schema.ts'

/** The routes for programs with a token. The hooks apply to all of them. */
const dataArea: FastifyPluginAsyncTypebox = async (fastify) => {
  fastify.addHook('onRoute', fastify.requireAction)
  fastify.addHook('onRequest', fastify.authenticateToken)

  fastify.removeContentTypeParser('application/json')
  fastify.addContentTypeParser(
    'application/json',
    createBodyParser(
      (
        bytes,
        {
          key,
          routeOptions: {
            config: { maxParts }
          }
        }
      ) => parseJson(bytes, { keepsWideIntegers: key.integers === 'number', maxParts })
    )
  )

  await fastify.register(identity)
  await fastify.register(document)
  await fastify.register(schema)
  await fastify.register(recordRoutes, { area: tokenRecords })
  await fastify.register(increments)
  await fastify.register(batch)
}

export default dataArea
