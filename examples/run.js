// Runs each example against a new service: `npm run examples`. Fails if an example fails.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TYPESCRIPT = join(ROOT, 'examples/typescript')
const PASSWORD = 'only for the examples'

/** The directory and the command of each example. */
const EXAMPLES = {
  'first-record.sh': [ROOT, 'examples/first-record.sh'],
  typescript: [TYPESCRIPT, 'npm', 'run', '--silent', 'start']
}

/** Starts a service with a new database on a free port. Resolves when it listens. */
const startService = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rowhouse-example-'))
  const env = { ...process.env, PORT: '0', DATA_DIR: directory, ADMIN_PASSWORD: PASSWORD, DATABASE: undefined }
  // In its own directory, so that no `.env` is read.
  const service = spawn(process.execPath, [join(ROOT, 'dist/server.js')], {
    env,
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const ended = once(service, 'exit')
  const stop = async () => {
    service.kill()
    await ended
    rmSync(directory, { recursive: true, force: true })
  }
  for await (const line of createInterface(service.stdout)) {
    const [, url] = /listens at (\S+)/.exec(line) ?? []
    if (url) return { url, stop }
  }
  throw new Error('The service did not start.')
}

const run = async ([cwd, command, ...args]) => {
  const { url, stop } = await startService()
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', env: { ...process.env, URL: url, PASSWORD } })
  await stop()
  return status === 0
}

if (!existsSync(join(TYPESCRIPT, 'node_modules'))) {
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: TYPESCRIPT, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
for (const [name, example] of Object.entries(EXAMPLES)) {
  console.log(`== ${name}`)
  if (await run(example)) continue
  console.log(`!! failed: ${name}`)
  process.exitCode = 1
}
