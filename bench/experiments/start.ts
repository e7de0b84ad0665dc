import { setTimeout as wait } from 'node:timers/promises'
import { startBuiltService, THIS_CHECKOUT } from '../built-service.ts'
import { type Context, withDirectory } from '../context.ts'
import { residentMemory } from '../memory.ts'
import { below, figureTable, mebibytes, milliseconds } from '../report.ts'
import { medianOf } from '../statistics.ts'

const MAX_SECONDS = 0.5
const MAX_MEMORY_MIB = 120
/** Time for V8 to collect the garbage of the start. */
const IDLE_MS = 1000

const startOnce = async (directory: string) => {
  const start = process.hrtime.bigint()
  const service = await startBuiltService(THIS_CHECKOUT, directory)
  const seconds = Number(process.hrtime.bigint() - start) / 1e9
  await wait(IDLE_MS)
  const memory = residentMemory(service.pid)
  await service.stop()
  return { seconds, memory }
}

/** Starts `rowhouse serve` on an empty directory: time until it listens, and memory when it is idle. */
export const runStart = async (context: Context) => {
  const samples: { seconds: number; memory: number }[] = []
  while (samples.length < context.plan.starts) samples.push(await withDirectory(context, startOnce))
  const seconds = medianOf(samples, 'seconds')
  const memory = medianOf(samples, 'memory')
  return figureTable([
    { name: 'start, s', value: milliseconds(seconds), target: below(seconds, MAX_SECONDS) },
    { name: 'idle memory, MiB', value: mebibytes(memory), target: below(memory / 2 ** 20, MAX_MEMORY_MIB) }
  ])
}
