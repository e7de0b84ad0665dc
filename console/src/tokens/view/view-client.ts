import createClient from 'openapi-fetch'
import { api, dataOf, SERVICE_URL, send, withExactJson } from '../../api/client.ts'
import type { components, paths } from '../../api/schema.d.ts'

type View = components['schemas']['TokenView']

/** A view is replaced this long before it ends, because clocks differ. */
const MARGIN_MS = 60_000

/** Only in memory: a view reads what its token reads. */
const views = new Map<number, Promise<View>>()

const issue = (id: number) => {
  const issued = dataOf(api.POST('/admin/tokens/{id}/view', { params: { path: { id } } }))
  views.set(id, issued)
  // A failure is not kept. The caller gets it.
  issued.catch(() => dropView(id))
  return issued
}

export const dropView = (id: number) => views.delete(id)

const bearerOf = async (id: number) => {
  const known = await views.get(id)
  const { token } = known && Date.now() < known.expiresAt - MARGIN_MS ? known : await issue(id)
  return `Bearer ${token}`
}

const sendAs = async (id: number, request: Request) => {
  request.headers.set('authorization', await bearerOf(id))
  return send(request)
}

/** Creates a client that sends requests with a view of the token. A view that has ended is replaced once. */
export const createViewApi = (id: number) =>
  createClient<paths>({
    baseUrl: SERVICE_URL,
    credentials: 'omit',
    fetch: async (request) => {
      const repeated = request.clone()
      const response = await sendAs(id, request)
      if (response.status !== 401) return withExactJson(response)
      dropView(id)
      return withExactJson(await sendAs(id, repeated))
    }
  })
