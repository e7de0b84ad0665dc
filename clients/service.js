import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createMusicShop } from './music-shop.js'
import { endWithCheck } from './tools.js'

const SERVER = new URL('../dist/server.js', import.meta.url).pathname
const PASSWORD = 'seven green apples'

/** The tokens of a scenario. `reader` is for the calls that must be refused. */
const TOKENS = {
  main: { tables: ['*'], actions: ['read', 'write'] },
  reader: { tables: ['Album', 'orders'], actions: ['read'] }
}

const readAddress = async (child) => {
  for await (const line of createInterface({ input: child.stdout })) {
    const [, address] = /listens at (\S+)/.exec(line) ?? []
    if (address) return address
  }
  throw new Error('The service did not start.')
}

const send = async (url, cookie, body) => {
  const headers = { 'content-type': 'application/json', ...(cookie && { cookie }) }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`POST ${url}: ${await response.text()}`)
  return response
}

/** Imports all tables. Returns the cookie of the administrator, and the tokens by name. */
const setUp = async (address) => {
  const login = await send(`${address}/auth/login`, undefined, { name: 'admin', password: PASSWORD })
  const cookie = String(login.headers.get('set-cookie')).split(';', 1)[0]
  await send(`${address}/admin/tables/import`, cookie, { names: ['*'] })
  const tokens = {}
  for (const [name, permissions] of Object.entries(TOKENS)) {
    const issued = await send(`${address}/admin/tokens`, cookie, { name, permissions })
    tokens[name] = (await issued.json()).data.token
  }
  return { cookie, tokens }
}

/** Starts a service on a free port of the loopback interface, with a small music shop. */
export const startService = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rowhouse-clients-'))
  const database = join(directory, 'shop.sqlite')
  createMusicShop(database)
  const env = {
    ...process.env,
    DATA_DIR: directory,
    DATABASE: database,
    PORT: '0',
    HOST: '127.0.0.1',
    ADMIN_PASSWORD: PASSWORD
  }
  const options = { env, cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] }
  const child = endWithCheck(spawn(process.execPath, [SERVER], options))
  const stop = async () => {
    if (child.exitCode === null) {
      child.kill()
      await once(child, 'exit')
    }
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    const address = await readAddress(child)
    child.stdout.resume()
    return { address, ...(await setUp(address)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}
