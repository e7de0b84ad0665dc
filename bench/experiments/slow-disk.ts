import { type Context, WARM_UP_SECONDS, withDirectory } from '../context.ts'
import { slowFsync } from '../disk.ts'
import { withEachEnvironment } from '../environment.ts'
import { alignedTable, atLeast, figureTable, ratio } from '../report.ts'
import { ratioOf, SAMPLE_HEAD, type Sample, sampleRow } from '../sample.ts'
import { medianOf } from '../statistics.ts'
import { CREATE_TABLE, findWorkload, ROWS, TABLE } from '../workloads.ts'

const WRITERS = 16
const DELAY_MS = 2
const MIN_READ_RATIO = 0.7

const read = findWorkload('read')
const create = findWorkload('create')

const runRounds = async (context: Context, env: Record<string, string>) => {
  const alone: Sample[] = []
  const reads: Sample[] = []
  const writes: Sample[] = []
  await withEachEnvironment(context, { tables: [TABLE, CREATE_TABLE], rows: ROWS, env }, async ({ measure }) => {
    const measureBoth = (amount: { readonly seconds?: number } = {}) =>
      Promise.all([measure(read, amount), measure(create, { ...amount, connections: WRITERS })])
    await measureBoth({ seconds: WARM_UP_SECONDS })
    for (let round = 0; round < context.plan.rounds; round++) {
      alone.push(await measure(read))
      const [readSample, writeSample] = await measureBoth()
      reads.push(readSample)
      writes.push(writeSample)
    }
  })
  return { alone, reads, writes }
}

/** Reads by key while each fsync takes 2 ms longer: alone, and during durable writes. */
export const runSlowDisk = (context: Context) =>
  withDirectory(context, async (directory) => {
    const interposer = slowFsync(directory)
    if ('missing' in interposer) return `Skipped: ${interposer.missing}.`
    const { alone, reads, writes } = await runRounds(context, interposer.env)
    if (medianOf(writes, 'p50') < DELAY_MS)
      throw new Error(`The interposer did not make fsync slower: the p50 of creates is below ${DELAY_MS} ms.`)
    const readRatio = ratioOf('perSecond', reads, alone)
    return [
      alignedTable([
        SAMPLE_HEAD,
        sampleRow('read', alone),
        sampleRow(`read during ${WRITERS} writers`, reads),
        sampleRow('create, these writers', writes)
      ]),
      figureTable([
        { name: 'reads during writes / alone', value: ratio(readRatio), target: atLeast(readRatio, MIN_READ_RATIO) }
      ])
    ].join('\n')
  })
