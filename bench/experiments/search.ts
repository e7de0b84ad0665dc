import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { readText } from '../client.ts'
import { type Context, withDirectory } from '../context.ts'
import { type Environment, withEnvironment } from '../environment.ts'
import { createDatabase } from '../items.ts'
import { alignedTable, below, milliseconds, ratio, verdict } from '../report.ts'
import { median, medianOf } from '../statistics.ts'
import { ROWS, TABLE } from '../workloads.ts'

const MAX_RATIO = 1.5
const ONE_PASS = `SELECT count(*) FROM ${TABLE} WHERE instr(lower(name), ?) OR instr(lower(note), ?)`

/** Names and notes contain the number of the item. */
const FEW = 'item 432'
const searches = {
  'search, 0.1 % of the rows match': FEW,
  'search, no row matches, with a letter beyond ASCII': 'ÍTEM 432',
  'search, 11 % match': 'item 4',
  'search, all match': 'item'
}

/** In milliseconds. */
interface Cost {
  readonly time: number
  readonly cpu: number
}

/** Returns a function that looks for few rows by `instr` alone, in this process. */
const openOnePass = (directory: string) => {
  const file = join(directory, 'one-pass.db')
  createDatabase(file, [TABLE], ROWS)
  const db = new BetterSqlite3(file, { readonly: true })
  db.pragma('cache_size = -65536')
  const statement = db.prepare(ONE_PASS)
  const run = (): Cost => {
    const start = performance.now()
    const cpu = process.cpuUsage()
    statement.get(FEW, FEW)
    const { user, system } = process.cpuUsage(cpu)
    return { time: performance.now() - start, cpu: (user + system) / 1000 }
  }
  return { run, close: () => db.close() }
}

const searchOnce = async ({ service, token }: Environment, q: string): Promise<Cost> => {
  const url = `${service.address}/data/${TABLE}?q=${encodeURIComponent(q)}`
  const before = await service.usage()
  const start = performance.now()
  await readText(url, token)
  const time = performance.now() - start
  const after = await service.usage()
  return { time, cpu: (after.user + after.system - before.user - before.system) / 1000 }
}

const runRounds = async (environment: Environment, runOnePass: () => Cost, rounds: number) => {
  const onePass: Cost[] = []
  const found = Object.keys(searches).map((): Cost[] => [])
  for (let round = -1; round < rounds; round++) {
    const cost = runOnePass()
    for (const [index, q] of Object.values(searches).entries()) {
      const ofSearch = await searchOnce(environment, q)
      // The first round opens the files and fills the caches.
      if (round >= 0) found[index]?.push(ofSearch)
    }
    if (round >= 0) onePass.push(cost)
  }
  return { onePass, found }
}

/** Searches through the service, one request at a time, and compares the CPU time with one pass of `instr`. */
export const runSearch = (context: Context) =>
  withDirectory(context, async (directory) => {
    const { run, close } = openOnePass(directory)
    const { onePass, found } = await withEnvironment(context, { tables: [TABLE], rows: ROWS }, (environment) =>
      runRounds(environment, run, context.plan.rounds)
    )
    close()
    const cells = (name: string, costs: readonly Cost[]) => [
      name,
      milliseconds(medianOf(costs, 'time')),
      milliseconds(medianOf(costs, 'cpu'))
    ]
    const rowOf = (name: string, index: number) => {
      const costs = found[index] as readonly Cost[]
      const share = median(costs.map(({ cpu }, round) => cpu / (onePass[round] as Cost).cpu))
      return [...cells(name, costs), ratio(share), index === 0 ? verdict(below(share, MAX_RATIO)) : '']
    }
    return alignedTable([
      ['case', 'ms', 'CPU ms', 'of one pass', 'target'],
      [...cells('one pass of instr', onePass), '1.00', ''],
      ...Object.keys(searches).map(rowOf)
    ])
  })
