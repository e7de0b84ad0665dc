import { type Context, withDirectory } from '../context.ts'
import { slowFsync } from '../disk.ts'
import { alignedTable, atLeast, figureTable, ratio } from '../report.ts'
import { ratioOf, SAMPLE_HEAD, type Sample, sampleRow } from '../sample.ts'
import { withStages } from '../stage.ts'
import { medianOf } from '../statistics.ts'
import { ROWS, TABLE, TWIN, workload } from '../workloads.ts'

const WRITERS = 16
const DELAY_MS = 2
const LEAST_KEPT = 0.7
const WARM_UP_SECONDS = 2

const read = workload('read')
const create = workload('create')

const runRounds = async (context: Context, env: Record<string, string>) => {
  const alone: Sample[] = []
  const reads: Sample[] = []
  const writes: Sample[] = []
  await withStages(context, { tables: [TABLE, TWIN], rows: ROWS, env }, async ({ measure }) => {
    const measureBoth = (amount: { readonly seconds?: number } = {}) =>
      Promise.all([measure(read, amount), measure(create, { ...amount, connections: WRITERS })])
    await measureBoth({ seconds: WARM_UP_SECONDS })
    for (let round = 0; round < context.plan.rounds; round++) {
      alone.push(await measure(read))
      const [reading, writing] = await measureBoth()
      reads.push(reading)
      writes.push(writing)
    }
  })
  return { alone, reads, writes }
}

/** Reads by key while every fsync takes 2 ms longer, alone and beside durable writes. */
export const runSlowDisk = (context: Context) =>
  withDirectory(context, async (directory) => {
    const interposer = slowFsync(directory)
    if ('missing' in interposer) return `Skipped: ${interposer.missing}.`
    const { alone, reads, writes } = await runRounds(context, interposer.env)
    if (medianOf(writes, 'p50') < DELAY_MS) throw new Error('The interposer did not make fsync slower.')
    const kept = ratioOf('perSecond', reads, alone)
    return [
      alignedTable([
        SAMPLE_HEAD,
        sampleRow('read', alone),
        sampleRow(`read beside ${WRITERS} writers`, reads),
        sampleRow('create, those writers', writes)
      ]),
      figureTable([{ name: 'throughput that reads keep', value: ratio(kept), target: atLeast(kept, LEAST_KEPT) }])
    ].join('\n')
  })
