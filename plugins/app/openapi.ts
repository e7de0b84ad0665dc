import { hash } from 'node:crypto'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { TObject } from '@sinclair/typebox'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import {
  DocumentHeadersSchema,
  type DocumentQuery,
  DocumentQuerySchema,
  documentResponses
} from '../../schemas/document.ts'
import { GzipHeadersSchema } from '../../schemas/import.ts'
import { RetryHeadersSchema, retryResponseHeaders } from '../../schemas/retry.ts'
import type { Json } from '../../services/documents/json.ts'
import { toOpenapi30 } from '../../services/documents/openapi-3-0.ts'
import {
  CODES_KEY,
  CREDENTIAL_KEY,
  completeDocument,
  type OpenapiDocument,
  SCOPE_KEY
} from '../../services/documents/openapi-document.ts'
import { API_VERSION } from '../../services/model/version.ts'
import { sendTagged, type TaggedJson } from '../http/etag.ts'
import { declaredErrors } from './declarations.ts'
import { docsPage } from './docs-page.ts'

const DESCRIPTION = `Put your SQLite tables behind an API, and hand out keys.

Administrators log in with \`POST /auth/login\` and get a session cookie for \`/admin\`. Programs send a token in the
header \`Authorization: Bearer …\` to \`/data\`. A token is limited to tables and actions. Scripts of administrators send an
admin key in the same header to \`/admin\`, instead of the cookie. An operation that accepts admin keys has their \`x-scope\`.

Every success has the status 200 and, except for exports, downloads of backups, metrics and this document, the body
\`{ "success": true, "data": … }\`.
Every failure has the body \`ErrorResponse\`. Its \`code\` is stable, so programs can rely on it. \`x-error-codes\` of an operation
lists the codes of its failures.

Any request can also get 400 (it cannot be read), 404 (the path does not exist), 405 (the path does not have this
method), 408 (it does not arrive in time), 413 (its body is too large), 414 (its URL is too long), 415 (its body is not
JSON, or has a content encoding) and 431 (its headers are too large).`

const info = {
  title: 'Rowhouse',
  version: API_VERSION,
  description: DESCRIPTION,
  contact: { name: 'Rowhouse' },
  license: { name: 'MIT', identifier: 'MIT' }
}

const servers = [{ url: '/', description: 'The service that returned this document.' }]

const tags = [
  { name: 'auth', description: 'Login and session of an administrator.' },
  { name: 'tables', description: 'Registered tables, with their fields, labels and flags. For administrators.' },
  { name: 'records', description: 'Records of a table, with the hidden fields. For administrators.' },
  { name: 'tokens', description: 'Access tokens for programs. For administrators.' },
  { name: 'roles', description: 'What tokens with a role can see and change. For administrators.' },
  { name: 'keys', description: 'Admin keys: credentials of scripts for /admin. For administrators.' },
  { name: 'admins', description: 'Accounts of administrators. For administrators.' },
  { name: 'audit', description: 'Who changed what. For administrators.' },
  { name: 'backups', description: 'Backups of the database. For administrators.' },
  { name: 'data', description: 'Tables and records, for programs with a token.' },
  { name: 'service', description: 'Health checks, metrics, and this document.' }
]

const securitySchemes = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'rowhouse_session',
    description: 'The cookie that POST /auth/login sets. Over https its name is `__Host-rowhouse_session`.'
  },
  token: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The `token` in the response of POST /admin/tokens or POST /admin/tokens/{id}/rotate. It matches `^rh_[0-9a-f]{64}$`. With the setting JWT_ISSUER, also a JWT of that issuer. The `token` of POST /admin/tokens/{id}/view only reads. With PUBLIC_ROLE, a request without a credential has that role.'
  },
  adminKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The `key` in the response of POST /admin/keys, instead of the session cookie. It matches `^rha_[0-9a-f]{64}$`, and needs the `x-scope` of the operation.'
  },
  metricsToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'The setting METRICS_TOKEN of the service.'
  }
} as const

interface Successful {
  readonly 200: { readonly headers?: object }
}

/** Adds headers of requests to the schema of a route. */
const withHeaders = (schema: FastifySchema, added: TObject): FastifySchema => {
  const properties = { ...(schema.headers as TObject | undefined)?.properties, ...added.properties }
  return { ...schema, headers: { ...added, properties } }
}

/** Adds the headers of safe retries to the schema of a route that takes an Idempotency-Key. */
const withRetryHeaders = (schema: FastifySchema): FastifySchema => {
  const { 200: success, ...others } = schema.response as Successful
  return {
    ...withHeaders(schema, RetryHeadersSchema),
    response: { 200: { ...success, headers: { ...success.headers, ...retryResponseHeaders } }, ...others }
  }
}

/** Adds the declarations of a route to its schema: @fastify/swagger copies keys that begin with `x-`. */
const withDeclarations = (schema: FastifySchema | undefined, route: RouteOptions) => {
  // A route without an operation id is not an operation of the API.
  if (schema?.operationId === undefined) return { hide: true }
  const withRetries = route.config?.takesRetryKey ? withRetryHeaders(schema) : schema
  const complete = route.config?.takesGzip ? withHeaders(withRetries, GzipHeadersSchema) : withRetries
  const scope = route.config?.scope
  return {
    ...complete,
    [CREDENTIAL_KEY]: route.config?.credential,
    [CODES_KEY]: declaredErrors(route),
    ...(scope && { [SCOPE_KEY]: scope })
  }
}

type Version = NonNullable<DocumentQuery['openapi']>

/** Returns a function that returns the document in a version of OpenAPI. Each is made at its first request. */
const createDocuments = ({ swagger }: FastifyInstance) => {
  const make = (version: Version): TaggedJson => {
    const document = swagger() as unknown as Json
    const text = JSON.stringify(version === '3.0' ? toOpenapi30(document) : document)
    return { bytes: Buffer.from(text), etag: `"${hash('sha256', text).slice(0, 16)}"` }
  }
  const made = new Map<Version, TaggedJson>()
  return (version: Version) => {
    const document = made.get(version) ?? make(version)
    made.set(version, document)
    return document
  }
}

/** Must be registered before all routes that it documents. */
export default fp(
  async (fastify) => {
    await fastify.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info,
        servers,
        tags,
        components: { securitySchemes }
      },
      transform: ({ schema, url, route }) => ({ schema: withDeclarations(schema, route), url }),
      // The boundary to a package whose types span three versions of OpenAPI.
      transformObject: (built) => completeDocument((built as { openapiObject: OpenapiDocument }).openapiObject)
    })

    await fastify.register(swaggerUi, docsPage)

    const documentIn = createDocuments(fastify)
    fastify.withTypeProvider<TypeBoxTypeProvider>().get(
      '/openapi.json',
      {
        schema: {
          operationId: 'readOpenapiDocument',
          tags: ['service'],
          summary: 'Read this document',
          description: 'Its `info.version` contains a digest of its content, and changes with every change of the API.',
          querystring: DocumentQuerySchema,
          headers: DocumentHeadersSchema,
          response: documentResponses
        },
        config: { credential: 'none', errors: [] }
      },
      async (request, reply) => sendTagged(request, reply, documentIn(request.query.openapi ?? '3.1'))
    )
  },
  { name: 'openapi' }
)
