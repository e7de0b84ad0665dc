import type { ErrorCode } from '../../schemas/error.ts'
import type { Permissions } from '../../schemas/token.ts'
import type { Action } from '../../schemas/token-action.ts'

// The right that each request needs. The rules are copied from the contract, not derived from the sources, so that a mistake in the sources
// fails a test: access.test.ts calls every route below with every kind of credential, for every kind of table.

type TokenAccess = 'token' | Exclude<Action, 'write'>

/**
 * What a route requires:
 * - `anyone`: nothing
 * - `session`: the session of an administrator
 * - `administrator`: the same, but not while the administrator must change the password
 * - `metrics`: the METRICS_TOKEN
 * - `token`: a valid token, whatever it grants
 * - `read`, `create`, `update`, `delete`, `schema`: a valid token that grants this action
 */
export type Access = 'anyone' | 'session' | 'administrator' | 'metrics' | TokenAccess

/** What each route requires. HEAD requires the same as GET. */
export const accessRules = {
  'GET /': 'anyone',
  'GET /console': 'anyone',
  'GET /console/*': 'anyone',
  'GET /console/assets/*': 'anyone',
  'GET /health': 'anyone',
  'GET /health/ready': 'anyone',
  'GET /metrics': 'metrics',
  'GET /openapi.json': 'anyone',
  'GET /docs': 'anyone',
  'GET /docs/': 'anyone',
  'GET /docs/json': 'anyone',
  'GET /docs/yaml': 'anyone',
  'GET /docs/static/*': 'anyone',
  'GET /docs/static/index.html': 'anyone',
  'GET /docs/static/swagger-initializer.js': 'anyone',
  'GET /docs/static/theme/icon.svg': 'anyone',
  'GET /docs/static/theme/rowhouse.css': 'anyone',
  'GET /docs/static/theme/token.js': 'anyone',

  'POST /auth/login': 'anyone',
  'GET /auth/me': 'session',
  'GET /auth/sessions': 'session',
  'DELETE /auth/sessions/:id': 'session',
  'PUT /auth/password': 'session',
  'POST /auth/logout': 'session',

  'GET /admin/tables': 'administrator',
  'GET /admin/tables/:id': 'administrator',
  'GET /admin/tables/importable': 'administrator',
  'GET /admin/openapi.json': 'administrator',
  'GET /admin/status': 'administrator',
  'GET /admin/settings': 'administrator',
  'PUT /admin/settings': 'administrator',
  'GET /admin/imports': 'administrator',
  'GET /admin/audit': 'administrator',
  'GET /admin/audit/export': 'administrator',
  'POST /admin/tables/import': 'administrator',
  'POST /admin/tables': 'administrator',
  'POST /admin/tables/from-file': 'administrator',
  'PUT /admin/tables/:id': 'administrator',
  'POST /admin/tables/:id/fields': 'administrator',
  'PUT /admin/tables/:id/fields/:name': 'administrator',
  'DELETE /admin/tables/:id/fields/:name': 'administrator',
  'POST /admin/tables/:id/refresh': 'administrator',
  'DELETE /admin/tables/:id': 'administrator',
  'GET /admin/tables/:id/indexes': 'administrator',
  'POST /admin/tables/:id/indexes': 'administrator',
  'DELETE /admin/tables/:id/indexes/:name': 'administrator',

  'GET /admin/tables/:id/data': 'administrator',
  'GET /admin/tables/:id/export': 'administrator',
  'POST /admin/tables/:id/import': 'administrator',
  'POST /admin/tables/:id/query': 'administrator',
  'POST /admin/tables/:id/aggregate': 'administrator',
  'GET /admin/tables/:id/data/:pk': 'administrator',
  'GET /admin/tables/:id/data/:pk/referring': 'administrator',
  'POST /admin/tables/:id/data': 'administrator',
  'PUT /admin/tables/:id/data/:pk': 'administrator',
  'PATCH /admin/tables/:id/data/:pk': 'administrator',
  'DELETE /admin/tables/:id/data/:pk': 'administrator',

  'POST /admin/batch': 'administrator',

  'GET /admin/tokens': 'administrator',
  'POST /admin/tokens': 'administrator',
  'GET /admin/tokens/:id': 'administrator',
  'PUT /admin/tokens/:id': 'administrator',
  'DELETE /admin/tokens/:id': 'administrator',
  'GET /admin/roles': 'administrator',
  'POST /admin/roles': 'administrator',
  'GET /admin/roles/:id': 'administrator',
  'PUT /admin/roles/:id': 'administrator',
  'DELETE /admin/roles/:id': 'administrator',

  'GET /admin/backups': 'administrator',
  'POST /admin/backups': 'administrator',
  'POST /admin/backups/upload': 'administrator',
  'GET /admin/backups/:name': 'administrator',
  'DELETE /admin/backups/:name': 'administrator',
  'POST /admin/backups/:name/restore': 'administrator',

  'GET /admin/admins': 'administrator',
  'POST /admin/admins': 'administrator',
  'GET /admin/admins/:id': 'administrator',
  'PUT /admin/admins/:id': 'administrator',
  'DELETE /admin/admins/:id': 'administrator',

  'GET /data/_me': 'token',
  'GET /data/_openapi.json': 'token',
  'POST /data/_batch': 'token',
  'POST /data/_schema/tables': 'schema',
  'POST /data/_schema/tables/:table/fields': 'schema',
  'GET /data/:table': 'read',
  'GET /data/:table/schema': 'read',
  'POST /data/:table/query': 'read',
  'GET /data/:table/export': 'read',
  'POST /data/:table/aggregate': 'read',
  'POST /data/:table/import': 'create',
  'GET /data/:table/records/:pk': 'read',
  'GET /data/:table/records/:pk/referring': 'read',
  'POST /data/:table/records': 'create',
  'PUT /data/:table/records/:pk': 'update',
  'PATCH /data/:table/records/:pk': 'update',
  'DELETE /data/:table/records/:pk': 'delete',
  'POST /data/:table/records/:pk/incr': 'update',
  'POST /data/:table/incr': 'update'
} as const satisfies Record<string, Access>

/** How tokens may use the table that a request names. It makes no difference to administrators. */
export type TableState = 'editable' | 'read-only' | 'unpublished'

/** The valid credentials of a request. An expired, revoked, malformed or unknown credential counts as none. */
export interface Credentials {
  readonly session?: { readonly mustChangePassword: boolean }
  readonly token?: Permissions
  readonly hasMetricsToken?: true
}

interface Conditions {
  readonly state: TableState
  /** The setting REQUIRE_PASSWORD_CHANGE. */
  readonly isChangeRequired: boolean
}

export interface Refusal {
  readonly status: number
  readonly code: ErrorCode
}

const refusal = (status: number, code: ErrorCode): Refusal => ({ status, code })

const refusalOfSession = (access: Access, { session }: Credentials, { isChangeRequired }: Conditions) => {
  if (!session) return refusal(401, 'AUTHENTICATION_REQUIRED')
  const mustChangeFirst = isChangeRequired && session.mustChangePassword && access === 'administrator'
  return mustChangeFirst ? refusal(403, 'PASSWORD_CHANGE_REQUIRED') : null
}

/** The actions that `write` grants. */
const WRITE_ACTIONS: readonly Access[] = ['create', 'update', 'delete', 'schema']

/** The tables of the test have generated names, so only `*` includes them. */
const isGranted = (access: Exclude<TokenAccess, 'token'>, { tables, actions }: Permissions) =>
  tables.includes('*') && (actions.includes(access) || (actions.includes('write') && WRITE_ACTIONS.includes(access)))

const refusalOfToken = (access: TokenAccess, { token }: Credentials, { state }: Conditions) => {
  if (!token) return refusal(401, 'INVALID_TOKEN')
  if (access === 'token') return null
  if (!isGranted(access, token)) return refusal(403, 'ACTION_NOT_ALLOWED')
  if (state === 'unpublished') return refusal(404, 'TABLE_NOT_FOUND')
  return state === 'read-only' && WRITE_ACTIONS.includes(access) ? refusal(403, 'TABLE_READ_ONLY') : null
}

/** Returns the refusal that the contract prescribes, or null for a request that must succeed. */
export const refusalFor = (access: Access, credentials: Credentials, conditions: Conditions) => {
  if (access === 'anyone') return null
  if (access === 'metrics') return credentials.hasMetricsToken ? null : refusal(401, 'INVALID_TOKEN')
  if (access === 'session' || access === 'administrator') return refusalOfSession(access, credentials, conditions)
  return refusalOfToken(access, credentials, conditions)
}

/** One method of one route. The pattern contains parameters, such as `:id`. */
export interface Endpoint {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly pattern: string
}

export type RuleKey = keyof typeof accessRules

const toKey = ({ method, pattern }: Endpoint) => `${method === 'HEAD' ? 'GET' : method} ${pattern}`

const isRuleKey = (key: string): key is RuleKey => Object.hasOwn(accessRules, key)

export const hasRule = (endpoint: Endpoint) => isRuleKey(toKey(endpoint))

/** @throws where the endpoint has no rule */
export const ruleKeyOf = (endpoint: Endpoint) => {
  const key = toKey(endpoint)
  if (!isRuleKey(key)) throw new Error(`access-rules.ts has no rule for ${key}.`)
  return key
}
