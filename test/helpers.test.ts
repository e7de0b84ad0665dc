import Fastify, { type FastifySchema } from 'fastify'
import t from 'tap'
import { ok } from '../schemas/envelope.ts'
import { PageEnvelope } from '../schemas/record.ts'
import { checkResponses, client, dataOf, logIn, startApp } from './helpers.ts'

t.test('a response that differs from its documented schema is reported', async (t) => {
  const faults: string[] = []
  const app = Fastify()
  checkResponses(app, (message) => {
    faults.push(message)
  })
  const schema: FastifySchema = { response: { 200: PageEnvelope } }
  const page = { rows: [], total: 0, page: 1, size: 20 }
  // As text, like records: a serializer would correct the body.
  const send = (url: string, status: number, body: object) =>
    app.get(url, { schema }, async (_request, reply) =>
      reply.code(status).type('application/json').send(JSON.stringify(body))
    )
  send('/right', 200, ok(page))
  send('/wrong', 200, ok({ ...page, total: '0' }))
  send('/refused', 400, { error: 'Bad Request' })
  for (const url of ['/right', '/wrong', '/refused']) await app.inject(url)
  t.strictSame(faults, [
    'GET /wrong responds with an undocumented body',
    'GET /refused responds with an undocumented body'
  ])
})

t.test('an error code that its route does not declare is reported', async (t) => {
  const reports: string[] = []
  const app = Fastify()
  checkResponses(app, (message) => {
    reports.push(message)
  })
  app.get(
    '/cats',
    { schema: { operationId: 'listCats' }, config: { credential: 'none', errors: ['TABLE_NOT_FOUND'] } },
    async ({ query }, reply) => {
      const { code } = query as { code: string }
      const error = { code, message: 'It failed.', requestId: '1' }
      return reply
        .code(409)
        .type('application/json; charset=utf-8')
        .send(JSON.stringify({ success: false, error }))
    }
  )
  for (const code of ['TABLE_NOT_FOUND', 'OVERLOADED', 'TABLE_EXISTS']) await app.inject(`/cats?code=${code}`)
  t.strictSame(reports, ['GET /cats?code=TABLE_EXISTS fails with TABLE_EXISTS, which its route does not declare'])
})

t.test('a helper that needs a success throws with the response that it got', async (t) => {
  const app = await startApp(t)
  t.throws(() => dataOf({ statusCode: 404, body: 'nothing' } as Parameters<typeof dataOf>[0]), {
    message: '404: nothing'
  })
  await t.rejects(logIn(app, 'admin', 'wrong'), /INVALID_CREDENTIALS/)
  t.strictSame(dataOf(await client(app, await logIn(app)).get('/admin/tables')), [])
})
