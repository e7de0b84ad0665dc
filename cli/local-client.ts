import { once } from 'node:events'
import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import type { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { CallError, type FailedCall } from './output.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

interface SentFile {
  readonly type: string
  readonly content: Readable
}

/** Sends requests of the API through the local socket of a service. */
export interface LocalClient {
  /** Returns the `data` of the response. @throws a CallError */
  call(method: Method, path: string, body?: object): Promise<unknown>
  /** Sends a file. Returns the `data` of the response. @throws a CallError */
  upload(path: string, file: SentFile): Promise<unknown>
  /** Returns the body of the response. @throws a CallError */
  download(path: string): Promise<Readable>
  close(): Promise<void>
}

interface Envelope {
  readonly data?: unknown
  readonly error?: FailedCall
}

const failureOf = ({ error }: Envelope, { statusCode }: IncomingMessage) =>
  new CallError(error ?? { code: 'UNEXPECTED_RESPONSE', message: `The service returned the status ${statusCode}.` })

const assertOk = async (response: IncomingMessage) => {
  if (response.statusCode !== 200) throw failureOf((await json(response)) as Envelope, response)
}

const dataOf = async (response: IncomingMessage) => {
  await assertOk(response)
  return ((await json(response)) as Envelope).data
}

/** The service may respond, and close the connection, before it has read the whole file. */
const sendFile = (sent: ReturnType<typeof request>, content: Readable) => pipeline(content, sent).catch(() => {})

/** `close` is called after the last request. */
export const createLocalClient = (socketPath: string, close: () => Promise<void>): LocalClient => {
  const open = (method: Method, path: string, headers: RequestOptions['headers'] = {}) =>
    request({ socketPath, method, path, agent: false, headers: { host: 'localhost', ...headers } })

  const send = async (sent: ReturnType<typeof request>) => {
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return response
  }

  return {
    call: async (method, path, body) => {
      const sent = open(method, path, body && { 'content-type': 'application/json' })
      sent.end(body && JSON.stringify(body))
      return dataOf(await send(sent))
    },
    upload: async (path, { type, content }) => {
      const sent = open('POST', path, { 'content-type': type })
      const responded = send(sent)
      const [response] = await Promise.all([responded, sendFile(sent, content)])
      return dataOf(response)
    },
    download: async (path) => {
      const sent = open('GET', path)
      sent.end()
      const response = await send(sent)
      await assertOk(response)
      return response
    },
    close
  }
}
