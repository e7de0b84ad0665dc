import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'

export interface TestResponse {
  /** 0: the connection ended before the response did. */
  readonly status: number
  readonly body: string
  readonly headers: IncomingMessage['headers']
}

const NO_RESPONSE: TestResponse = { status: 0, body: '', headers: {} }

const RETRY_MS = 50

/** The machine may be busy with other tests. A request that fails with OVERLOADED was not processed. */
const isOverloaded = ({ status, body }: TestResponse) => status === 503 && JSON.parse(body).error.code === 'OVERLOADED'

/**
 * Returns a function that sends requests with one credential. Each request in flight has its own connection, which is
 * kept alive. A request is retried while the service is overloaded.
 */
export const createHttp = (address: string, credential: Record<string, string> = {}) => {
  const agent = new Agent({ keepAlive: true })
  const send = (method: string, path: string, body?: object | string, extra: Record<string, string> = {}) =>
    new Promise<TestResponse>((resolve) => {
      const isFile = typeof body === 'string'
      const headers = { ...credential, ...(body && !isFile && { 'content-type': 'application/json' }), ...extra }
      const call = request(`${address}${path}`, { method, headers, agent })
      call.on('error', () => resolve(NO_RESPONSE))
      call.on('response', (response) => {
        const { statusCode: status = 0, headers } = response
        text(response).then(
          (body) => resolve({ status, body, headers }),
          () => resolve(NO_RESPONSE)
        )
      })
      call.end(isFile ? body : body && JSON.stringify(body))
    })

  return async (...call: Parameters<typeof send>) => {
    let response = await send(...call)
    while (isOverloaded(response)) {
      await setTimeout(RETRY_MS)
      response = await send(...call)
    }
    return response
  }
}

export type Call = ReturnType<typeof createHttp>

/** Returns the `data` of a response. @throws when the response is a failure */
export const dataOf = ({ status, body }: TestResponse) => {
  if (status !== 200) throw new Error(`${status}: ${body}`)
  return JSON.parse(body).data
}
