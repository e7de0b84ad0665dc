import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PASSWORD } from './client.ts'

/** The root of this checkout, seen from build/bench/. */
export const THIS_CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the script that `npm start` runs, with its arguments. An older checkout has another one. */
export const serverOf = (checkout: string): readonly [script: string, ...args: string[]] => {
  const program = join(checkout, 'dist', 'rowhouse.js')
  return existsSync(program) ? [program, 'serve'] : [join(checkout, 'dist', 'server.js')]
}

/** @throws if the checkout is not built */
export const assertBuilt = (checkout: string) => {
  const [server] = serverOf(checkout)
  if (!existsSync(server)) throw new Error(`'${server}' does not exist. Build that checkout first: npm run build.`)
}

/** Starts the service of a checkout on a data directory. Resolves when it listens. @throws when it ends before */
export const startBuiltService = async (checkout: string, directory: string, env: Record<string, string> = {}) => {
  const child = spawn(process.execPath, serverOf(checkout), {
    env: { ...process.env, DATA_DIR: directory, ADMIN_PASSWORD: PASSWORD, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const exited = once(child, 'exit')
  const readAddress = async () => {
    let output = ''
    for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      output += chunk
      const [address] = /http:\/\/\S+(?=\s)/.exec(output) ?? []
      if (address !== undefined) return address
    }
    throw new Error(`The service of ${checkout} ended before it listened. Output: ${output}`)
  }
  const address = await readAddress()
  child.stdout.resume()
  return {
    address,
    pid: child.pid as number,
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    }
  }
}

export type BuiltService = Awaited<ReturnType<typeof startBuiltService>>
