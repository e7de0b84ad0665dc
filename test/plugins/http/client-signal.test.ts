import { once } from 'node:events'
import { connect } from 'node:net'
import Fastify, { type FastifyRequest } from 'fastify'
import t from 'tap'
import { clientSignalOf } from '../../../plugins/http/client-signal.ts'
import pendingRequests from '../../../plugins/http/pending-requests.ts'

t.test('a signal that is first needed after the client has disconnected is aborted', async (t) => {
  const app = Fastify()
  await app.register(pendingRequests)
  const signals: { readonly before: boolean; readonly after: boolean }[] = []
  app.get('/', async (request: FastifyRequest) => {
    const early = clientSignalOf(request)
    const late = clientSignalOf(request)
    const before = early().aborted
    await once(request.raw.socket, 'close')
    signals.push({ before, after: late().aborted })
    t.ok(early().aborted)
  })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as { readonly port: number }
  const socket = connect(port, '127.0.0.1')
  const responded = once(app.server, 'request').then(([, response]) => once(response, 'close'))
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await new Promise((resolve) => setTimeout(resolve, 50))
  socket.destroy()
  await responded
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(signals, [{ before: false, after: true }])
})
