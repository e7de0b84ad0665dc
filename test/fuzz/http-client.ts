import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import type { Test } from 'tap'

export interface HttpRequest {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export interface HttpResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Maximum number of concurrent requests. */
export const MAX_CONCURRENT = 8

/** Adds the Content-Length, which Node's client does not send for the body of a GET, HEAD or DELETE. */
const withLength = ({ headers, body }: HttpRequest) =>
  body === undefined || 'transfer-encoding' in headers
    ? headers
    : { ...headers, 'content-length': String(Buffer.byteLength(body)) }

/** Returns a function that sends requests unchanged, over keep-alive connections. */
export const createHttpClient = (t: Test, port: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_CONCURRENT })
  t.teardown(() => agent.destroy())

  return (message: HttpRequest) =>
    new Promise<HttpResponse>((done, fail) => {
      const { method, target } = message
      const call = request(
        { host: '127.0.0.1', port, agent, method, path: target, headers: withLength(message) },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk) => chunks.push(chunk))
          response.on('error', fail)
          response.on('end', () =>
            done({
              status: Number(response.statusCode),
              headers: response.headers,
              body: String(Buffer.concat(chunks))
            })
          )
        }
      )
      call.on('error', (cause) =>
        fail(new Error(`${method} ${target.slice(0, 80)} got no response: ${cause.message}`, { cause }))
      )
      call.end(message.body)
    })
}

export type Send = ReturnType<typeof createHttpClient>
