import type { HttpClient, HttpRequest } from './http-client.ts'

const PASSWORD = 'long enough'
/** A time in the past: the first millisecond of 1970. */
const PAST = 1
/** Milliseconds until a token expires by itself. */
const SHORT_LIFETIME_MS = 40

/** Access that is valid until it is revoked. */
export interface Right {
  /** The requests that the right allows. After its end, none of them may succeed. */
  readonly requests: readonly HttpRequest[]
  /** Ends the right. It has ended when the promise resolves. */
  readonly end: () => Promise<unknown>
  /** The status of the requests after the end. */
  readonly statusAfterEnd: number
}

export type CreateRight = () => Promise<Right>

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Returns a factory for each kind of right. */
export const createRights = async (client: HttpClient, password: string): Promise<Record<string, CreateRight>> => {
  const { dataOf, logIn, send } = client
  const headers = await logIn('admin', password)
  let names = 0
  const nextName = () => `new_${++names}`

  const asAdmin = (method: string, path: string, body?: object) =>
    dataOf({ method, path: `/admin${path}`, headers, ...(body && { body }) })

  const createTable = async () => {
    const name = nextName()
    const table = await asAdmin('POST', '/tables', { name, label: '', fields: [{ name: 'a', jsonType: 'string' }] })
    await asAdmin('POST', `/tables/${table.id}/data`, { a: 'x' })
    return { id: Number(table.id), name }
  }
  const shared = await createTable()

  const createToken = async (tables: string[], expiresAt: number | null = null) => {
    const permissions = { tables, actions: ['read', 'write'] }
    const { id, token } = await asAdmin('POST', '/tokens', { name: 'a', permissions, expiresAt })
    return { path: `/tokens/${id}`, headers: bearer(token) }
  }

  const readRequest = (table: string, headers: HttpRequest['headers'] = {}): HttpRequest => ({
    path: `/data/${table}/records/1`,
    headers
  })
  const writeRequest = (table: string, headers: HttpRequest['headers'] = {}): HttpRequest => ({
    method: 'POST',
    path: `/data/${table}/records`,
    headers,
    body: { a: 'written' }
  })
  const bothRequests = (table: string, headers: HttpRequest['headers']) => [
    writeRequest(table, headers),
    readRequest(table, headers)
  ]

  /** The right of a token that an administrator changes or revokes. */
  const ofToken =
    (statusAfterEnd: number, end: (path: string) => Promise<unknown>): CreateRight =>
    async () => {
      const token = await createToken([shared.name])
      return { requests: bothRequests(shared.name, token.headers), end: () => end(token.path), statusAfterEnd }
    }

  /** The right of a token to a table that only this token uses. */
  const ofTable =
    (statusAfterEnd: number, requestsOf: typeof bothRequests, end: (path: string) => Promise<unknown>): CreateRight =>
    async () => {
      const { id, name } = await createTable()
      const token = await createToken([name])
      return { requests: requestsOf(name, token.headers), end: () => end(`/tables/${id}`), statusAfterEnd }
    }

  /** The right of a session: all requests with its cookie. */
  const ofSession =
    (end: (admin: { id: number; name: string; session: Record<string, string> }) => Promise<unknown>): CreateRight =>
    async () => {
      const name = nextName()
      const { id } = await asAdmin('POST', '/admins', { name, nickname: '', password: PASSWORD })
      const session = await logIn(name, PASSWORD)
      const path = `/admin/tables/${shared.id}/data`
      return {
        requests: [
          { method: 'POST', path, headers: session, body: { a: 'written' } },
          { path: '/auth/me', headers: session },
          { path: `${path}/1`, headers: session }
        ],
        end: () => end({ id, name, session }),
        statusAfterEnd: 401
      }
    }

  const change = (body: object) => (path: string) => asAdmin('PUT', path, body)
  const remove = (path: string) => asAdmin('DELETE', path)

  return {
    'the revocation of a token': ofToken(401, remove),
    'the deactivation of a token': ofToken(401, change({ isActive: false })),
    'an expiry set to the past': ofToken(401, change({ expiresAt: PAST })),
    'the expiry of a token': async () => {
      const expiresAt = Date.now() + SHORT_LIFETIME_MS
      const token = await createToken([shared.name], expiresAt)
      const end = async () => {
        while (Date.now() < expiresAt) await send(readRequest(shared.name, token.headers))
      }
      return { requests: bothRequests(shared.name, token.headers), end, statusAfterEnd: 401 }
    },
    'the removal of actions from a token': ofToken(403, change({ permissions: { tables: ['*'], actions: [] } })),
    'the removal of a table from a token': ofToken(
      403,
      change({ permissions: { tables: ['elsewhere'], actions: ['read', 'write'] } })
    ),
    'the unpublishing of a table': ofTable(404, bothRequests, change({ isPublished: false })),
    'making a table read-only': ofTable(
      403,
      (table, headers) => [writeRequest(table, headers)],
      change({ isEditable: false })
    ),
    'the unregistration of a table': ofTable(404, bothRequests, (path) => remove(`${path}?confirm=true`)),
    'a logout': ofSession(({ session }) => dataOf({ method: 'POST', path: '/auth/logout', headers: session })),
    'a password change in another session': ofSession(async ({ name }) => {
      const other = await logIn(name, PASSWORD)
      const body = { oldPassword: PASSWORD, newPassword: 'another one' }
      await dataOf({ method: 'PUT', path: '/auth/password', headers: other, body })
    }),
    'a password reset by another administrator': ofSession(({ id }) =>
      asAdmin('PUT', `/admins/${id}`, { password: 'another one' })
    ),
    'the deletion of an administrator': ofSession(({ id }) => remove(`/admins/${id}`))
  }
}
