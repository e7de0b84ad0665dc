import { join } from 'node:path'
import { type BuiltService, startBuiltService, THIS_CHECKOUT } from '../built-service.ts'
import { type Context, withDirectory } from '../context.ts'
import { readProcessCpu } from '../machine.ts'
import { addTokens, commitAsOther } from '../many-tokens.ts'
import { residentMemory } from '../memory.ts'
import { below, figureTable, mebibytes, milliseconds } from '../report.ts'
import { medianOf } from '../statistics.ts'

const TOKENS = 100_000
const MAX_SECONDS = 2
const MAX_MEMORY_MIB = 60
const WARM_UP_MS = 5000
/** Time in which an external commit is noticed and all tokens are read again. */
const RELOAD_MS = 2500

const timeOf = async (address: string) => {
  const start = performance.now()
  await (await fetch(`${address}/health`)).arrayBuffer()
  return performance.now() - start
}

/** Returns the time of the slowest of many requests, one after the other. */
const slowestRequest = async ({ address }: BuiltService, duration: number) => {
  const end = performance.now() + duration
  let slowest = 0
  while (performance.now() < end) slowest = Math.max(slowest, await timeOf(address))
  return slowest
}

/** A small page cache. Cached pages of the table of tokens would otherwise count as memory of the tokens. */
const ENV = { CACHE_SIZE: '1' }

const measure = async (directory: string) => {
  const start = performance.now()
  const service = await startBuiltService(THIS_CHECKOUT, directory, ENV)
  const seconds = (performance.now() - start) / 1000
  const cpu = readProcessCpu(service.pid)
  // V8 enlarges its heap during requests, also without tokens.
  await slowestRequest(service, WARM_UP_MS)
  const memory = residentMemory(service.pid)
  const before = readProcessCpu(service.pid)
  const slowestIdle = await slowestRequest(service, RELOAD_MS)
  const between = readProcessCpu(service.pid)
  commitAsOther(join(directory, 'rowhouse.db'))
  const slowestInReload = await slowestRequest(service, RELOAD_MS)
  const reload = readProcessCpu(service.pid) - between - (between - before)
  await service.stop()
  return { seconds, cpu, memory, reload, slowestIdle, slowestInReload }
}

const measureBoth = async (directory: string) => {
  const empty = await measure(directory)
  addTokens(join(directory, 'rowhouse.db'), TOKENS)
  const full = await measure(directory)
  return { empty, full, memory: full.memory - empty.memory }
}

/** Starts `rowhouse serve` without tokens and with 100,000, and lets another program commit. */
export const runTokens = async (context: Context) => {
  const samples: Awaited<ReturnType<typeof measureBoth>>[] = []
  while (samples.length < context.plan.starts) samples.push(await withDirectory(context, measureBoth))
  const [empty, full] = [samples.map((sample) => sample.empty), samples.map((sample) => sample.full)]
  const figure = (name: string, value: 'seconds' | 'cpu' | 'reload' | 'slowestIdle' | 'slowestInReload') =>
    [
      { name: `${name}, no token`, value: milliseconds(medianOf(empty, value)) },
      { name: `${name}, ${TOKENS} tokens`, value: milliseconds(medianOf(full, value)) }
    ] as const
  const [seconds, memory] = [medianOf(full, 'seconds'), medianOf(samples, 'memory')]
  const [startWithout, startWith] = figure('start, s', 'seconds')
  return figureTable([
    startWithout,
    { ...startWith, target: below(seconds, MAX_SECONDS) },
    ...figure('CPU time of the start, s', 'cpu'),
    { name: 'memory of the tokens, MiB', value: mebibytes(memory), target: below(memory / 2 ** 20, MAX_MEMORY_MIB) },
    ...figure('CPU time of a reload, s', 'reload'),
    ...figure('slowest request, ms', 'slowestIdle'),
    ...figure('slowest request during a reload, ms', 'slowestInReload')
  ])
}
