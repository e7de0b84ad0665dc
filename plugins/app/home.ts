import fp from 'fastify-plugin'

/** A browser that opens the address which the start prints gets the documentation. Not an operation of the document. */
export default fp(
  async (fastify) => {
    fastify.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/docs'))
  },
  { name: 'home' }
)
