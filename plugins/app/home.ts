import fp from 'fastify-plugin'

/** Leads a browser that opens the address of the service to the console. Not an operation of the document. */
export default fp(
  async (fastify) => {
    fastify.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('console/'))
  },
  { name: 'home' }
)
