import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { Type } from '@sinclair/typebox'
import type { FastifySchema, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import {
  CODES_KEY,
  CREDENTIAL_KEY,
  completeDocument,
  type OpenapiDocument
} from '../../services/documents/openapi-document.ts'
import { declaredErrors } from './declarations.ts'

/** The version of the API: the one of package.json, which a test compares. */
const API_VERSION = '0.1.0'

const DESCRIPTION = `Put your SQLite tables behind an API, and hand out keys.

Administrators log in (\`/auth\`) and have a session cookie; it opens \`/admin\`. Programs send a token as
\`Authorization: Bearer\`; it opens \`/data\`, for the tables and actions that the token names.

Every success is \`{ "success": true, "data": … }\` with status 200. Every failure is an \`Error\` with a stable code;
\`x-error-codes\` of an operation lists the codes that it may fail with. Any request can also get 400 (it cannot be read),
405 (the path has other methods), 408 (it does not arrive in time), 413 (its body is too large), 414 (its URL is too
long), 415 (its body is not JSON, or is encoded), 431 (its headers are too large) and 404 (the path does not exist).`

const tags = [
  { name: 'auth', description: 'The session of an administrator.' },
  { name: 'tables', description: 'What is registered, and how tokens see it.' },
  { name: 'records', description: 'The records of a table, for administrators.' },
  { name: 'tokens', description: 'Access tokens for programs.' },
  { name: 'admins', description: 'Administrator accounts.' },
  { name: 'data', description: 'The data interface, for programs with a token.' },
  { name: 'service', description: 'The service itself.' }
]

const securitySchemes = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'rowhouse_session',
    description: 'Set by POST /auth/login. Over https its name is `__Host-rowhouse_session`.'
  },
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'The `token` that POST /admin/tokens answers with, once. It matches `^rh_[0-9a-f]{64}$`.'
  }
} as const

/** The page may load our own scripts and styles and send requests to us, nothing else. Tried in Chromium. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')

const STYLE = `
:root { color-scheme: light; }
body { margin: 0; background: #fff; }
.swagger-ui { font-family: system-ui, sans-serif; color: #1f2933; }
.swagger-ui .wrapper { max-width: 64rem; }
.swagger-ui .info { margin: 2rem 0 1rem; }
.swagger-ui .info .title { font-family: inherit; font-weight: 600; }
.swagger-ui .info .title small { background: #52606d; }
.swagger-ui .scheme-container { background: none; box-shadow: none; padding: 0; }
.swagger-ui .opblock { box-shadow: none; border-radius: 3px; }
.swagger-ui .opblock-tag { font-family: inherit; border-color: #e4e7eb; }
`

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#334e68" d="M1 15V6l3-4 3 4v9zm8 0V6l3-4 3 4v9z"/></svg>`

/** Adds the declarations of a route to its schema: @fastify/swagger copies keys that begin with `x-`. */
const withDeclarations = (schema: FastifySchema | undefined, route: RouteOptions) => {
  if (schema?.operationId === undefined) return schema ?? {}
  return { ...schema, [CREDENTIAL_KEY]: route.config?.credential, [CODES_KEY]: declaredErrors(route) }
}

/** Registered before the routes: it sees only those that come later. */
export default fp(
  async (fastify) => {
    await fastify.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: { title: 'Rowhouse', version: API_VERSION, description: DESCRIPTION, license: { name: 'MIT' } },
        tags,
        components: { securitySchemes }
      },
      transform: ({ schema, url, route }) => ({ schema: withDeclarations(schema, route), url }),
      refResolver: { buildLocalReference: ({ $id }) => String($id) },
      // The boundary to a package whose types span three versions of OpenAPI.
      transformObject: (made) => completeDocument((made as { openapiObject: OpenapiDocument }).openapiObject)
    })

    await fastify.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: PAGE_POLICY,
      uiConfig: { layout: 'BaseLayout', docExpansion: 'list', defaultModelsExpandDepth: 0, deepLinking: true },
      theme: {
        title: 'Rowhouse API',
        css: [{ filename: 'rowhouse.css', content: STYLE }],
        favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: ICON }]
      }
    })

    let text: string | undefined
    fastify.get(
      '/openapi.json',
      {
        schema: {
          operationId: 'readOpenapi',
          tags: ['service'],
          summary: 'This document',
          response: { 200: Type.Object({}, { additionalProperties: true, description: 'An OpenAPI 3.1 document.' }) }
        },
        config: { credential: 'none', errors: [] }
      },
      async (_request, reply) => {
        text ??= JSON.stringify(fastify.swagger())
        return reply.type('application/json; charset=utf-8').send(text)
      }
    )
  },
  { name: 'openapi' }
)
