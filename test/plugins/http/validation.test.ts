import { type TSchema, Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import errors from '../../../plugins/http/errors.ts'
import { compilers } from '../../../plugins/http/schema-compilers.ts'
import validation from '../../../plugins/http/validation.ts'
import { TableIdSchema } from '../../../schemas/envelope.ts'
import { NAME_PATTERN } from '../../../schemas/patterns.ts'

const strict = { additionalProperties: false }

/** Starts an app whose only route returns its body and its query. */
const startEcho = async (t: Test, schema: { body?: TSchema; querystring?: TSchema; headers?: TSchema }) => {
  const app = Fastify({ schemaController: compilers })
  await app.register(errors)
  await app.register(validation)
  app.post('/echo', { schema: { operationId: 'echo', ...schema } }, async ({ body, query }) => ({ body, query }))
  t.teardown(() => app.close())
  return {
    send: (payload: string, type = 'application/json') =>
      app.inject({ method: 'POST', url: '/echo', headers: { 'content-type': type }, payload }),
    query: (text: string) => app.inject({ method: 'POST', url: `/echo?${text}` }),
    header: (name: string, value: string) => app.inject({ method: 'POST', url: '/echo', headers: { [name]: value } })
  }
}

const firstDetail = (response: { json(): { error: { details: unknown[] } } }) => response.json().error.details[0]

t.test('a header is checked whatever the case of its name', async (t) => {
  const { header } = await startEcho(t, {
    headers: Type.Object({ 'If-Match': Type.Optional(Type.String({ pattern: '^x+$' })) })
  })
  for (const name of ['If-Match', 'if-match', 'IF-MATCH']) {
    t.equal((await header(name, 'x')).statusCode, 200)
    const refused = await header(name, 'y')
    t.equal(refused.statusCode, 400)
    t.match(firstDetail(refused), { path: '/if-match', code: 'format' })
  }
  t.equal((await header('other', 'y')).statusCode, 200)
})

t.test('a body is unchanged, or is refused with the path of the invalid value', async (t) => {
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
    ['{"size":0}', { path: '/size', code: 'range', message: "'size' must be at least 1." }],
    ['{"size":10}', { path: '/size', code: 'range', message: "'size' must be at most 9." }],
    ['{"name":"x"}', { path: '/name', code: 'length', message: "'name' must have at least 2 characters." }],
    [
      '{"name":"1 Y"}',
      {
        path: '/name',
        code: 'format',
        message: "'name' must start with a letter, contain only letters, digits and _, and have at most 63 characters."
      }
    ],
    ['{"odd":"y"}', { path: '/odd', code: 'format', message: "'odd' must match ^x+$." }],
    ['{"when":"now"}', { path: '/when', code: 'type', message: "'when' must be an integer or null." }],
    ['{"isOpen":1}', { path: '/isOpen', code: 'type', message: "'isOpen' must be true or false." }],
    ['{"sizes":1}', { path: '/sizes', code: 'unknown', message: "'sizes' is unknown." }],
    ['{"a/b~":1}', { path: '/a~1b~0', code: 'unknown' }],
    ['{"__proto__":1}', { path: '/__proto__', code: 'unknown' }],
    ['{"kind":"c"}', { path: '/kind', code: 'enum', message: "'kind' must be one of a, b." }],
    ['{"list":[]}', { path: '/list', code: 'length', message: "'list' must have at least 1 item." }],
    ['{"list":["x","y","z"]}', { path: '/list', code: 'length', message: "'list' must have at most 2 items." }],
    ['{"list":{}}', { path: '/list', code: 'type', message: "'list' must be an array." }],
    ['{"note":5}', { path: '/note', code: 'type', message: "'note' must be a string or null." }],
    ['{"note":"long"}', { path: '/note', code: 'length', message: "'note' must have at most 3 characters." }],
    ['{"list":["x","x"]}', { path: '/list', code: 'invalid' }],
    ['{}', { path: '', code: 'required', message: 'There is nothing to change.' }],
    ['[]', { path: '', code: 'type', message: 'The body must be an object.' }],
    ['null', { path: '', code: 'type', message: 'The body must be an object.' }]
  ]
  for (const [payload, detail] of refusals) {
    const response = await send(payload)
    t.equal(response.statusCode, 400, payload)
    t.match(firstDetail(response), detail)
  }
})

t.test('a JSON value with NUL, an unpaired surrogate or a number beyond a double is refused', async (t) => {
  const { send } = await startEcho(t, { body: Type.Object({}) })
  t.equal((await send('{"a":["\\ud83d\\ude00",1e308,{"b":null}]}')).statusCode, 200)
  const refusals: [string, object][] = [
    ['{"a":["x",{"b":"\\u0000"}]}', { path: '/a/1/b', code: 'format', message: /NUL/ }],
    ['{"a":"\\ud800"}', { path: '/a', code: 'format', message: /unpaired surrogate/ }],
    ['{"\\ud800":1}', { path: /^\//, code: 'format' }],
    ['{"a":-1e400}', { path: '/a', code: 'range', message: /outside the range of a 64-bit floating-point number/ }],
    ['"\\u0000"', { path: '', code: 'format', message: 'The body contains a NUL character.' }]
  ]
  for (const [payload, detail] of refusals) {
    const response = await send(payload)
    t.equal(response.statusCode, 400, payload)
    t.match(firstDetail(response), detail)
  }
})

t.test('a key that an object of any body has twice is refused and named', async (t) => {
  const { send } = await startEcho(t, { body: Type.Any() })
  for (const text of ['{"name":1,"name":1}', '[{"a":{"name":1,"b":":","name":2}}]']) {
    const refused = await send(text)
    t.equal(refused.statusCode, 400)
    t.match(firstDetail(refused), { path: '', code: 'duplicate', message: /'name' twice/ })
  }
  t.equal((await send('[{"name":1,"a":{"name":":"}},{"name":2}]')).statusCode, 200)
})

t.test('a body may be nested 100 levels deep', async (t) => {
  const { send } = await startEcho(t, { body: Type.Object({}) })
  const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  t.equal((await send(nested(100))).statusCode, 200)
  const response = await send(nested(101))
  t.equal(response.statusCode, 400)
  t.match(firstDetail(response), { code: 'depth', message: /deeper than 100 levels/ })
  t.equal((await send(nested(100_000))).statusCode, 400)
})

t.test('a body that is not JSON in UTF-8 is refused', async (t) => {
  const { send } = await startEcho(t, { body: Type.Object({}) })
  t.match((await send('{"a":')).json(), { error: { code: 'MALFORMED_JSON', message: /not valid JSON/ } })
  const latin1 = Buffer.from('{"a":"é"}', 'latin1')
  t.match((await send(latin1 as unknown as string)).json(), { error: { code: 'MALFORMED_JSON', message: /UTF-8/ } })
  t.match((await send('a=1', 'application/x-www-form-urlencoded')).statusCode, 415)
  for (const type of ['text/plain', 'nonsense', ';', 'application/jsonp']) {
    const response = await send('{"a":1}', type)
    t.match(
      response.json(),
      { error: { code: 'UNSUPPORTED_MEDIA_TYPE', hint: /Content-Type: application\/json/ } },
      type
    )
    t.equal(response.statusCode, 415)
  }
})

t.test('a route without a body accepts no body, an empty one of any type, or {}', async (t) => {
  const { send } = await startEcho(t, {})
  for (const type of ['application/json', 'text/plain', 'multipart/form-data']) {
    t.equal((await send('', type)).statusCode, 200, type)
  }
  t.equal((await send('{}')).statusCode, 200)
  for (const payload of ['[]', 'null', '{"a":1}', '0']) {
    t.match((await send(payload)).json(), { error: { code: 'BODY_NOT_ALLOWED' } }, payload)
  }
})

t.test('a body has at most 20,000 keys, objects and arrays; brackets in strings are not counted', async (t) => {
  const { send } = await startEcho(t, { body: Type.Unknown() })
  const keys = (count: number) => Array.from({ length: count }, (_, index) => `"${index}:\\"": {"a":":"}`).join(',')
  // Each adds two keys and an object. The outer object counts too.
  t.equal((await send(`{${keys(6_666)},"and":1}`)).statusCode, 200)
  for (const text of [
    `{${keys(6_666)},"and":1,"one more":1}`,
    `[${'{},'.repeat(19_999)}{}]`,
    `[${'[],'.repeat(300_000)}[]]`,
    `[${`${'['.repeat(90)}${']'.repeat(90)},`.repeat(250)}[]]`
  ]) {
    const response = await send(text)
    t.equal(response.statusCode, 400)
    t.match(response.json(), {
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
    { page: Type.Optional(TableIdSchema), deep: Type.Optional(Type.Boolean()), q: Type.Optional(Type.String()) },
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
  const messageOf = async (text: string) => (firstDetail(await query(text)) as { message: string }).message
  t.equal(await messageOf('page=0'), "'page' must be at least 1.")
  t.equal(await messageOf('page=-7'), "'page' must be at least 1.")
  t.equal(await messageOf('page=1234567890'), "'page' must be at most 999999999.")
  t.equal(await messageOf('page=x'), "'page' must be an integer.")
  t.match(firstDetail(await query('page=1&page=2')), { path: '/page', code: 'type' })
  t.match(firstDetail(await query('size=1')), { path: '/size', code: 'unknown' })
  t.match(firstDetail(await query('q=a%00b')), { path: '/q', code: 'format', message: /NUL/ })
})

t.test('a query that cannot be decoded is refused', async (t) => {
  const { query } = await startEcho(t, { querystring: Type.Object({ q: Type.String() }, strict) })
  t.same((await query('q=%e2%82%ac%25')).json().query, { q: '€%' })
  for (const text of ['q=%zz', 'q=%e2%82', 'q=%', '%ff=1']) {
    const response = await query(text)
    t.equal(response.statusCode, 400, text)
    t.match(response.json(), { error: { code: 'MALFORMED_REQUEST' } })
  }
})

t.test('a route without query parameters accepts none', async (t) => {
  const { query } = await startEcho(t, {})
  t.equal((await query('')).statusCode, 200)
  t.match(firstDetail(await query('a=1')), { path: '/a', code: 'unknown' })
})
