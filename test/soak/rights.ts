import type { HttpClient, Wanted } from './http-client.ts'

const PASSWORD = 'long enough'
/** The first moment of 1970, and so the past. */
const LONG_AGO = 1
/** Milliseconds that a token lives which runs out by itself. */
const SHORT_LIFE = 40

/** Something that may be done until it is taken away. */
export interface Right {
  /** What it opens: all of it, or nothing. */
  readonly opens: readonly Wanted[]
  /** Takes it away; from the moment that this resolves, nothing in `opens` may succeed. */
  readonly end: () => Promise<unknown>
  /** The status of whatever is asked for afterwards. */
  readonly refusal: number
}

export type MakeRight = () => Promise<Right>

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Makes a right of each kind, as often as it is asked to: none of them has to be given back. */
export const createRights = async (client: HttpClient, password: string): Promise<Record<string, MakeRight>> => {
  const { dataOf, logIn, send } = client
  const headers = await logIn('admin', password)
  let made = 0
  const newName = () => `new_${++made}`

  const asAdmin = (method: string, path: string, body?: object) =>
    dataOf({ method, path: `/admin${path}`, headers, ...(body && { body }) })

  const newTable = async () => {
    const name = newName()
    const table = await asAdmin('POST', '/tables', { name, label: '', fields: [{ name: 'a', jsonType: 'string' }] })
    await asAdmin('POST', `/tables/${table.id}/data`, { a: 'x' })
    return { id: Number(table.id), name }
  }
  const shared = await newTable()

  const newToken = async (tables: string[], expiresAt: number | null = null) => {
    const permissions = { tables, actions: ['read', 'write'] }
    const { id, token } = await asAdmin('POST', '/tokens', { name: 'a', permissions, expiresAt })
    return { path: `/tokens/${id}`, headers: bearer(token) }
  }

  const reading = (table: string, headers: Wanted['headers'] = {}): Wanted => ({
    path: `/data/${table}/records/1`,
    headers
  })
  const writing = (table: string, headers: Wanted['headers'] = {}): Wanted => ({
    method: 'POST',
    path: `/data/${table}/records`,
    headers,
    body: { a: 'written' }
  })
  const both = (table: string, headers: Wanted['headers']) => [writing(table, headers), reading(table, headers)]

  /** Of a token, which an administrator takes away. */
  const ofToken =
    (refusal: number, end: (path: string) => Promise<unknown>): MakeRight =>
    async () => {
      const token = await newToken([shared.name])
      return { opens: both(shared.name, token.headers), end: () => end(token.path), refusal }
    }

  /** Of a token, to a table of its own. */
  const ofTable =
    (refusal: number, opens: typeof both, end: (path: string) => Promise<unknown>): MakeRight =>
    async () => {
      const { id, name } = await newTable()
      const token = await newToken([name])
      return { opens: opens(name, token.headers), end: () => end(`/tables/${id}`), refusal }
    }

  /** Of a session, and of all that its cookie opens. */
  const ofSession =
    (end: (admin: { id: number; name: string; session: Record<string, string> }) => Promise<unknown>): MakeRight =>
    async () => {
      const name = newName()
      const { id } = await asAdmin('POST', '/admins', { name, nickname: '', password: PASSWORD })
      const session = await logIn(name, PASSWORD)
      const path = `/admin/tables/${shared.id}/data`
      return {
        opens: [
          { method: 'POST', path, headers: session, body: { a: 'written' } },
          { path: '/auth/me', headers: session },
          { path: `${path}/1`, headers: session }
        ],
        end: () => end({ id, name, session }),
        refusal: 401
      }
    }

  const change = (body: object) => (path: string) => asAdmin('PUT', path, body)
  const remove = (path: string) => asAdmin('DELETE', path)

  return {
    'the revocation of a token': ofToken(401, remove),
    'the deactivation of a token': ofToken(401, change({ isActive: false })),
    'an expiry set into the past': ofToken(401, change({ expiresAt: LONG_AGO })),
    'an expiry that comes': async () => {
      const expiresAt = Date.now() + SHORT_LIFE
      const token = await newToken([shared.name], expiresAt)
      const end = async () => {
        while (Date.now() < expiresAt) await send(reading(shared.name, token.headers))
      }
      return { opens: both(shared.name, token.headers), end, refusal: 401 }
    },
    'actions taken from a token': ofToken(403, change({ permissions: { tables: ['*'], actions: [] } })),
    'a table taken from a token': ofToken(
      403,
      change({ permissions: { tables: ['elsewhere'], actions: ['read', 'write'] } })
    ),
    'a table that is published no more': ofTable(404, both, change({ isPublished: false })),
    'a table that may only be read': ofTable(
      403,
      (table, headers) => [writing(table, headers)],
      change({ isEditable: false })
    ),
    'a table that is unregistered': ofTable(404, both, (path) => remove(`${path}?confirm=true`)),
    'a logout': ofSession(({ session }) => dataOf({ method: 'POST', path: '/auth/logout', headers: session })),
    'a password changed in another session': ofSession(async ({ name }) => {
      const other = await logIn(name, PASSWORD)
      const body = { oldPassword: PASSWORD, newPassword: 'another one' }
      await dataOf({ method: 'PUT', path: '/auth/password', headers: other, body })
    }),
    'a password set by another': ofSession(({ id }) => asAdmin('PUT', `/admins/${id}`, { password: 'another one' })),
    'the deletion of an administrator': ofSession(({ id }) => remove(`/admins/${id}`))
  }
}
