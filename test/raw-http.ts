import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import type { Test } from 'tap'
import type { App } from './helpers.ts'

export interface RawResponse {
  readonly statusCode: number
  readonly head: string
  readonly body: string
}

/** Parses the first response. Its status is 0 if there is none. */
const parseResponse = (text: string): RawResponse => {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  return {
    statusCode: Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)),
    head,
    body: rest.join('\r\n\r\n')
  }
}

/** Returns a function that sends any bytes, also invalid HTTP, to an app that listens until `t` ends. */
export const listenRaw = async (t: Test, app: App) => {
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  t.teardown(() => app.close())

  /**
   * Resolves with the response after the connection has closed. With `halfClose`, the client ends its side after the
   * last byte.
   */
  return (bytes: string, halfClose = false) =>
    new Promise<RawResponse>((resolve) => {
      let received = ''
      const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
      socket.on('data', (chunk) => {
        received += chunk
      })
      // A server that refuses a request may close before it has read all bytes. Its response is still used.
      socket.on('error', () => socket.destroy())
      socket.on('end', () => socket.destroy())
      socket.on('close', () => resolve(parseResponse(received)))
      socket.write(bytes)
      if (halfClose) socket.end()
    })
}
