import { createHmac, createSign, generateKeyPairSync } from 'node:crypto'
import { exportSPKI } from 'jose'
import t from 'tap'
import {
  asAdmin,
  bearer,
  client,
  createDatabase,
  dataOf,
  expectData,
  expectError,
  importTable,
  routesOf,
  startApp
} from '../helpers.ts'
import { AUDIENCE, CRITICAL, closedAddress, ISSUER, makeSigner, type Parts, serveKeys } from '../jwt-issuer.ts'

let now = Date.now()
t.intercept(Date, 'now', { value: () => now })
const clock = () => now
const seconds = () => Math.floor(now / 1000)

const file = createDatabase(
  t,
  `CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, note TEXT);
   INSERT INTO orders VALUES (1, 1, 'tea'), (2, 2, 'milk'), (3, 1, 'salt');`
)

const JWT = {
  JWT_ISSUER: ISSUER,
  JWT_AUDIENCE: AUDIENCE,
  JWT_ROLE: '/role',
  JWT_CLAIMS: 'customer=/customer, tenant=/https:~1~1example.org~1app/tenants/1'
}

const signer = await makeSigner('first', clock)
const other = await makeSigner('other', clock)
const short = generateKeyPairSync('rsa', { modulusLength: 1024 })
const shortJwk = { ...short.publicKey.export({ format: 'jwk' }), kid: 'short', alg: 'RS256' }
const keys = await serveKeys(t, [signer.jwk, shortJwk])
const lines: string[] = []
const app = await startApp(t, {
  env: { DATABASE: file, ...JWT, JWT_JWKS_URL: keys.url },
  clock,
  logger: { level: 'warn', stream: { write: (line: string) => lines.push(line) } }
})
const address = await app.listen({ port: 0, host: '127.0.0.1' })
const admin = await asAdmin(app)
await importTable(admin, 'orders')

const GRANTS = [
  {
    tables: ['orders'],
    actions: ['read', 'create', 'update'],
    rows: { where: { customer_id: { eq: { $claim: 'customer' } } } },
    presets: { customer_id: { $claim: 'customer' } }
  },
  { tables: ['made'], actions: ['schema'] }
]
const newRole = async (name: string, grants: readonly object[] = GRANTS) =>
  dataOf(await admin.post('/admin/roles', { name, grants }))
const role = await newRole('customer')

/** The used parts of a body. */
interface TestBody {
  readonly data: {
    readonly rows: readonly { readonly id: number }[]
    readonly claims: object
    readonly closed: object
    readonly expires_at: number
  }
  readonly error: object
  readonly info: object
}

/** Sends a request over HTTP. */
const get = async (jwt: string, path = '/data/orders?order=id') => {
  const response = await fetch(`${address}${path}`, { headers: bearer(jwt) })
  return { status: response.status, headers: response.headers, body: (await response.json()) as TestBody }
}

const identity = async (jwt: string) => (await get(jwt, '/data/_me')).body.data

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
/** Signs a payload with a secret. */
const withHmac = (payload: string, secret: string) => {
  const text = `${encode({ alg: 'HS256', kid: 'first' })}.${payload}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

const partsOf = (jwt: string) => jwt.split('.') as [header: string, payload: string, signature: string]

/** Allowed if the issuer has one key. */
const WITHOUT_KID: Parts = { header: { kid: undefined } }

t.test('a JWT of the issuer opens the rows of its role and claims', async (t) => {
  const jwt = await signer.sign()
  const { status, body } = await get(jwt)
  t.equal(status, 200)
  t.strictSame(
    body.data.rows.map(({ id }) => id),
    [1, 3]
  )
  t.match(await identity(jwt), {
    name: `${ISSUER} ann`,
    role: 'customer',
    claims: { customer: 1 },
    permissions: { tables: [], actions: [] },
    integers: 'auto',
    expires_at: (seconds() + 605) * 1000,
    tables: ['orders']
  })
  t.strictSame(
    (await get(await signer.sign({ payload: { customer: 2 } }))).body.data.rows.map(({ id }) => id),
    [2]
  )
  t.match((await get(jwt, '/data/_openapi.json')).body.info, { title: `Rowhouse: ${ISSUER} ann` })
})

t.test('each invalid JWT gets the same 401, beside a valid one', async (t) => {
  const signed = (parts: Parts) => signer.sign(parts)
  const [, payload, signature] = partsOf(await signer.sign())
  const secret = await exportSPKI(signer.publicKey)
  const forged = encode({ iss: ISSUER, aud: AUDIENCE, sub: 'ann', exp: seconds() + 600, customer: 2, role: 'customer' })
  const embedded = await other.sign({ header: { kid: 'first', jwk: other.jwk } })
  const bySmall = `${encode({ alg: 'RS256', kid: 'short' })}.${payload}`
  const cases: readonly (readonly [name: string, invalid: string, valid: string, reason: RegExp])[] = [
    ['alg none', `${encode({ alg: 'none', kid: 'first' })}.${payload}.`, await signed({}), /"alg"/],
    ['HS256 with the public key as its secret', withHmac(payload, secret), await signed({}), /"alg"/],
    [
      'another issuer',
      await signed({ payload: { iss: `${ISSUER}/` } }),
      await signed({ payload: { iss: ISSUER } }),
      /"iss"/
    ],
    [
      'another audience',
      await signed({ payload: { aud: ['https://other.example.org'] } }),
      await signed({ payload: { aud: ['https://other.example.org', AUDIENCE] } }),
      /"aud"/
    ],
    ['no audience', await signed({ payload: { aud: undefined } }), await signed({}), /"aud"/],
    [
      'expired',
      await signed({ payload: { exp: seconds() - 5 } }),
      await signed({ payload: { exp: seconds() - 4 } }),
      /"exp"/
    ],
    ['no expiry', await signed({ payload: { exp: undefined } }), await signed({}), /"exp"/],
    [
      'not valid yet',
      await signed({ payload: { nbf: seconds() + 6 } }),
      await signed({ payload: { nbf: seconds() + 5 } }),
      /"nbf"/
    ],
    ['an unknown kid', await signed({ header: { kid: 'second' } }), await signed({}), /no applicable key/],
    ['no kid, of several keys', await signed(WITHOUT_KID), await signed({}), /multiple matching keys/],
    ['another key of the same kid', await other.sign({ header: { kid: 'first' } }), await signed({}), /signature/],
    ['a key in its header', embedded, await signed({ header: { jwk: other.jwk } }), /signature/],
    ['another payload', [partsOf(await signer.sign())[0], forged, signature].join('.'), await signed({}), /signature/],
    [
      'an unknown critical header',
      await signed({ header: { crit: [CRITICAL], [CRITICAL]: 1 } }),
      await signed({}),
      /./
    ],
    ['no subject', await signed({ payload: { sub: undefined } }), await signed({}), /"sub"/],
    [
      'a long subject',
      await signed({ payload: { sub: 'a'.repeat(256) } }),
      await signed({ payload: { sub: 'a'.repeat(255) } }),
      /'sub'/
    ],
    ['an empty subject', await signed({ payload: { sub: '' } }), await signed({}), /'sub'/],
    [
      'more than 8,192 characters',
      await signed({ payload: { more: 'a'.repeat(6000) } }),
      await signed({ payload: { more: 'a'.repeat(5000) } }),
      /more than 8192 characters/
    ],
    ['no role', await signed({ payload: { role: undefined } }), await signed({}), /JWT_ROLE/],
    ['a list of roles', await signed({ payload: { role: ['customer'] } }), await signed({}), /JWT_ROLE/],
    ['an unknown role', await signed({ payload: { role: 'owner' } }), await signed({}), /'owner'/],
    [
      'a role in another case',
      await signed({ payload: { role: 'Customer' } }),
      await signed({ payload: { role: 'customer' } }),
      /'Customer'/
    ],
    [
      'a short key',
      `${bySmall}.${createSign('sha256').update(bySmall).sign(short.privateKey, 'base64url')}`,
      await signed({}),
      /2048 bits/
    ],
    ['no JWT', 'a.b.c', await signed({}), /./],
    ['a token', `rh_${'0'.repeat(64)}`, await signed({}), /./]
  ]
  const { error: expected } = (await get('nothing')).body
  for (const [name, invalid, valid, reason] of cases) {
    lines.length = 0
    const refused = await get(invalid)
    t.equal(refused.status, 401, name)
    t.strictSame({ ...refused.body.error, requestId: '' }, { ...expected, requestId: '' }, name)
    t.equal(refused.headers.get('www-authenticate'), 'Bearer')
    for (const line of lines) t.match(JSON.parse(line).reason, reason, name)
    t.notMatch(lines.join(''), invalid.slice(-40), 'the log has no part of a signature')
    t.equal((await get(valid)).status, 200, `${name}: the valid one`)
    lines.length = 0
    await get(invalid)
    t.strictSame(lines, [], 'a second one of the same kind is not logged')
  }
  t.equal((await fetch(`${address}/data/orders`, { headers: bearer(`${'a'.repeat(100_000)}.b.c`) })).status, 431)
  t.equal((await fetch(`${address}/data/orders`)).status, 401, 'without PUBLIC_ROLE')
})

t.test('a JWT is no credential of administration', async (t) => {
  const response = await client(app, bearer(await signer.sign())).get('/admin/tokens')
  expectError(t, response, 401, 'AUTHENTICATION_REQUIRED')
})

t.test('claims that no rule can use are missing', async (t) => {
  const claimsOf = async (customer: unknown, app: unknown = undefined) =>
    (await identity(await signer.sign({ payload: { customer, 'https://example.org/app': app } }))).claims
  for (const valid of [0, -(2 ** 53) + 1, '', 'a'.repeat(1000), [], [1, 'a'], Array(100).fill(1)])
    t.strictSame(await claimsOf(valid), { customer: valid })
  for (const invalid of [1.5, 2 ** 53, true, null, 'a'.repeat(1001), { id: 1 }, [1.5], [[1]], Array(101).fill(1)])
    t.strictSame(await claimsOf(invalid), {})
  t.strictSame(await claimsOf(1, { tenants: ['x', 'y'] }), { customer: 1, tenant: 'y' })
  for (const app of [{ tenants: ['x'] }, { tenants: { 0: 'x' } }, { tenants: 'xy' }, {}, null, 'text'])
    t.strictSame(await claimsOf(1, app), { customer: 1 })
  const without = await signer.sign({ payload: { customer: undefined } })
  t.match(await get(without), { status: 403, body: { error: { code: 'ACTION_NOT_ALLOWED' } } })
  t.match((await identity(without)).closed, [{ table: 'orders' }])
})

t.test('a key of the issuer that is new is fetched, at most every 30 seconds', async (t) => {
  const next = await makeSigner('second', clock, 'ES256')
  const jwt = await next.sign()
  now += 31_000
  t.equal((await get(jwt)).status, 401, 'the issuer does not have the key')
  keys.keys = [signer.jwk, next.jwk]
  const { fetches } = keys
  t.equal((await get(jwt)).status, 401, 'the keys were fetched just now')
  t.equal(keys.fetches, fetches)
  now += 31_000
  t.equal((await get(jwt)).status, 200)
  t.equal(keys.fetches, fetches + 1)
  t.equal((await get(await signer.sign())).status, 200, 'the old key is still in the set')
  keys.keys = [next.jwk]
  now += 601_000
  t.equal((await get(await signer.sign())).status, 401, 'the old key was removed')
  t.equal((await get(await next.sign())).status, 200)
  t.equal((await get(await next.sign(WITHOUT_KID))).status, 200)
  keys.keys = [signer.jwk]
  now += 601_000
})

t.test('an expiry may be a fraction, or the end of time', async (t) => {
  const expiryOf = async (exp: number) => (await identity(await signer.sign({ payload: { exp } }))).expires_at
  t.equal(await expiryOf(seconds() + 60.5), (seconds() + 65) * 1000 + 500)
  t.equal(await expiryOf(2 ** 31 + 0.0001), (2 ** 31 + 5) * 1000)
  t.equal(await expiryOf(1e300), Number.MAX_SAFE_INTEGER)
})

t.test('a JWT is verified once, and ends when it expires', async (t) => {
  const jwt = await signer.sign()
  t.equal((await get(jwt)).status, 200)
  keys.keys = []
  now += 599_000
  const { fetches } = keys
  t.equal((await get(jwt)).status, 200, 'from the cache')
  t.equal(keys.fetches, fetches)
  now += 6000
  t.equal((await get(jwt)).status, 401, 'expired')
  keys.keys = [signer.jwk]
  now += 601_000
})

t.test('changes of a role apply to the next request', async (t) => {
  const jwt = await signer.sign({ payload: { role: 'guest' } })
  t.equal((await get(jwt)).status, 401, 'the role does not exist')
  const guest = await newRole('guest')
  t.equal((await get(jwt)).body.data.rows.length, 2)
  expectData(t, await admin.delete(`/admin/roles/${guest.id}`), { success: true })
  t.equal((await get(jwt)).status, 401, 'the role is gone')
  const again = await newRole('guest', [{ tables: ['orders'], actions: ['read'] }])
  t.equal((await get(jwt)).body.data.rows.length, 3)
  dataOf(await admin.put(`/admin/roles/${again.id}`, { grants: GRANTS }))
  t.equal((await get(jwt)).body.data.rows.length, 2)
  dataOf(await admin.put(`/admin/roles/${again.id}`, { name: 'former guest' }))
  t.equal((await get(jwt)).status, 401, 'the role has another name')
  const other = await newRole('Guest', [{ tables: ['orders'], actions: ['read'] }])
  t.equal((await get(jwt)).status, 401, 'the name differs in its case')
  dataOf(await admin.put(`/admin/roles/${other.id}`, { name: 'guest' }))
  t.equal((await get(jwt)).body.data.rows.length, 3, 'another role has the name')
  dataOf(await admin.put(`/admin/roles/${other.id}`, { name: 'Guest' }))
  t.equal((await get(jwt)).status, 401, 'the name has another case again')
})

t.test('issuer and subject identify the caller of a change', async (t) => {
  const as = async (sub: string, key?: string) =>
    client(app, { ...bearer(await signer.sign({ payload: { sub } })), ...(key && { 'idempotency-key': key }) })
  const [ann, bob] = [await as('ann', 'k1'), await as('bob', 'k1')]
  const created = await ann.post('/data/orders/records', { note: 'one' })
  t.equal(dataOf(created).note, 'one')
  const replayed = await (await as('ann', 'k1')).post('/data/orders/records', { note: 'one' })
  t.strictSame([replayed.json(), replayed.headers['idempotency-replayed']], [created.json(), 'true'])
  expectError(t, await ann.post('/data/orders/records', { note: 'two' }), 422, 'IDEMPOTENCY_KEY_REUSED')
  t.equal(dataOf(await bob.post('/data/orders/records', { note: 'two' })).note, 'two', 'the key of another subject')
  const batch = { operations: [{ op: 'create', table: 'orders', values: { note: 'three' } }] }
  t.equal((await (await as('ann')).post('/data/_batch', batch)).statusCode, 200)
  const table = { name: 'made', label: '', fields: [{ name: 'title', jsonType: 'string' }] }
  dataOf(await (await as('ann')).post('/data/_schema/tables', table))
  t.match(dataOf(await admin.get('/admin/audit?action=table.create')).rows, [
    { callerKind: 'token', callerId: 0, callerName: `${ISSUER} ann`, target: 'made' }
  ])
})

t.test('without its keys, the service responds 503, and fetches them every 5 seconds', async (t) => {
  const JWT_JWKS_URL = `${await closedAddress()}/jwks`
  const logged: string[] = []
  const unavailable = await startApp(t, {
    env: { ...JWT, JWT_JWKS_URL },
    clock,
    logger: { level: 'warn', stream: { write: (line: string) => logged.push(line) } }
  })
  const caller = client(unavailable, bearer(await signer.sign()))
  for (const { url, method } of routesOf(unavailable).filter(({ url }) => url.startsWith('/data/'))) {
    const response = await unavailable.inject({ method: method as 'GET', url, headers: caller.headers })
    if (method === 'HEAD') t.equal(response.statusCode, 503)
    else expectError(t, response, 503, 'KEYS_UNAVAILABLE')
    t.equal(response.headers['retry-after'], '5')
  }
  t.match(logged, [/ECONNREFUSED/])
  t.equal(logged.length, 1)

  const broken = await serveKeys(t, [signer.jwk])
  broken.status = 500
  const app = await startApp(t, { env: { ...JWT, JWT_JWKS_URL: broken.url }, clock })
  const send = client(app, caller.headers)
  for (let request = 0; request < 3; request += 1) t.equal((await send.get('/data/_me')).statusCode, 503)
  t.equal(broken.fetches, 1)
  broken.status = 200
  t.equal((await send.get('/data/_me')).statusCode, 503)
  now += 5000
  t.equal((await send.get('/data/_me')).statusCode, 401, 'the role does not exist there')
  t.equal(broken.fetches, 2)
})

t.test('a key of a file verifies JWTs, and the name of the role can be fixed', async (t) => {
  for (const alg of ['RS256', 'ES256', 'EdDSA']) {
    const own = await makeSigner('any', clock, alg)
    const directory = t.testdir({ 'key.pem': await exportSPKI(own.publicKey) })
    const env = { ...JWT, JWT_ROLE: 'reader', JWT_CLAIMS: undefined, JWT_PUBLIC_KEY_FILE: `${directory}/key.pem` }
    const app = await startApp(t, { env, clock })
    const grants = [{ tables: ['*'], actions: ['read'] }]
    dataOf(await (await asAdmin(app)).post('/admin/roles', { name: 'reader', grants }))
    const me = async (jwt: string) => client(app, bearer(jwt)).get('/data/_me')
    t.match(dataOf(await me(await own.sign())), { role: 'reader', claims: {} })
    expectError(t, await me(await other.sign()), 401, 'INVALID_TOKEN')
    const hmac = withHmac(partsOf(await own.sign())[1], await exportSPKI(own.publicKey))
    expectError(t, await me(hmac), 401, 'INVALID_TOKEN')
  }
})

t.test('a token works beside JWTs', async (t) => {
  const { token } = dataOf(
    await admin.post('/admin/tokens', { name: 'Ann', role: 'customer', claims: { customer: 2 } })
  )
  t.equal((await get(token)).body.data.rows.length, 1)
  t.match(role, { name: 'customer' })
})
