import { Agent, type ClientRequest, type IncomingHttpHeaders, request } from 'node:http'
import type { Test } from 'tap'
import type { Service } from '../service-process.ts'

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Wanted {
  readonly method?: string
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: object
}

const replyTo = (sent: ClientRequest) =>
  new Promise<Reply>((resolve, reject) => {
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

/** Requests to a service over so many connections, which are kept. */
export const createClient = (t: Test, { host, port }: Pick<Service, 'host' | 'port'>, connections: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' })
  t.teardown(() => agent.destroy())

  const open = ({ method = 'GET', path, headers = {}, body }: Wanted, more: Record<string, string> = {}) =>
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

  const send = (wanted: Wanted) => {
    const sent = open(wanted)
    sent.end(wanted.body && JSON.stringify(wanted.body))
    return replyTo(sent)
  }

  /** The service has the head of the request and half of its body; what this gives sends the other half. */
  const begin = async (wanted: Wanted) => {
    const sent = open(wanted, { expect: '100-continue' })
    const reply = replyTo(sent)
    const text = JSON.stringify(wanted.body)
    sent.flushHeaders()
    await new Promise((resolve) => sent.once('continue', resolve))
    sent.write(text.slice(0, text.length / 2))
    return () => {
      sent.end(text.slice(text.length / 2))
      return reply
    }
  }

  /** The `data` of an answer that has to be a success. */
  const dataOf = async (wanted: Wanted) => {
    const { status, body } = await send(wanted)
    if (status !== 200) throw new Error(`${wanted.method} ${wanted.path}: ${status} ${body}`)
    return JSON.parse(body).data
  }

  /** The header of a new session. */
  const logIn = async (name: string, password: string) => {
    const { headers, body } = await send({ method: 'POST', path: '/auth/login', body: { name, password } })
    const [cookie] = headers['set-cookie'] ?? []
    if (!cookie) throw new Error(`The login was refused: ${body}`)
    return { cookie: cookie.slice(0, cookie.indexOf(';')) }
  }

  return { send, begin, dataOf, logIn }
}

export type HttpClient = ReturnType<typeof createClient>
