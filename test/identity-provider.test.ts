import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { temporaryDirectory } from './fixtures.ts'
import { asAdmin, bearer, dataOf, startApp } from './helpers.ts'
import { startProvider } from './identity-provider.ts'
import { createShop } from './shop-app.ts'

const text = readFileSync('docs/guides/access.md', 'utf8')

/** Returns the first block of a language in a section of the guide. */
const blockOf = (heading: string, language: string) =>
  String(new RegExp(`^## ${heading}.*?^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(text)?.[1])

const HEADING = 'A browser app with an identity provider'

const guide = Object.fromEntries(
  [...blockOf(HEADING, 'ini').matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value])
) as Record<string, string>

const newRole = JSON.parse(String(/-d '(.*?)'/s.exec(blockOf('Open some rows and fields', 'sh'))?.[1]))

t.test('a browser app sends the access token of an identity provider', async (t) => {
  const directory = temporaryDirectory(t)
  createShop(directory)
  const audience = String(guide.JWT_AUDIENCE)
  const provider = await startProvider(t, {
    audience,
    users: { ann: { customer_id: 1 }, bob: { customer_id: 2 }, eve: {} }
  })
  const { jwks_uri: JWT_JWKS_URL } = await provider.discover()
  let now = Date.now()
  t.intercept(Date, 'now', { value: () => now })
  const app = await startApp(t, {
    env: { ...guide, DATABASE: join(directory, 'shop.sqlite'), JWT_ISSUER: provider.issuer, JWT_JWKS_URL },
    clock: () => now
  })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const admin = await asAdmin(app)
  dataOf(await admin.post('/admin/tables/import', { names: ['*'] }))
  dataOf(await admin.post('/admin/roles', newRole))

  const program = blockOf(HEADING, 'js').replace('https://data.example.org', address)
  /** Runs the program of the guide, which has `accessToken`. Returns its `response`. */
  const run = new Function('accessToken', `return (async () => { ${program}; return { response, orders } })()`)
  const ordersOf = async (user: string) => {
    const { access_token } = await provider.logIn(user)
    return (await run(access_token)).orders as { readonly data: { readonly rows: readonly object[] } }
  }

  t.match(await ordersOf('ann'), { success: true, data: { rows: [{ customer_id: 1 }] } })
  const { data } = await ordersOf('bob')
  t.ok(data.rows.length > 0)
  for (const row of data.rows) t.match(row, { customer_id: 2 })
  t.match(await ordersOf('eve'), { error: { code: 'ACTION_NOT_ALLOWED' } }, 'a user without a customer')

  const { access_token, id_token } = await provider.logIn('ann')
  const preflight = await fetch(`${address}/data/orders/records`, {
    method: 'OPTIONS',
    headers: {
      origin: String(guide.CORS_ORIGIN),
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type'
    }
  })
  t.equal(preflight.headers.get('access-control-allow-origin'), guide.CORS_ORIGIN)
  const created = await fetch(`${address}/data/orders/records`, {
    method: 'POST',
    headers: { ...bearer(access_token), 'content-type': 'application/json' },
    body: JSON.stringify({ ordered_on: '2026-11-27' })
  })
  t.match(await created.json(), { data: { customer_id: 1, ordered_on: '2026-11-27' } })
  const withIdToken = await fetch(`${address}/data/orders`, { headers: bearer(id_token) })
  t.equal(withIdToken.status, 401, 'an ID token is for the app, not for the service')

  await provider.rotate('second')
  now += 31_000
  t.match(await ordersOf('ann'), { success: true }, 'the keys of the provider have changed')
})
