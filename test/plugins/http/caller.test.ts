import Fastify from 'fastify'
import t from 'tap'
import caller, { CALLER } from '../../../plugins/http/caller.ts'
import { serviceCaller } from '../../../services/model/caller.ts'

t.test('the caller of a request', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(caller)
  app.get('/', async ({ caller: { confirm, confirmRight, mayRead, ...values } }) => {
    await confirm()
    await confirmRight()
    return { ...values, mayRead: mayRead('cats') }
  })
  app.get('/known', {
    onRequest: async (request) => {
      request[CALLER] = { ...serviceCaller, kind: 'admin', id: 7, name: 'Ada' }
    },
    handler: async ({ caller: { kind, id, name } }) => ({ kind, id, name })
  })

  t.test('is anonymous without a credential, and has the id and address of the request', async (t) => {
    const response = await app.inject({ url: '/', remoteAddress: '192.0.2.1' })
    const anonymous = { kind: 'anonymous', id: 0, name: '', address: '192.0.2.1', mayRead: false }
    t.match(response.json(), { ...anonymous, requestId: /^req-/ })
  })

  t.test('is the one that a hook has set', async (t) => {
    t.strictSame((await app.inject('/known')).json(), { kind: 'admin', id: 7, name: 'Ada' })
  })
})
