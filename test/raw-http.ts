import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import type { Test } from 'tap'
import type { App } from './helpers.ts'

export interface RawAnswer {
  readonly statusCode: number
  readonly head: string
  readonly body: string
}

/** The first answer in these bytes; its status is 0 where there is none. */
const parseAnswer = (text: string): RawAnswer => {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  return {
    statusCode: Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)),
    head,
    body: rest.join('\r\n\r\n')
  }
}

/** Sends bytes that no HTTP client would, to an app that listens until `t` ends. */
export const listenRaw = async (t: Test, app: App) => {
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  t.teardown(() => app.close())

  /**
   * Resolves with what came back once the connection has ended. A client that `leaves` closes its side behind its last
   * byte, so that the server knows that no more is to come.
   */
  return (bytes: string, leaves = false) =>
    new Promise<RawAnswer>((resolve) => {
      let received = ''
      const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
      socket.on('data', (chunk) => {
        received += chunk
      })
      // A server that refuses may close while bytes are still on their way: what it said counts.
      socket.on('error', () => socket.destroy())
      socket.on('end', () => socket.destroy())
      socket.on('close', () => resolve(parseAnswer(received)))
      socket.write(bytes)
      if (leaves) socket.end()
    })
}
