import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { RecordAreaOptions } from './area.ts'
import exports from './exports.ts'
import imports from './imports.ts'
import queries from './queries.ts'
import records from './records.ts'

/** The routes for records that both areas have. `config.action` applies to tokens only. */
const recordRoutes: FastifyPluginAsyncTypebox<RecordAreaOptions> = async (fastify, { area }) => {
  await fastify.register(records, { area })
  await fastify.register(queries, { area })
  await fastify.register(exports, { area })
  await fastify.register(imports, { area })
}

export default recordRoutes
