import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import type { Test } from 'tap'

export interface Sent {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Requests under way at once. */
export const LANES = 8

/** Node's client frames no body of a GET, HEAD or DELETE by itself. */
const framed = ({ headers, body }: Sent) =>
  body === undefined || 'transfer-encoding' in headers
    ? headers
    : { ...headers, 'content-length': String(Buffer.byteLength(body)) }

/** Sends exactly what it is given over connections that stay open. */
export const createCaller = (t: Test, port: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: LANES })
  t.teardown(() => agent.destroy())

  return (sent: Sent) =>
    new Promise<Reply>((done, fail) => {
      const { method, target } = sent
      const call = request(
        { host: '127.0.0.1', port, agent, method, path: target, headers: framed(sent) },
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
        fail(new Error(`${method} ${target.slice(0, 80)} got no answer: ${cause.message}`, { cause }))
      )
      call.end(sent.body)
    })
}

export type Call = ReturnType<typeof createCaller>
