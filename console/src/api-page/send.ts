import { SERVICE_URL } from '../api/client.ts'
import { unreachable } from '../api/errors.ts'
import { indentJson } from './indent-json.ts'

export interface Reply {
  readonly status: number
  readonly statusText: string
  readonly milliseconds: number
  /** The beginning of the response. */
  readonly text: string
  /** Whether the response has more text. */
  readonly isCut: boolean
}

interface Sent {
  readonly token: string
  readonly method: string
  readonly path: string
  readonly body?: { readonly contentType: string; readonly text: string } | undefined
}

export const MAX_SHOWN = 100_000

/** Reads a response up to the limit: a file may be larger than the memory. */
const readText = async ({ body }: Response) => {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    text += part.value
    if (text.length > MAX_SHOWN) {
      await reader?.cancel()
      return { text: text.slice(0, MAX_SHOWN), isCut: true }
    }
  }
  return { text, isCut: false }
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
  const { text, isCut } = await readText(response)
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return {
    status: response.status,
    statusText: response.statusText,
    milliseconds: Math.round(performance.now() - start),
    text: isJson ? indentJson(text) : text,
    isCut
  }
}
