import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { readConfig } from '../../../config.ts'
import { buildObserved, CHEAP, PASSWORD, temporaryDirectory } from '../../helpers.ts'
import { isOnCluster, toCluster } from '../../rqlite/cluster.ts'
import { openServed } from '../../served.ts'

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  readonly headers?: Record<string, string>
  /** Text is a file. */
  readonly payload?: object | string
}

export interface TestResponse {
  readonly status: number
  readonly text: string
  readonly cookie: string
  readonly etag: string | undefined
}

export interface ServiceOptions {
  readonly clock: () => number
  readonly maxPageSize: number
  readonly requirePasswordChange: boolean
}

/** Starts a service on its own SQLite file or cluster. It can be restarted, and other programs can write to its file. */
export const startService = async ({ clock, maxPageSize, requirePasswordChange }: ServiceOptions) => {
  const faults: string[] = []
  const cleanUps: (() => unknown)[] = []
  const lifetime = {
    teardown: (cleanUp: () => unknown) => cleanUps.unshift(cleanUp),
    threw: (error: unknown) => faults.push(String(error))
  }
  const directory = temporaryDirectory(lifetime)
  const env = {
    DATA_DIR: directory,
    ADMIN_PASSWORD: PASSWORD,
    MAX_PAGE_SIZE: String(maxPageSize),
    REQUIRE_PASSWORD_CHANGE: String(requirePasswordChange)
  }
  const config = readConfig(isOnCluster ? await toCluster(lifetime, env) : env)
  const options = { config, clock, hashingCost: CHEAP, onDeath: (cause: Error) => faults.push(cause.message) }
  let app = await buildObserved(options)
  let calls = 0

  /**
   * Each call has its own address. Failed logins are counted by address on the real clock, which a test cannot advance.
   */
  const send = async (call: Call): Promise<TestResponse> => {
    calls++
    const remoteAddress = `10.${calls >> 16}.${(calls >> 8) & 255}.${calls & 255}`
    const { statusCode, body, cookies, headers } = await app.inject({ ...call, remoteAddress })
    const [cookie] = cookies
    if (faults.length > 0) throw new Error(faults.join('\n'))
    const { etag } = headers
    return { status: statusCode, text: body, cookie: cookie ? `${cookie.name}=${cookie.value}` : '', etag }
  }

  const restart = async () => {
    await app.close()
    app = await buildObserved(options)
  }

  /** Runs SQL on the file as another program. */
  const runExternally = (sql: string, params: readonly unknown[] = []) => {
    const db = openServed(lifetime, join(directory, 'rowhouse.db'))
    try {
      db.prepare(sql).run(...params)
    } finally {
      db.close()
    }
  }

  const isServed = (name: string) => {
    const table = app.tables.find(name)
    return table !== undefined && table.structure !== null && !table.isOutdated
  }

  /** Waits until the service has read that these tables are gone: after a commit, it reads views in another process. */
  const untilNotServed = async (names: readonly string[]) => {
    // A service of a cluster reads it at the next request that needs a credential.
    await app.database.catchUp?.()
    while (names.some(isServed)) await setTimeout(1)
  }

  const stop = async () => {
    await app.close()
    for (const cleanUp of cleanUps) await cleanUp()
  }

  return { send, restart, runExternally, untilNotServed, stop }
}

export type Service = Awaited<ReturnType<typeof startService>>
