import Fastify from 'fastify'
import t from 'tap'
import declarations, { declaredErrors } from '../../../plugins/app/declarations.ts'

const handler = async () => 'ok'
const schema = { operationId: 'readCat' }

t.test('an operation without a credential or errors stops the start', async (t) => {
  for (const config of [undefined, {}, { credential: 'none' as const }, { errors: [] }]) {
    const app = Fastify()
    t.teardown(() => app.close())
    const started = app.register(declarations).register(async (area) => {
      area.get('/cats', { schema, ...(config && { config }) }, handler)
    })
    await t.rejects(async () => void (await started), {
      message: 'GET /cats must declare config.credential and config.errors.'
    })
  }
})

t.test('an operation with both, and a route that is not an operation, are served', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(declarations)
  app.get('/cats', { schema, config: { credential: 'none', errors: [] } }, handler)
  app.get('/page', handler)
  for (const url of ['/cats', '/page']) t.equal((await app.inject(url)).statusCode, 200)
})

t.test('the errors of a route include those that its method, parameters and credential imply', async (t) => {
  const config = { credential: 'token' as const, errors: ['RECORD_NOT_FOUND' as const] }
  const read = declaredErrors({ method: 'GET', url: '/cats', config })
  t.match(new Set(read), new Set(['INVALID_TOKEN', 'RECORD_NOT_FOUND', 'VALIDATION_FAILED']))
  t.notOk(read.includes('PATH_TOO_LONG'))
  t.notOk(read.includes('MALFORMED_JSON'))
  const written = declaredErrors({ method: 'POST', url: '/cats/:pk', config })
  for (const code of ['PATH_TOO_LONG', 'MALFORMED_JSON'] as const) t.ok(written.includes(code), code)
})
