import { renewSession } from '../session/renewal.ts'
import { SERVICE_URL } from './client.ts'
import { fileChanged, toServiceError, unreachable } from './errors.ts'
import type { paths } from './schema.d.ts'

/** A path of the document with values in place of its parameters: `/admin/tables/3/import`. */
type Filled<P extends string> = P extends `${infer Start}{${string}}${infer End}`
  ? `${Start}${string}${Filled<End>}`
  : P

/** A file of records, or a backup. */
type FileContent = { 'text/csv': unknown } | { 'application/vnd.sqlite3': unknown }

/** The routes that take a file. */
type FileRoute = {
  [P in keyof paths]: paths[P] extends { post: { requestBody: { content: FileContent } } } ? P : never
}[keyof paths]

type FilePath = Filled<FileRoute>

type Envelope<R> = R extends { post: { responses: { 200: { content: { 'application/json': infer E } } } } } ? E : never

type RouteOf<P extends FilePath> = { [R in FileRoute]: P extends Filled<R> ? R : never }[FileRoute]

/** What a route returns. */
type DataOf<P extends FilePath> = Envelope<paths[RouteOf<P>]> extends { data: infer D } ? D : never

const CONTENT_TYPES = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
  sqlite: 'application/vnd.sqlite3'
}

/** The formats of files of records. */
export type FileFormat = Exclude<keyof typeof CONTENT_TYPES, 'sqlite'>

interface Upload<P extends FilePath = FilePath> {
  readonly method: 'POST'
  readonly path: P
  readonly query?: Readonly<Record<string, string | boolean | undefined>>
  readonly body: Blob
  readonly format: keyof typeof CONTENT_TYPES
  /** Called with the part of the body that is sent: 0 to 1. */
  readonly onProgress?: (part: number) => void
  readonly signal?: AbortSignal
}

interface Received {
  readonly status: number
  readonly body: unknown
}

const urlOf = ({ path, query = {} }: Upload) => {
  const url = new URL(SERVICE_URL + path)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value))
  return url
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The browser no longer reads a file that has changed since it was chosen, and the request fails. */
const failureOf = (body: Blob) => body.slice(0, 1).arrayBuffer().then(unreachable, fileChanged)

/** Sends the body with XMLHttpRequest, because `fetch` does not report the progress of an upload. */
const send = (upload: Upload) => {
  const { promise, resolve, reject } = Promise.withResolvers<Received>()
  const { method, body, format, onProgress, signal } = upload
  const request = new XMLHttpRequest()
  request.open(method, urlOf(upload))
  request.setRequestHeader('content-type', CONTENT_TYPES[format])
  request.upload.onprogress = ({ loaded, total }) => onProgress?.(total === 0 ? 1 : loaded / total)
  request.onload = () => resolve({ status: request.status, body: parse(request.responseText) })
  request.onerror = async () => reject(await failureOf(body))
  request.onabort = () => reject(signal?.reason)
  signal?.throwIfAborted()
  signal?.addEventListener('abort', () => request.abort(), { once: true })
  request.send(body)
  return promise
}

/** If the session has ended, opens the login and sends the body again, as `api` does. */
const sendInSession = async (upload: Upload): Promise<Received> => {
  const received = await send(upload)
  if (received.status !== 401) return received
  await renewSession()
  return sendInSession(upload)
}

const isSuccess = (body: unknown): body is { readonly data: unknown } =>
  typeof body === 'object' && body !== null && 'data' in body

/** Uploads a file and returns the data of the response. @throws ServiceError, or the reason of `signal` */
export const upload = async <const P extends FilePath>(request: Upload<P>): Promise<DataOf<P>> => {
  const { status, body } = await sendInSession(request)
  if (status >= 400 || !isSuccess(body)) throw toServiceError({ status }, body)
  return body.data as DataOf<P>
}
