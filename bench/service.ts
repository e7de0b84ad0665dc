import { fork } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PASSWORD } from './client.ts'
import { nextMessage } from './messages.ts'
import type { ServiceMessage, Usage } from './service-process.ts'

const script = fileURLToPath(new URL(`./service-process${extname(import.meta.url)}`, import.meta.url))
const NAME = 'The service'

interface ServiceOptions {
  readonly directory: string
  readonly profiles: string | undefined
  readonly env?: Record<string, string>
}

/** Starts the service with the constant route in a child process. `directory` may already hold a database. */
export const startService = async ({ directory, profiles, env = {} }: ServiceOptions) => {
  const child = fork(script, {
    env: { ...process.env, DATA_DIR: directory, ADMIN_PASSWORD: PASSWORD, PORT: '0', ...env },
    execArgv: profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`]
  })
  const send = (message: ServiceMessage) => child.send(message)
  const address = await nextMessage<string>(child, NAME)
  const requestUsage = () => {
    send('usage')
    return nextMessage<Usage>(child, NAME)
  }
  let lastUsage: Promise<unknown> = Promise.resolve()

  return {
    address,
    /** One request at a time, because a response does not name its request. */
    usage: () => {
      const usage = lastUsage.then(requestUsage)
      lastUsage = usage
      return usage
    },
    /** Sets the body that the constant route returns. */
    setConstant: (constant: string) => send({ constant }),
    stop: async () => {
      const exited = once(child, 'exit')
      send('stop')
      await exited
    }
  }
}

export type Service = Awaited<ReturnType<typeof startService>>
