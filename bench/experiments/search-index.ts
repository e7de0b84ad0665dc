import { setTimeout } from 'node:timers/promises'
import { readSearchIndex, readText, switchOnSearchIndex } from '../client.ts'
import type { Context } from '../context.ts'
import { type Environment, withEnvironment } from '../environment.ts'
import { alignedTable, atLeast, milliseconds, ratio, verdict } from '../report.ts'
import { median } from '../statistics.ts'
import { TABLE } from '../workloads.ts'

const ROWS = 1_000_000
const MIN_RATIO = 100
const POLL_MS = 100

const searches = {
  'search, 1 row matches': 'item 654321',
  'search, 0.01 % of the rows match': 'item 6543',
  'search, 1 % match': 'item 65',
  'search, all match': 'belongs'
}

const timeOf = async ({ service, token }: Environment, q: string) => {
  const start = performance.now()
  await readText(`${service.address}/data/${TABLE}?q=${encodeURIComponent(q)}`, token)
  return performance.now() - start
}

/** Returns the median milliseconds of each search. The first round fills the caches. */
const measureSearches = async (environment: Environment, rounds: number) => {
  const medians: number[] = []
  for (const q of Object.values(searches)) {
    const times: number[] = []
    for (let round = -1; round < rounds; round++) {
      const time = await timeOf(environment, q)
      if (round >= 0) times.push(time)
    }
    medians.push(median(times))
  }
  return medians
}

/** Builds the index. Returns the seconds that it took. */
const build = async ({ service, session, tableId }: Environment) => {
  const start = performance.now()
  await switchOnSearchIndex(service.address, session, tableId)
  while ((await readSearchIndex(service.address, session, tableId)).state === 'building') await setTimeout(POLL_MS)
  return (performance.now() - start) / 1000
}

/** Compares searches of a large table with a search index and without one, one request at a time. */
export const runSearchIndex = (context: Context) =>
  withEnvironment(context, { tables: [TABLE], rows: ROWS }, async (environment) => {
    const { rounds } = context.plan
    const scans = await measureSearches(environment, rounds)
    const seconds = await build(environment)
    const indexed = await measureSearches(environment, rounds)
    const rows = Object.keys(searches).map((name, index) => {
      const [scan, search] = [scans[index] as number, indexed[index] as number]
      const share = scan / search
      const target = index === 0 ? verdict(atLeast(share, MIN_RATIO)) : ''
      return [name, milliseconds(scan), milliseconds(search), ratio(share), target]
    })
    return [
      `${ROWS} rows. The index was built in ${seconds.toFixed(0)} s.`,
      alignedTable([['case', 'scan ms', 'index ms', 'scan / index', 'target'], ...rows])
    ].join('\n')
  })
