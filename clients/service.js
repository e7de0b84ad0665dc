import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { endWithCheck } from './tools.js'

const SERVER = new URL('../dist/rowhouse.js', import.meta.url).pathname
const PASSWORD = 'seven green apples'

const readAddress = async (child) => {
  for await (const line of createInterface({ input: child.stdout })) {
    const [, address] = /listens at (\S+)/.exec(line) ?? []
    if (address) return address
  }
  throw new Error('The service did not start.')
}

/** Returns the response of a request. Retries while the service is overloaded, because other checks use all cores. */
export const request = async (url, init) => {
  const response = await fetch(url, init)
  if (response.status !== 503) return response
  await response.body?.cancel()
  // In seconds.
  await setTimeout(1000 * Number(response.headers.get('retry-after') ?? 1))
  return request(url, init)
}

/** Returns the session of the administrator: its cookie, and a function that sends a request and returns the data of the response. */
const logIn = async (address) => {
  const send = async (cookie, method, path, body) => {
    const headers = { 'content-type': 'application/json', cookie }
    const response = await request(address + path, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return response
  }
  const login = await send('', 'POST', '/auth/login', { name: 'admin', password: PASSWORD })
  const cookie = String(login.headers.get('set-cookie')).split(';', 1)[0]
  return { cookie, send: async (...request) => (await (await send(cookie, ...request)).json()).data }
}

/** `access`: the permissions, or the role and the claims. */
const newToken = (name, access) => ('role' in access ? { name, ...access } : { name, permissions: access })

/** Imports all tables. Returns the tokens by name, and the cookie of the administrator. */
const setUp = async (address, { prepare, tokens }) => {
  const { cookie, send } = await logIn(address)
  await send('POST', '/admin/tables/import', { names: ['*'] })
  await prepare?.(send)
  const names = (await send('GET', '/admin/tables')).map(({ name }) => name)
  const secrets = {}
  for (const [name, access] of Object.entries(tokens(names)))
    secrets[name] = (await send('POST', '/admin/tokens', newToken(name, access))).token
  return { tokens: secrets, cookie }
}

/** Starts a service on a free port of the loopback interface. `content` creates its database and lists its tokens. */
export const startService = async (content) => {
  const directory = mkdtempSync(join(tmpdir(), 'rowhouse-clients-'))
  const database = join(directory, 'content.sqlite')
  content.create(database)
  const env = {
    ...process.env,
    DATA_DIR: directory,
    DATABASE: database,
    PORT: '0',
    HOST: '127.0.0.1',
    ADMIN_PASSWORD: PASSWORD
  }
  const options = { env, cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] }
  const child = endWithCheck(spawn(process.execPath, [SERVER, 'serve'], options))
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill()
      await once(child, 'exit')
    }
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    const address = await readAddress(child)
    child.stdout.resume()
    return { address, ...(await setUp(address, content)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}
