import { join } from 'node:path'
import { readText, registerTables } from './client.ts'
import { CONNECTIONS, type Context, ROUND_SECONDS, WARM_UP_SECONDS, withDirectory } from './context.ts'
import { createDatabase } from './items.ts'
import type { Amount, Generator } from './load.ts'
import { watchOtherPrograms } from './machine.ts'
import type { Sample } from './sample.ts'
import { type Service, startService } from './service.ts'
import { requestsOf, TABLE, type Workload } from './workloads.ts'

/** A running service with registered tables, and a function that measures it under load. */
export interface Environment {
  readonly service: Service
  /** The database. */
  readonly file: string
  /** The cookie header of an administrator's session. */
  readonly session: { readonly cookie: string }
  /** May read and write the tables. */
  readonly token: string
  /** The id of the first table. */
  readonly tableId: number
  /** Sends the requests of a workload and returns the figures. @throws when a request failed */
  measure(workload: Workload, amount?: Partial<Amount>): Promise<Sample>
}

interface EnvironmentOptions {
  readonly tables: readonly string[]
  readonly rows: number
  readonly env?: Record<string, string>
  /** Starts what the service needs, and returns more variables. `file`: the database. */
  readonly prepare?: (file: string) => Promise<Record<string, string>>
}

interface MeasureOptions {
  readonly generator: Generator
  readonly service: Service
  readonly token: string
  readonly directory: string
}

const createMeasure = ({ generator, service, token, directory }: MeasureOptions): Environment['measure'] => {
  const prepared = new Map<Workload, ReturnType<Generator['prepare']>>()
  const prepare = (workload: Workload) => {
    const load =
      prepared.get(workload) ??
      generator.prepare({ address: service.address, token, requests: requestsOf(workload) }, directory)
    prepared.set(workload, load)
    return load
  }

  return async (workload, { seconds = ROUND_SECONDS, connections = CONNECTIONS } = {}) => {
    const load = prepare(workload)
    const before = await service.usage()
    const shareOfOthers = watchOtherPrograms()
    const result = await load({ seconds, connections })
    const after = await service.usage()
    const system = after.system - before.system
    const cpu = after.user - before.user + system
    if (result.failures > 0) throw new Error(`${result.failures} requests of the case '${workload.name}' failed.`)
    return {
      perSecond: result.completed / result.seconds,
      p50: result.p50,
      p99: result.p99,
      cpuPerRequest: cpu / result.completed,
      kernelPerRequest: system / result.completed,
      generatorShare: result.cpuSeconds / result.seconds,
      othersShare: shareOfOthers(cpu / 1e6 + result.cpuSeconds)
    }
  }
}

/** Runs `use` with a new service on a new database whose tables are registered, and stops the service afterwards. */
export const withEnvironment = <T>(
  context: Context,
  options: EnvironmentOptions,
  use: (environment: Environment) => Promise<T>
) =>
  withDirectory(context, async (directory) => {
    const { tables, rows, env = {}, prepare = async () => ({}) } = options
    const file = join(directory, 'rowhouse.db')
    createDatabase(file, tables, rows)
    const more = await prepare(file)
    const service = await startService({ directory, profiles: context.profiles, env: { ...env, ...more } })
    try {
      const { token, session, ids } = await registerTables(service.address, tables)
      service.setConstant(await readText(`${service.address}/data/${TABLE}/records/${Math.ceil(rows / 2)}`, token))
      const tableId = ids[0] as number
      return await use({
        service,
        file,
        session,
        token,
        tableId,
        measure: createMeasure({ generator: context.generator, service, token, directory })
      })
    } finally {
      await service.stop()
    }
  })

/** Warms up all cases, then measures them round by round. Returns the samples of each case. */
export const measureRounds = async ({ measure }: Environment, cases: readonly Workload[], rounds: number) => {
  for (const workload of cases) await measure(workload, { seconds: WARM_UP_SECONDS })
  const samples = cases.map((): Sample[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, workload] of cases.entries()) samples[index]?.push(await measure(workload))
  }
  return samples
}

/** Calls `withEnvironment` for each process of the plan, one after the other. */
export const withEachEnvironment = async <T>(
  context: Context,
  options: EnvironmentOptions,
  use: (environment: Environment) => Promise<T>
) => {
  const results: T[] = []
  while (results.length < context.plan.processes) results.push(await withEnvironment(context, options, use))
  return results
}
