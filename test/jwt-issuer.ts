import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { Test } from 'tap'

export const ISSUER = 'https://id.example.org'
export const AUDIENCE = 'https://data.example.org'

/** The name of a header that no verifier knows. */
export const CRITICAL = 'unknown'

/** Returns an address on which nothing listens. */
export const closedAddress = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

/** What a JWT has besides the defaults. undefined removes a default. */
export interface Parts {
  readonly payload?: Readonly<Record<string, unknown>>
  readonly header?: { readonly alg?: string; readonly kid?: string | undefined; readonly [name: string]: unknown }
}

/** Makes a key pair, and the function that signs JWTs with it. `now`: epoch milliseconds. */
export const makeSigner = async (kid: string, now: () => number, alg = 'RS256') => {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const sign = ({ payload = {}, header = {} }: Parts = {}) => {
    const seconds = Math.floor(now() / 1000)
    const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'ann', exp: seconds + 600, customer: 1, role: 'customer' }
    return new SignJWT(JSON.parse(JSON.stringify({ ...claims, ...payload })))
      .setProtectedHeader(JSON.parse(JSON.stringify({ alg, kid, ...header })))
      .sign(privateKey, { crit: { [CRITICAL]: true } })
  }
  return { jwk: { ...(await exportJWK(publicKey)), kid, alg }, publicKey, privateKey, sign }
}

export type Signer = Awaited<ReturnType<typeof makeSigner>>

/** Serves a key set on 127.0.0.1. The returned object sets the keys and the status. */
export const serveKeys = async (t: Test, keys: readonly object[]) => {
  const served = { keys, fetches: 0, status: 200 }
  const server = createServer((_request, response) => {
    served.fetches += 1
    response.writeHead(served.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ keys: served.keys }))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return Object.assign(served, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks` })
}
