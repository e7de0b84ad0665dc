import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'

export interface TestResponse {
  /** 0: the connection ended before there was one. */
  readonly status: number
  readonly body: string
  readonly headers: IncomingMessage['headers']
}

const NO_ANSWER: TestResponse = { status: 0, body: '', headers: {} }

const RETRY_MS = 50

/** The machine may be busy with other tests. What is refused for that before it is looked at has left no trace. */
const isOverloaded = ({ status, body }: TestResponse) => status === 503 && JSON.parse(body).error.code === 'OVERLOADED'

/** Calls under one credential, over as many connections as are under way at once, each kept alive. */
export const createCaller = (address: string, credential: Record<string, string> = {}) => {
  const agent = new Agent({ keepAlive: true })
  const send = (method: string, path: string, body?: object) =>
    new Promise<TestResponse>((resolve) => {
      const headers = { ...credential, ...(body && { 'content-type': 'application/json' }) }
      const call = request(`${address}${path}`, { method, headers, agent })
      call.on('error', () => resolve(NO_ANSWER))
      call.on('response', (response) => {
        const { statusCode: status = 0, headers } = response
        text(response).then(
          (body) => resolve({ status, body, headers }),
          () => resolve(NO_ANSWER)
        )
      })
      call.end(body && JSON.stringify(body))
    })

  return async (...call: Parameters<typeof send>) => {
    let answer = await send(...call)
    while (isOverloaded(answer)) {
      await setTimeout(RETRY_MS)
      answer = await send(...call)
    }
    return answer
  }
}

export type Call = ReturnType<typeof createCaller>

/** The `data` of an answer that has to be a success. */
export const dataOf = ({ status, body }: TestResponse) => {
  if (status !== 200) throw new Error(`${status}: ${body}`)
  return JSON.parse(body).data
}
