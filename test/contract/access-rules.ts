import { ADMIN_SCOPES, type AdminScope } from '../../schemas/admin-key.ts'
import type { ErrorCode } from '../../schemas/error.ts'
import type { Permissions } from '../../schemas/token.ts'
import type { Action } from '../../schemas/token-action.ts'

// The right that each request needs. The rules are copied from the contract, not derived from the sources, so that a mistake in the sources
// fails a test: access.test.ts calls every route below with every kind of credential, for every kind of table.

type TokenAccess = 'token' | 'change' | Exclude<Action, 'write'>

/**
 * What a route requires:
 * - `anyone`: nothing
 * - `session`: the session of an administrator
 * - `administrator`: the same, but not while the administrator must change the password
 * - a scope, such as `tables:read`: the same as `administrator`, or an admin key with this scope
 * - `metrics`: the METRICS_TOKEN
 * - `token`: a valid token, whatever it grants
 * - `change`: the same, but no view of a token
 * - `read`, `create`, `update`, `delete`, `schema`: a valid token that grants this action
 */
export type Access = 'anyone' | 'session' | 'administrator' | AdminScope | 'metrics' | TokenAccess

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

  'GET /admin/tables': 'tables:read',
  'GET /admin/tables/:id': 'tables:read',
  'GET /admin/tables/importable': 'tables:read',
  'GET /admin/openapi.json': 'tables:read',
  'GET /admin/status': 'settings',
  'GET /admin/settings': 'settings',
  'PUT /admin/settings': 'settings',
  'GET /admin/imports': 'imports',
  'GET /admin/audit': 'audit',
  'GET /admin/audit/export': 'audit',
  'POST /admin/tables/import': 'tables:write',
  'POST /admin/tables': 'tables:write',
  'POST /admin/tables/from-file': 'tables:write',
  'PUT /admin/tables/:id': 'tables:write',
  'POST /admin/tables/:id/fields': 'tables:write',
  'PUT /admin/tables/:id/fields/:name': 'tables:write',
  'DELETE /admin/tables/:id/fields/:name': 'tables:write',
  'POST /admin/tables/:id/refresh': 'tables:write',
  'DELETE /admin/tables/:id': 'tables:write',
  'GET /admin/tables/:id/indexes': 'tables:read',
  'POST /admin/tables/:id/indexes': 'tables:write',
  'DELETE /admin/tables/:id/indexes/:name': 'tables:write',

  'GET /admin/tables/:id/data': 'records:read',
  'GET /admin/tables/:id/export': 'records:read',
  'POST /admin/tables/:id/import': 'imports',
  'POST /admin/tables/:id/query': 'records:read',
  'POST /admin/tables/:id/aggregate': 'records:read',
  'GET /admin/tables/:id/data/:pk': 'records:read',
  'GET /admin/tables/:id/data/:pk/referring': 'records:read',
  'POST /admin/tables/:id/data': 'records:write',
  'PUT /admin/tables/:id/data/:pk': 'records:write',
  'PATCH /admin/tables/:id/data/:pk': 'records:write',
  'DELETE /admin/tables/:id/data/:pk': 'records:write',

  'POST /admin/batch': 'records:write',

  'GET /admin/tokens': 'tokens',
  'POST /admin/tokens': 'tokens',
  'GET /admin/tokens/:id': 'tokens',
  'GET /admin/tokens/:id/uses': 'tokens',
  'PUT /admin/tokens/:id': 'tokens',
  'POST /admin/tokens/:id/rotate': 'tokens',
  'DELETE /admin/tokens/:id': 'tokens',
  'POST /admin/tokens/:id/explain': 'tokens',
  'POST /admin/tokens/:id/view': 'tokens',
  'GET /admin/roles': 'roles',
  'POST /admin/roles': 'roles',
  'GET /admin/roles/:id': 'roles',
  'PUT /admin/roles/:id': 'roles',
  'DELETE /admin/roles/:id': 'roles',

  'GET /admin/backups': 'backups',
  'POST /admin/backups': 'backups',
  'POST /admin/backups/upload': 'administrator',
  'GET /admin/backups/:name': 'backups',
  'DELETE /admin/backups/:name': 'backups',
  'POST /admin/backups/:name/restore': 'backups',

  'GET /admin/keys': 'administrator',
  'POST /admin/keys': 'administrator',
  'GET /admin/keys/:id': 'administrator',
  'DELETE /admin/keys/:id': 'administrator',

  'GET /admin/admins': 'administrator',
  'POST /admin/admins': 'administrator',
  'GET /admin/admins/:id': 'administrator',
  'PUT /admin/admins/:id': 'administrator',
  'DELETE /admin/admins/:id': 'administrator',

  'GET /data/_me': 'token',
  'GET /data/_openapi.json': 'token',
  'POST /data/_batch': 'change',
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
  /** The token is a view of one. */
  readonly isView?: true
  readonly adminKey?: { readonly scopes: readonly AdminScope[] }
  /** Any admin key and any session cookie, which may be invalid. */
  readonly hasTwo?: true
  /** An admin key that is invalid. */
  readonly hasInvalidKey?: true
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

type AdminAccess = 'session' | 'administrator' | AdminScope

const refusalOfKey = (access: AdminAccess, scopes: readonly AdminScope[]) =>
  scopes.some((scope) => scope === access) ? null : refusal(403, 'ADMIN_KEY_NOT_ALLOWED')

const refusalOfSession = (access: AdminAccess, credentials: Credentials, { isChangeRequired }: Conditions) => {
  const { session, adminKey, hasTwo, hasInvalidKey } = credentials
  if (hasTwo) return refusal(400, 'TWO_CREDENTIALS')
  if (hasInvalidKey && access !== 'session') return refusal(401, 'INVALID_ADMIN_KEY')
  if (adminKey && access !== 'session') return refusalOfKey(access, adminKey.scopes)
  if (!session) return refusal(401, 'AUTHENTICATION_REQUIRED')
  const mustChangeFirst = isChangeRequired && session.mustChangePassword && access !== 'session'
  return mustChangeFirst ? refusal(403, 'PASSWORD_CHANGE_REQUIRED') : null
}

/** The actions that `write` grants. */
const WRITE_ACTIONS: readonly Access[] = ['create', 'update', 'delete', 'schema']

/** The tables of the test have generated names, so only `*` includes them. */
const isGranted = (access: Exclude<TokenAccess, 'token' | 'change'>, { tables, actions }: Permissions) =>
  tables.includes('*') && (actions.includes(access) || (actions.includes('write') && WRITE_ACTIONS.includes(access)))

const refusalOfToken = (access: TokenAccess, { token, isView }: Credentials, { state }: Conditions) => {
  if (!token) return refusal(401, 'INVALID_TOKEN')
  if (access === 'change') return isView ? refusal(403, 'ACTION_NOT_ALLOWED') : null
  if (access === 'token') return null
  if (!isGranted(access, token)) return refusal(403, 'ACTION_NOT_ALLOWED')
  if (state === 'unpublished') return refusal(404, 'TABLE_NOT_FOUND')
  return state === 'read-only' && WRITE_ACTIONS.includes(access) ? refusal(403, 'TABLE_READ_ONLY') : null
}

const isAdminAccess = (access: Access): access is AdminAccess =>
  access === 'session' || access === 'administrator' || ADMIN_SCOPES.some((scope) => scope === access)

/** Returns the refusal that the contract prescribes, or null for a request that must succeed. */
export const refusalFor = (access: Access, credentials: Credentials, conditions: Conditions) => {
  if (access === 'anyone') return null
  if (access === 'metrics') return credentials.hasMetricsToken ? null : refusal(401, 'INVALID_TOKEN')
  if (isAdminAccess(access)) return refusalOfSession(access, credentials, conditions)
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
