import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type BuiltService, startBuiltService, THIS_CHECKOUT } from '../built-service.ts'
import { type Context, withDirectory } from '../context.ts'
import { addTokens, commitAsOther } from '../many-tokens.ts'
import { residentMemory } from '../memory.ts'
import { below, figureTable, mebibytes, milliseconds } from '../report.ts'
import { median, medianOf } from '../statistics.ts'

const TOKENS = 100_000
const MAX_SECONDS = 2
const MAX_MEMORY_MIB = 60
/** Time for V8 to collect the garbage of the start. */
const IDLE_MS = 1000
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

const measure = async (directory: string) => {
  const start = performance.now()
  const service = await startBuiltService(THIS_CHECKOUT, directory)
  const seconds = (performance.now() - start) / 1000
  await wait(IDLE_MS)
  const memory = residentMemory(service.pid)
  await slowestRequest(service, RELOAD_MS)
  const without = await slowestRequest(service, RELOAD_MS)
  commitAsOther(join(directory, 'rowhouse.db'))
  const during = await slowestRequest(service, RELOAD_MS)
  await service.stop()
  return { seconds, memory, without, during }
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
  while (samples.length < context.plan.backups) samples.push(await withDirectory(context, measureBoth))
  const full = samples.map((sample) => sample.full)
  const seconds = medianOf(full, 'seconds')
  const memory = medianOf(samples, 'memory')
  return figureTable([
    { name: 'start without tokens, s', value: milliseconds(median(samples.map(({ empty }) => empty.seconds))) },
    { name: `start with ${TOKENS} tokens, s`, value: milliseconds(seconds), target: below(seconds, MAX_SECONDS) },
    { name: 'their memory, MiB', value: mebibytes(memory), target: below(memory / 2 ** 20, MAX_MEMORY_MIB) },
    { name: 'slowest request, ms', value: milliseconds(medianOf(full, 'without')) },
    { name: 'slowest request during a reload, ms', value: milliseconds(medianOf(full, 'during')) }
  ])
}
