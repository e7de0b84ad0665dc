import createClient, { type FetchResponse } from 'openapi-fetch'
import { renewSession } from '../session/renewal.ts'
import { ServiceError, toServiceError, unreachable } from './errors.ts'
import { hasWideDigits, parseExact } from './exact-json.ts'
import type { paths } from './schema.d.ts'

/** The address of the service: `/console/` is one level below it. */
export const SERVICE_URL = new URL('../', document.baseURI).href.replace(/\/$/, '')

/** Sends a request, without the session's login. */
export const send = async (request: Request) => {
  try {
    return await fetch(request)
  } catch (error) {
    throw request.signal.aborted ? error : unreachable()
  }
}

/** If the session has ended, opens the login and sends the request again. It may have ended again until then. */
const sendInSession = async (request: Request): Promise<Response> => {
  const repeated = request.clone()
  const response = await send(request)
  if (response.status !== 401) return response
  await renewSession()
  return sendInSession(repeated)
}

/** The client parses JSON with the method `json` of a response if it knows the length. */
export const withExactJson = async (response: Response) => {
  if (!response.ok || !response.headers.get('content-type')?.includes('json')) return response
  const text = await response.text()
  const exact = new Response(text, response)
  if (!hasWideDigits(text)) return exact
  exact.headers.set('content-length', String(text.length))
  return Object.assign(exact, { json: async () => parseExact(text) })
}

/** Integers inside JSON values keep their digits. */
const sendExactly = async (request: Request) => withExactJson(await sendInSession(request))

const options = { baseUrl: SERVICE_URL, credentials: 'same-origin' } as const

/** Calls of administrators. */
export const api = createClient<paths>({ ...options, fetch: sendExactly })

/** Calls before and after a session: login, logout, the own account. */
export const sessionApi = createClient<paths>({ ...options, fetch: send })

type Success<T> = T extends { readonly data: infer D } ? D : never

/** Returns the data of a response. @throws ServiceError */
export const dataOf = async <T extends Record<string | number, unknown>, O, M extends `${string}/${string}`>(
  sent: Promise<FetchResponse<T, O, M>>
): Promise<Success<NonNullable<FetchResponse<T, O, M>['data']>>> => {
  const { data, error, response } = await sent
  if (error !== undefined || data === undefined) throw toServiceError(response, error)
  return (data as { readonly data: Success<NonNullable<FetchResponse<T, O, M>['data']>> }).data
}

export const isServiceError = (error: unknown): error is ServiceError => error instanceof ServiceError
