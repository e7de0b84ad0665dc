import { fork } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nextMessage } from './messages.ts'
import type { ServiceRequest, Usage } from './service-process.ts'

const script = fileURLToPath(new URL(`./service-process${extname(import.meta.url)}`, import.meta.url))
const PASSWORD = 'correct horse battery staple'
const NAME = 'The service'

interface ServiceOptions {
  readonly directory: string
  readonly profiles: string | undefined
  readonly env?: Record<string, string>
}

/** Starts the service in a process of its own, in a directory that may hold a database already. */
export const startService = async ({ directory, profiles, env = {} }: ServiceOptions) => {
  const child = fork(script, {
    env: { ...process.env, DATA_DIR: directory, ADMIN_PASSWORD: PASSWORD, PORT: '0', ...env },
    execArgv: profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`]
  })
  const tell = (request: ServiceRequest) => child.send(request)
  const address = await nextMessage<string>(child, NAME)
  const askUsage = () => {
    tell('usage')
    return nextMessage<Usage>(child, NAME)
  }
  let lastUsage: Promise<unknown> = Promise.resolve()

  return {
    address,
    /** One question at a time: the answers do not say which they belong to. */
    usage: () => {
      const answer = lastUsage.then(askUsage)
      lastUsage = answer
      return answer
    },
    /** What the constant route answers from now on. */
    setConstant: (constant: string) => tell({ constant }),
    stop: async () => {
      const ended = once(child, 'exit')
      tell('stop')
      await ended
    }
  }
}

export type Service = Awaited<ReturnType<typeof startService>>

const json = { 'content-type': 'application/json' }

const succeed = async (answer: Response) => {
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${await answer.text()}`)
  return answer
}

/** Logs in. Gives the header that a browser sends from then on. */
export const logIn = async (address: string) => {
  const body = JSON.stringify({ name: 'admin', password: PASSWORD })
  const answer = await succeed(await fetch(`${address}/auth/login`, { method: 'POST', headers: json, body }))
  await answer.text()
  return {
    cookie: answer.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; ')
  }
}

interface Answer {
  readonly data: { readonly id: number; readonly token: string }
}

/** The boundary where what the service answers gets its type. */
const post = async (url: string, headers: Record<string, string>, body: unknown) => {
  const answer = await fetch(url, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) })
  return (await (await succeed(answer)).json()) as Answer
}

/** Imports the tables and issues a token for them. */
export const putOnline = async (address: string, tables: readonly string[]) => {
  const session = await logIn(address)
  const ids: number[] = []
  for (const name of tables) ids.push((await post(`${address}/admin/tables/import`, session, { name })).data.id)
  const permissions = { tables, actions: ['read', 'write'] }
  const issued = await post(`${address}/admin/tokens`, session, { name: 'benchmark', permissions })
  return { session, ids, token: issued.data.token }
}

/** An answer of the data interface, as text. */
export const readText = async (url: string, token: string) =>
  (await succeed(await fetch(url, { headers: { authorization: `Bearer ${token}` } }))).text()
