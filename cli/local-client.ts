import { once } from 'node:events'
import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import { finished, type Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
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

interface ClientOptions {
  /** Milliseconds without a byte of the response, after which a request fails. Without it, requests may take any time. */
  readonly timeout?: number
  /** Called after the last request. */
  readonly close?: () => Promise<void>
}

/** Says what a code of Node means for a command. */
const explain = (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') return error
  return new Error(
    `The service has closed the connection (${error.code}). It was stopped, or the file is larger than IMPORT_LIMIT.`
  )
}

export const createLocalClient = (socketPath: string, options: ClientOptions = {}): LocalClient => {
  const { timeout, close = async () => {} } = options
  const open = (method: Method, path: string, headers: RequestOptions['headers'] = {}) => {
    const sent = request({ socketPath, method, path, agent: false, headers: { host: 'localhost', ...headers } })
    if (timeout !== undefined)
      sent.setTimeout(timeout, () => sent.destroy(new Error(`The service did not respond within ${timeout} ms.`)))
    return sent
  }

  const send = async (sent: ReturnType<typeof request>) => {
    try {
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      return response
    } catch (error) {
      throw explain(error as Error)
    }
  }

  return {
    call: async (method, path, body) => {
      const sent = open(method, path, body && { 'content-type': 'application/json' })
      sent.end(body && JSON.stringify(body))
      return dataOf(await send(sent))
    },
    upload: async (path, { type, content }) => {
      const sent = open('POST', path, { 'content-type': type })
      // Also if the file has failed before.
      finished(content, (error) => {
        if (error) sent.destroy(error)
      })
      // After the connection: a command that finds no service sends the whole file to the next one.
      // Not a pipeline: the service may respond before it has read the whole file, and that response must not be lost.
      sent.once('socket', (socket) => socket.once('connect', () => content.pipe(sent)))
      return dataOf(await send(sent))
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
