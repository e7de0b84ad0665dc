import { join } from 'node:path'
import { CONNECTIONS, type Context, ROUND_SECONDS, withDirectory } from './context.ts'
import { createDatabase } from './items.ts'
import type { Load } from './load.ts'
import { watchOthers } from './machine.ts'
import type { Sample } from './sample.ts'
import { putOnline, readText, type Service, startService } from './service.ts'
import { requestsOf, TABLE, type Workload } from './workloads.ts'

interface MeasureOptions {
  readonly seconds?: number
  readonly connections?: number
}

export interface Stage {
  readonly service: Service
  /** The header of an administrator's session. */
  readonly session: { readonly cookie: string }
  /** The first table's. */
  readonly tableId: number
  /** Loads the service; @throws when an answer was not a success. */
  measure(workload: Workload, options?: MeasureOptions): Promise<Sample>
}

interface StageOptions {
  readonly tables: readonly string[]
  readonly rows: number
  readonly env?: Record<string, string>
}

const createMeasure = ({ generator }: Context, service: Service, token: string): Stage['measure'] => {
  const prepared = new Map<Workload, Load['requests']>()
  const requestsFor = (workload: Workload) => {
    const requests = prepared.get(workload) ?? requestsOf(workload)
    prepared.set(workload, requests)
    return requests
  }

  const take = async (workload: Workload, load: Load): Promise<Sample> => {
    const before = await service.usage()
    const othersSince = watchOthers()
    const result = await generator.run(load)
    const cpu = (await service.usage()).cpu - before.cpu
    if (result.failures > 0) throw new Error(`${result.failures} requests of the case '${workload.name}' failed.`)
    return {
      perSecond: result.completed / result.seconds,
      p50: result.p50,
      p99: result.p99,
      cpuPerRequest: cpu / result.completed,
      generatorShare: result.cpuSeconds / result.seconds,
      othersShare: othersSince(cpu / 1e6 + result.cpuSeconds)
    }
  }

  return (workload, { seconds = ROUND_SECONDS, connections = CONNECTIONS } = {}) => {
    return take(workload, { address: service.address, token, requests: requestsFor(workload), connections, seconds })
  }
}

/** A fresh database, the service on it, and its tables within reach of a token. */
export const withStage = <T>(context: Context, options: StageOptions, use: (stage: Stage) => Promise<T>) =>
  withDirectory(context, async (directory) => {
    const { tables, rows, env = {} } = options
    createDatabase(join(directory, 'rowhouse.db'), tables, rows)
    const service = await startService({ directory, profiles: context.profiles, env })
    try {
      const { token, session, ids } = await putOnline(service.address, tables)
      service.setConstant(await readText(`${service.address}/data/${TABLE}/records/${Math.ceil(rows / 2)}`, token))
      const tableId = ids[0] as number
      return await use({ service, session, tableId, measure: createMeasure(context, service, token) })
    } finally {
      await service.stop()
    }
  })
