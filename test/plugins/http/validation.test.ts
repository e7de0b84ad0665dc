import { type TSchema, Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import errors from '../../../plugins/http/errors.ts'
import validation, { compilers } from '../../../plugins/http/validation.ts'
import { IdSchema } from '../../../schemas/envelope.ts'
import { NAME_PATTERN } from '../../../schemas/patterns.ts'

const strict = { additionalProperties: false }

/** One route that answers with what it was given. */
const startEcho = async (t: Test, schema: { body?: TSchema; querystring?: TSchema }) => {
  const app = Fastify({ schemaController: compilers })
  await app.register(errors)
  await app.register(validation)
  app.post('/echo', { schema: { operationId: 'echo', ...schema } }, async ({ body, query }) => ({ body, query }))
  t.teardown(() => app.close())
  return {
    send: (payload: string, type = 'application/json') =>
      app.inject({ method: 'POST', url: '/echo', headers: { 'content-type': type }, payload }),
    query: (text: string) => app.inject({ method: 'POST', url: `/echo?${text}` })
  }
}

const firstDetail = (answer: { json(): { error: { details: unknown[] } } }) => answer.json().error.details[0]

t.test('a body arrives as it was sent, or is refused where it stands', async (t) => {
  const { send } = await startEcho(t, {
    body: Type.Object(
      {
        size: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
        name: Type.Optional(Type.String({ minLength: 2, pattern: NAME_PATTERN })),
        when: Type.Optional(Type.Unsafe<number | null>({ type: ['integer', 'null'] })),
        isOpen: Type.Optional(Type.Boolean()),
        kind: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: ['a', 'b'] })),
        odd: Type.Optional(Type.String({ pattern: '^x+$' })),
        note: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 3 })),
        list: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 2, uniqueItems: true }))
      },
      { minProperties: 1, ...strict }
    )
  })
  t.same((await send('{"size":2,"note":null}')).json().body, { size: 2, note: null })

  const refusals: [string, object][] = [
    ['{"size":"2"}', { path: '/size', code: 'type', message: "'size' must be an integer." }],
    ['{"size":0}', { path: '/size', code: 'range', message: "'size' must be 1 or more." }],
    ['{"size":10}', { path: '/size', code: 'range', message: "'size' must be 9 at most." }],
    ['{"name":"x"}', { path: '/name', code: 'length', message: "'name' must have 2 or more characters." }],
    [
      '{"name":"1 Y"}',
      {
        path: '/name',
        code: 'format',
        message: "'name' must be a letter, then letters, digits or _, 63 characters at most."
      }
    ],
    ['{"odd":"y"}', { path: '/odd', code: 'format', message: "'odd' must be like ^x+$." }],
    ['{"when":"now"}', { path: '/when', code: 'type', message: "'when' must be an integer or null." }],
    ['{"isOpen":1}', { path: '/isOpen', code: 'type', message: "'isOpen' must be true or false." }],
    ['{"sizes":1}', { path: '/sizes', code: 'unknown', message: "'sizes' is not known here." }],
    ['{"a/b~":1}', { path: '/a~1b~0', code: 'unknown' }],
    ['{"__proto__":1}', { path: '/__proto__', code: 'unknown' }],
    ['{"kind":"c"}', { path: '/kind', code: 'enum', message: "'kind' must be one of a, b." }],
    ['{"list":[]}', { path: '/list', code: 'length', message: "'list' must have 1 or more items." }],
    ['{"list":["x","y","z"]}', { path: '/list', code: 'length', message: "'list' must have 2 items at most." }],
    ['{"list":{}}', { path: '/list', code: 'type', message: "'list' must be an array." }],
    ['{"note":5}', { path: '/note', code: 'type', message: "'note' must be a string or null." }],
    ['{"note":"long"}', { path: '/note', code: 'length', message: "'note' must have 3 characters at most." }],
    ['{"list":["x","x"]}', { path: '/list', code: 'invalid' }],
    ['{}', { path: '', code: 'required', message: 'There is nothing to change.' }],
    ['[]', { path: '', code: 'type', message: 'The body must be an object.' }],
    ['null', { path: '', code: 'type', message: 'The body must be an object.' }]
  ]
  for (const [payload, detail] of refusals) {
    const answer = await send(payload)
    t.equal(answer.statusCode, 400, payload)
    t.match(firstDetail(answer), detail)
  }
})

t.test('no JSON value holds NUL, half a surrogate pair, or a number beyond a double', async (t) => {
  const { send } = await startEcho(t, { body: Type.Object({}) })
  t.equal((await send('{"a":["\\ud83d\\ude00",1e308,{"b":null}]}')).statusCode, 200)
  const refusals: [string, object][] = [
    ['{"a":["x",{"b":"\\u0000"}]}', { path: '/a/1/b', code: 'format', message: /NUL/ }],
    ['{"a":"\\ud800"}', { path: '/a', code: 'format', message: /half of a surrogate pair/ }],
    ['{"\\ud800":1}', { path: /^\//, code: 'format' }],
    ['{"a":-1e400}', { path: '/a', code: 'range', message: /beyond what a number can be/ }],
    ['"\\u0000"', { path: '', code: 'format', message: 'The body contains a NUL character.' }]
  ]
  for (const [payload, detail] of refusals) {
    const answer = await send(payload)
    t.equal(answer.statusCode, 400, payload)
    t.match(firstDetail(answer), detail)
  }
})

t.test('a body may be nested 100 levels deep', async (t) => {
  const { send } = await startEcho(t, { body: Type.Object({}) })
  const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  t.equal((await send(nested(100))).statusCode, 200)
  const answer = await send(nested(101))
  t.equal(answer.statusCode, 400)
  t.match(firstDetail(answer), { code: 'depth', message: /deeper than 100 levels/ })
  t.equal((await send(nested(100_000))).statusCode, 400)
})

t.test('what is no JSON in UTF-8 is refused as such', async (t) => {
  const { send } = await startEcho(t, { body: Type.Object({}) })
  t.match((await send('{"a":')).json(), { error: { code: 'MALFORMED_JSON', message: /not valid JSON/ } })
  const latin1 = Buffer.from('{"a":"é"}', 'latin1')
  t.match((await send(latin1 as unknown as string)).json(), { error: { code: 'MALFORMED_JSON', message: /UTF-8/ } })
  t.match((await send('a=1', 'application/x-www-form-urlencoded')).statusCode, 415)
  for (const type of ['text/plain', 'nonsense', ';', 'application/jsonp']) {
    const answer = await send('{"a":1}', type)
    t.match(answer.json(), { error: { code: 'UNSUPPORTED_MEDIA_TYPE', hint: /Content-Type: application\/json/ } }, type)
    t.equal(answer.statusCode, 415)
  }
})

t.test('a route without a body takes none, an empty one of any type, or {}', async (t) => {
  const { send } = await startEcho(t, {})
  for (const type of ['application/json', 'text/plain', 'multipart/form-data']) {
    t.equal((await send('', type)).statusCode, 200, type)
  }
  t.equal((await send('{}')).statusCode, 200)
  for (const payload of ['[]', 'null', '{"a":1}', '0']) {
    t.match((await send(payload)).json(), { error: { code: 'BODY_NOT_ALLOWED' } }, payload)
  }
})

t.test('a body has 20,000 keys, objects and arrays at most; texts may hold what they like', async (t) => {
  const { send } = await startEcho(t, { body: Type.Unknown() })
  const keys = (count: number) => Array.from({ length: count }, (_, index) => `"${index}:\\"": {"a":":"}`).join(',')
  // Two keys and an object each, in an object that counts too.
  t.equal((await send(`{${keys(6_666)},"and":1}`)).statusCode, 200)
  for (const text of [
    `{${keys(6_666)},"and":1,"one more":1}`,
    `[${'{},'.repeat(19_999)}{}]`,
    `[${'[],'.repeat(300_000)}[]]`,
    `[${`${'['.repeat(90)}${']'.repeat(90)},`.repeat(250)}[]]`
  ]) {
    const refused = await send(text)
    t.equal(refused.statusCode, 400)
    t.match(refused.json(), {
      error: {
        code: 'VALIDATION_FAILED',
        details: [{ path: '', message: 'The body has more than 20000 keys, objects and arrays.' }]
      }
    })
  }
  t.equal((await send(`[${'{},'.repeat(19_998)}{}]`)).statusCode, 200)
  t.equal((await send(`["${':[{'.repeat(100_000)}"]`)).statusCode, 200)
})

t.test('query text is converted strictly, and unknown or repeated keys are refused', async (t) => {
  const querystring = Type.Object(
    { page: Type.Optional(IdSchema), deep: Type.Optional(Type.Boolean()), q: Type.Optional(Type.String()) },
    strict
  )
  const { query } = await startEcho(t, { querystring })
  t.same((await query('page=20&deep=false&q=1e3')).json().query, { page: 20, deep: false, q: '1e3' })
  for (const text of [
    'page=0',
    'page=01',
    'page=1e3',
    'page=0x10',
    'page=',
    'page=-0',
    'page=1234567890',
    'page=1234567890123456',
    'deep=1',
    'deep='
  ]) {
    t.equal((await query(text)).statusCode, 400, text)
  }
  const says = async (text: string) => (firstDetail(await query(text)) as { message: string }).message
  t.equal(await says('page=0'), "'page' must be 1 or more.")
  t.equal(await says('page=-7'), "'page' must be 1 or more.")
  t.equal(await says('page=1234567890'), "'page' must be 999999999 at most.")
  t.equal(await says('page=x'), "'page' must be an integer.")
  t.match(firstDetail(await query('page=1&page=2')), { path: '/page', code: 'type' })
  t.match(firstDetail(await query('size=1')), { path: '/size', code: 'unknown' })
  t.match(firstDetail(await query('q=a%00b')), { path: '/q', code: 'format', message: /NUL/ })
})

t.test('a query that cannot be decoded is refused', async (t) => {
  const { query } = await startEcho(t, { querystring: Type.Object({ q: Type.String() }, strict) })
  t.same((await query('q=%e2%82%ac%25')).json().query, { q: '€%' })
  for (const text of ['q=%zz', 'q=%e2%82', 'q=%', '%ff=1']) {
    const answer = await query(text)
    t.equal(answer.statusCode, 400, text)
    t.match(answer.json(), { error: { code: 'MALFORMED_REQUEST' } })
  }
})

t.test('a route without query parameters takes none', async (t) => {
  const { query } = await startEcho(t, {})
  t.equal((await query('')).statusCode, 200)
  t.match(firstDetail(await query('a=1')), { path: '/a', code: 'unknown' })
})
