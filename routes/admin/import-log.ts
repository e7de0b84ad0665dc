import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ok } from '../../schemas/envelope.ts'
import { LoggedImportsEnvelope } from '../../schemas/import.ts'
import { READ_ERRORS } from '../../schemas/operation-errors.ts'

const importLogRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  fastify.get(
    '',
    {
      schema: {
        operationId: 'adminListImports',
        tags: ['records'],
        summary: 'List the latest imports',
        description:
          'Lists the imports whose files had no errors, also those of tokens: how many records each has stored, and why it ended.',
        response: { 200: LoggedImportsEnvelope }
      },
      config: { credential: 'administrator', scope: 'imports', errors: READ_ERRORS }
    },
    async () => ok(await fastify.imports.list())
  )
}

export default importLogRoutes
