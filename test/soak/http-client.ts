import { Agent, type ClientRequest, type IncomingHttpHeaders, request } from 'node:http'
import type { Test } from 'tap'
import type { Service } from '../service-process.ts'

export interface HttpResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface HttpRequest {
  readonly method?: string
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: object
}

const receive = (sent: ClientRequest) =>
  new Promise<HttpResponse>((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
      response.on('error', reject)
    })
  })

/** Reads the body without keeping it: text of 15 MB would take as much time here as in the service. */
const receiveStatus = (sent: ClientRequest) =>
  new Promise<Pick<HttpResponse, 'status'>>((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve({ status: response.statusCode ?? 0 }))
      response.on('error', reject)
    })
  })

/** Returns a client that sends requests over at most this many connections, which are kept alive. */
export const createClient = (t: Test, { host, port }: Pick<Service, 'host' | 'port'>, connections: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' })
  t.teardown(() => agent.destroy())

  const open = ({ method = 'GET', path, headers = {}, body }: HttpRequest, more: Record<string, string> = {}) =>
    request({
      host,
      port,
      agent,
      method,
      path,
      headers: {
        ...headers,
        ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(JSON.stringify(body)) }),
        ...more
      }
    })

  const send = (input: HttpRequest) => {
    const sent = open(input)
    sent.end(input.body && JSON.stringify(input.body))
    return receive(sent)
  }

  /** Sends a request, and discards the body of the response. */
  const sendOnly = (input: HttpRequest) => {
    const sent = open(input)
    sent.end(input.body && JSON.stringify(input.body))
    return receiveStatus(sent)
  }

  /** Sends the headers and half of the body. Returns a function that sends the other half. */
  const begin = async (input: HttpRequest) => {
    const sent = open(input, { expect: '100-continue' })
    const response = receive(sent)
    const text = JSON.stringify(input.body)
    sent.flushHeaders()
    await new Promise((resolve) => sent.once('continue', resolve))
    sent.write(text.slice(0, text.length / 2))
    return () => {
      sent.end(text.slice(text.length / 2))
      return response
    }
  }

  /** Sends a request and returns the `data` of the response. @throws when the response is a failure */
  const dataOf = async (input: HttpRequest) => {
    const { status, body } = await send(input)
    if (status !== 200) throw new Error(`${input.method} ${input.path}: ${status} ${body}`)
    return JSON.parse(body).data
  }

  /** Logs in. Returns the cookie header of the session. */
  const logIn = async (name: string, password: string) => {
    const { headers, body } = await send({ method: 'POST', path: '/auth/login', body: { name, password } })
    const [cookie] = headers['set-cookie'] ?? []
    if (!cookie) throw new Error(`The login failed: ${body}`)
    return { cookie: cookie.slice(0, cookie.indexOf(';')) }
  }

  return { send, sendOnly, begin, dataOf, logIn }
}

export type HttpClient = ReturnType<typeof createClient>
