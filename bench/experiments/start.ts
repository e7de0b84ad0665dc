import { setTimeout as wait } from 'node:timers/promises'
import { assertBuilt, startBuiltService, THIS_CHECKOUT } from '../built-service.ts'
import { type Context, withDirectory } from '../context.ts'
import { residentMemory } from '../memory.ts'
import { alignedTable, atMost, below, mebibytes, milliseconds, ratio, verdict } from '../report.ts'
import { medianOf } from '../statistics.ts'

const MAX_SECONDS = 0.5
const MAX_MEMORY_MIB = 120
/** Of the seconds of another build. */
const MAX_RATIO = 1
const MAX_RATIO_WITHOUT_CACHE = 1.25
/** Time for V8 to collect the garbage of the start. */
const IDLE_MS = 1000

/** A build, with or without Node's cache of compiled code. */
interface Variant {
  readonly name: string
  readonly checkout: string
  readonly env: Record<string, string>
}

interface Sample {
  /** From the start of the process to its first response. */
  readonly seconds: number
  /** Bytes. */
  readonly memory: number
}

const OWN: Variant = { name: 'this build', checkout: THIS_CHECKOUT, env: {} }
const WITHOUT_CACHE: Variant = { ...OWN, name: 'without a compile cache', env: { NODE_DISABLE_COMPILE_CACHE: '1' } }

const startOnce = async ({ checkout, env }: Variant, directory: string): Promise<Sample> => {
  const start = process.hrtime.bigint()
  const service = await startBuiltService(checkout, directory, env)
  await fetch(service.address, { redirect: 'manual' })
  const seconds = Number(process.hrtime.bigint() - start) / 1e9
  await wait(IDLE_MS)
  const memory = residentMemory(service.pid)
  await service.stop()
  return { seconds, memory }
}

/** Starts the variants in turn, each on an empty directory. Returns the median of each. */
const measureAll = async (context: Context, variants: readonly Variant[]): Promise<Sample[]> => {
  const samples = variants.map((): Sample[] => [])
  // The first round fills the compile cache.
  for (let round = 0; round <= context.plan.starts; round++) {
    for (const [index, variant] of variants.entries()) {
      const sample = await withDirectory(context, (directory) => startOnce(variant, directory))
      if (round > 0) samples[index]?.push(sample)
    }
  }
  return samples.map((ofVariant) => ({
    seconds: medianOf(ofVariant, 'seconds'),
    memory: medianOf(ofVariant, 'memory')
  }))
}

const HEAD = ['rowhouse serve', 'first response, s', 'idle memory, MiB']

const cellsOf = ({ name }: Variant, { seconds, memory }: Sample) => [name, milliseconds(seconds), mebibytes(memory)]

/** Measures `rowhouse serve` on an empty directory: time to the first response, and memory when it is idle. */
export const runStart = async (context: Context) => {
  const [own, withoutCache] = (await measureAll(context, [OWN, WITHOUT_CACHE])) as [Sample, Sample]
  return alignedTable([
    [...HEAD, ''],
    [
      ...cellsOf(OWN, own),
      `${verdict(below(own.seconds, MAX_SECONDS, ' s'))}; ${verdict(below(own.memory / 2 ** 20, MAX_MEMORY_MIB, ' MiB'))}`
    ],
    [...cellsOf(WITHOUT_CACHE, withoutCache), '']
  ])
}

/** Compares the start of this build with that of another checkout. */
export const compareStart = async (context: Context, checkout: string) => {
  assertBuilt(checkout)
  const other: Variant = { name: 'the other build', checkout, env: {} }
  const [ofOther, own, withoutCache] = (await measureAll(context, [other, OWN, WITHOUT_CACHE])) as [
    Sample,
    Sample,
    Sample
  ]
  const compared = (variant: Variant, sample: Sample, max: number) => {
    const share = sample.seconds / ofOther.seconds
    return [...cellsOf(variant, sample), ratio(share), verdict(atMost(share, max))]
  }
  return alignedTable([
    [...HEAD, 'ratio', ''],
    [...cellsOf(other, ofOther), '', ''],
    compared(OWN, own, MAX_RATIO),
    compared(WITHOUT_CACHE, withoutCache, MAX_RATIO_WITHOUT_CACHE)
  ])
}
