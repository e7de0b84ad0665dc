import fp from 'fastify-plugin'

export default fp(async () => {}, { name: 'services', dependencies: ['database'] })
