import { createHash, randomBytes } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import type { Test } from 'tap'

const CLIENT = 'shop'
const CALLBACK = 'http://127.0.0.1/callback'

interface ProviderOptions {
  readonly audience: string
  /** The claims of the access tokens of each user. */
  readonly users: Readonly<Record<string, object>>
}

interface Tokens {
  readonly access_token: string
  readonly id_token: string
}

/** The boundary to a package without types. */
type Provider = new (issuer: string, configuration: object) => { callback(): RequestListener }

const loadProvider = async () => {
  const name: string = 'oidc-provider'
  return (await import(name)).default as Provider
}

const newKey = async (kid: string) => {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  return { ...(await exportJWK(privateKey)), kid, use: 'sig', alg: 'RS256' }
}

const configurationOf = async ({ audience, users }: ProviderOptions, kid: string) => ({
  clients: [
    {
      client_id: CLIENT,
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code'],
      response_types: ['code'],
      application_type: 'native'
    }
  ],
  jwks: { keys: [await newKey(kid)] },
  cookies: { keys: ['a key of cookies'] },
  features: {
    devInteractions: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => audience,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({ scope: 'orders', audience, accessTokenFormat: 'jwt' })
    }
  },
  findAccount: (_context: unknown, sub: string) => ({ accountId: sub, claims: async () => ({ sub }) }),
  extraTokenClaims: (_context: unknown, { accountId }: { readonly accountId: string }) => users[accountId]
})

/** Logs a user in as a browser does: follows redirects, keeps cookies, sends the forms. Returns the last address. */
const authorize = async (issuer: string, query: Record<string, string>, user: string) => {
  const cookies = new Map<string, string>()
  const send = async (url: string, form?: Record<string, string>) => {
    const response = await fetch(new URL(url, issuer), {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) })
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    return response
  }
  const submit = async (page: string) => {
    const [, action = ''] = /action="([^"]+)"/.exec(page) ?? []
    const [, prompt = ''] = /name="prompt" value="(\w+)"/.exec(page) ?? []
    return send(action, { prompt, login: user, password: 'any' })
  }
  let url = `/auth?${new URLSearchParams(query)}`
  while (!url.startsWith(CALLBACK)) {
    const response = await send(url)
    const next = response.status === 200 ? await submit(await response.text()) : response
    url = String(next.headers.get('location'))
  }
  return new URL(url)
}

/** Starts an identity provider on 127.0.0.1. Its tokens are those of OpenID Connect with PKCE. */
export const startProvider = async (t: Test, options: ProviderOptions) => {
  let listener: RequestListener = () => {}
  const server = createServer((request, response) => listener(request, response)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const Provider = await loadProvider()
  /** Replaces the key that signs tokens. */
  const rotate = async (kid: string) => {
    listener = new Provider(issuer, await configurationOf(options, kid)).callback()
  }
  await rotate('first')

  const logIn = async (user: string): Promise<Tokens> => {
    const verifier = randomBytes(32).toString('base64url')
    const query = {
      client_id: CLIENT,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid orders',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256'
    }
    const callback = await authorize(issuer, query, user)
    const form = {
      grant_type: 'authorization_code',
      code: String(callback.searchParams.get('code')),
      client_id: CLIENT,
      redirect_uri: CALLBACK,
      code_verifier: verifier
    }
    const response = await fetch(`${issuer}/token`, { method: 'POST', body: new URLSearchParams(form) })
    return (await response.json()) as Tokens
  }

  const discover = async () =>
    (await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()) as { readonly jwks_uri: string }

  return { issuer, discover, logIn, rotate }
}
