import { SERVICE_URL } from '../api/client.ts'
import { unreachable } from '../api/errors.ts'
import { indentJson } from './indent-json.ts'

export interface Reply {
  readonly status: number
  readonly statusText: string
  readonly milliseconds: number
  readonly text: string
}

interface Sent {
  readonly token: string
  readonly method: string
  readonly path: string
  readonly body?: { readonly contentType: string; readonly text: string } | undefined
}

/** Sends a request as a program with a token does: without the session of the administrator. */
export const sendWithToken = async ({ token, method, path, body }: Sent): Promise<Reply> => {
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': body.contentType }) }
  const start = performance.now()
  const response = await fetch(SERVICE_URL + path, {
    method,
    headers,
    credentials: 'omit',
    ...(body && { body: body.text })
  }).catch(() => {
    throw unreachable()
  })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return {
    status: response.status,
    statusText: response.statusText,
    milliseconds: Math.round(performance.now() - start),
    text: isJson ? indentJson(text) : text
  }
}
