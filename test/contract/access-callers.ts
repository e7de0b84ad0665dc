import { setImmediate } from 'node:timers/promises'
import { ADMIN_SCOPES, type AdminScope } from '../../schemas/admin-key.ts'
import type { Permissions } from '../../schemas/token.ts'
import { bearer, dataOf } from '../helpers.ts'
import type { Credentials } from './access-rules.ts'
import { FULL_ACCESS, METRICS_TOKEN, type Setup } from './access-setup.ts'

type Headers = Readonly<Record<string, string>>

/** Sends requests with one kind of credential. Has a `session`, a `token` or an `adminKey` only if that is valid. */
export interface TestCaller extends Credentials {
  readonly name: string
  readonly headers: Headers
  /** Starts another session of this kind, for requests that end or change their session. */
  readonly newSession?: () => Promise<{ readonly headers: Headers }>
}

const issueToken = async ({ newToken }: Setup, permissions = FULL_ACCESS) => (await newToken(permissions)).token

const invalid = (name: string, headers: Headers): TestCaller => ({ name, headers })

const withToken = async (setup: Setup, name: string, permissions: Permissions): Promise<TestCaller> => ({
  name,
  token: permissions,
  headers: bearer(await issueToken(setup, permissions))
})

const ALL_ACTIONS = ['read', 'create', 'update', 'delete', 'schema'] as const

/** A token with a role of one grant. `token`: the permissions that open the same. */
const withRole = async (
  setup: Setup,
  name: string,
  { grant, token }: { readonly grant: object; readonly token: Permissions }
): Promise<TestCaller> => {
  const role = `role of ${name}`
  dataOf(await setup.admin.post('/admin/roles', { name: role, grants: [grant] }))
  const issued = dataOf(await setup.admin.post('/admin/tokens', { name, role }))
  return { name, token, headers: bearer(issued.token) }
}

const newView = async ({ admin }: Setup, id: number): Promise<string> =>
  dataOf(await admin.post(`/admin/tokens/${id}/view`)).token

const createInvalidTokens = async (setup: Setup) => {
  const { admin, newToken } = setup
  const inactive = await newToken()
  dataOf(await admin.put(`/admin/tokens/${inactive.id}`, { isActive: false }))
  const revoked = await newToken()
  const viewOfRevoked = await newView(setup, revoked.id)
  dataOf(await admin.delete(`/admin/tokens/${revoked.id}`))
  const expired = await newToken()
  dataOf(await admin.put(`/admin/tokens/${expired.id}`, { expiresAt: 1 }))
  const rotated = await newToken()
  dataOf(await admin.post(`/admin/tokens/${rotated.id}/rotate`, { overlapSeconds: 0 }))
  const elsewhere = await newToken()
  dataOf(await admin.put(`/admin/tokens/${elsewhere.id}`, { networks: ['192.0.2.0/24'] }))
  const valid = await issueToken(setup)
  return [
    invalid('no credential', {}),
    invalid('a malformed token', bearer('rh_0123')),
    invalid('an empty token', bearer('')),
    invalid('a valid token under the scheme Basic', { authorization: `Basic ${valid}` }),
    invalid('an unknown token', bearer(`rh_${'0'.repeat(64)}`)),
    invalid('an inactive token', bearer(inactive.token)),
    invalid('an expired token', bearer(expired.token)),
    invalid('a revoked token', bearer(revoked.token)),
    invalid('the secret of a token before its rotation', bearer(rotated.token)),
    invalid('a token of another network', bearer(elsewhere.token)),
    invalid('a view of a revoked token', bearer(viewOfRevoked)),
    invalid('a view of an inactive token', bearer(await newView(setup, inactive.id))),
    invalid('a malformed view', bearer('rhv_0123')),
    invalid('a valid token in the session cookie', { cookie: `rowhouse_session=${valid}` })
  ]
}

const withView = async (setup: Setup): Promise<TestCaller> => ({
  name: 'a view of a token with full access',
  token: { tables: ['*'], actions: ['read'] },
  isView: true,
  headers: bearer(await newView(setup, (await setup.newToken()).id))
})

const createValidTokens = (setup: Setup) =>
  Promise.all([
    ...(['read', 'write', 'create', 'update', 'delete', 'schema'] as const).map((action) =>
      withToken(setup, `a token with ${action}`, { tables: ['*'], actions: [action] })
    ),
    withToken(setup, 'a token with full access', FULL_ACCESS),
    withView(setup),
    withToken(setup, 'a token without an action', { tables: ['*'], actions: [] }),
    withToken(setup, 'a token without a table', { tables: [], actions: ['read', 'write'] }),
    withToken(setup, 'a token for another table', { tables: ['elsewhere'], actions: ['read', 'write'] }),
    withRole(setup, 'a token with a role that reads', {
      grant: { tables: ['*'], actions: ['read'] },
      token: { tables: ['*'], actions: ['read'] }
    }),
    withRole(setup, 'a token with a role of full access', {
      grant: { tables: ['*'], actions: ALL_ACTIONS },
      token: FULL_ACCESS
    })
  ])

const invalidKey = (name: string, key: string): TestCaller => ({ name, hasInvalidKey: true, headers: bearer(key) })

const createInvalidKeys = async ({ admin, newKey, newSession }: Setup): Promise<TestCaller[]> => {
  const revoked = await newKey(ADMIN_SCOPES)
  dataOf(await admin.delete(`/admin/keys/${revoked.id}`))
  const soon = Date.now() + 500
  const expired = await newKey(ADMIN_SCOPES, soon)
  while (Date.now() < soon) await setImmediate()
  const { key } = await newKey(ADMIN_SCOPES)
  return [
    invalidKey('a malformed admin key', 'rha_0123'),
    invalidKey('an unknown admin key', `rha_${'0'.repeat(64)}`),
    invalidKey('a revoked admin key', revoked.key),
    invalidKey('an expired admin key', expired.key),
    invalid('a valid admin key in the session cookie', { cookie: `rowhouse_session=${key}` }),
    { name: 'an admin key and a session', hasTwo: true, headers: { ...bearer(key), ...(await newSession()).headers } },
    { name: 'an invalid admin key and a session', hasTwo: true, headers: { ...bearer('rha_'), ...admin.headers } }
  ]
}

const withKey = async ({ newKey }: Setup, name: string, scopes: readonly AdminScope[]): Promise<TestCaller> => ({
  name,
  adminKey: { scopes },
  headers: bearer((await newKey(scopes)).key)
})

const createValidKeys = (setup: Setup) =>
  Promise.all([
    ...ADMIN_SCOPES.map((scope) => withKey(setup, `an admin key with ${scope}`, [scope])),
    ...ADMIN_SCOPES.map((scope) =>
      withKey(
        setup,
        `an admin key without ${scope}`,
        ADMIN_SCOPES.filter((other) => other !== scope)
      )
    )
  ])

const createInvalidSessions = async (setup: Setup) => {
  const { admin, newAdmin, newSession, newToken } = setup
  const view = await newView(setup, (await newToken()).id)
  const ended = await newSession()
  dataOf(await ended.post('/auth/logout'))
  const deleted = await newSession()
  dataOf(await admin.delete(`/admin/admins/${dataOf(await deleted.get('/auth/me')).id}`))
  const valid = await newSession()
  const jwt = String(valid.headers.cookie?.split('=')[1])
  const { id } = await newAdmin()
  const [head, , signature] = jwt.split('.')
  const forged = Buffer.from(JSON.stringify({ sub: String(id), jti: 'x', iat: 1, exp: 9e9 })).toString('base64url')
  return [
    invalid('an ended session', ended.headers),
    invalid('the session of a deleted administrator', deleted.headers),
    invalid('a session with forged claims', { cookie: `rowhouse_session=${head}.${forged}.${signature}` }),
    invalid('a valid session as a bearer token', bearer(jwt)),
    invalid('a valid session as a view', bearer(`rhv_${jwt}`)),
    invalid('a valid view as a session', { cookie: `rowhouse_session=${view.slice('rhv_'.length)}` })
  ]
}

const createValidSessions = async ({ newSession, newSessionMustChange }: Setup): Promise<TestCaller[]> => [
  {
    name: 'an administrator',
    session: { mustChangePassword: false },
    headers: (await newSession()).headers,
    newSession
  },
  {
    name: 'an administrator who must change the password',
    session: { mustChangePassword: true },
    headers: (await newSessionMustChange()).headers,
    newSession: newSessionMustChange
  }
]

export const createCallers = async (setup: Setup): Promise<TestCaller[]> => [
  ...(await createInvalidTokens(setup)),
  ...(await createInvalidSessions(setup)),
  ...(await createInvalidKeys(setup)),
  ...(await createValidTokens(setup)),
  ...(await createValidKeys(setup)),
  { name: 'the metrics token', hasMetricsToken: true, headers: bearer(METRICS_TOKEN) },
  ...(await createValidSessions(setup))
]
