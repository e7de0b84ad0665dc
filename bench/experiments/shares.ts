import type { Context } from '../context.ts'
import { alignedTable, atLeast, ratio, type Target, verdict } from '../report.ts'
import { ratioOf, SAMPLE_HEAD, type Sample, sampleRow } from '../sample.ts'
import { type Stage, withStages } from '../stage.ts'
import { ROWS, TABLE, TWIN, type Workload, workload } from '../workloads.ts'

/** Milliseconds of an fsync up to which the targets of durable writes hold. */
const FAST_FSYNC = 0.3
/** Of each case, before any is measured: V8 compiles what is called often, and takes seconds over it. */
const WARM_UP_SECONDS = 2

const constant = workload('constant')

const runRounds = async ({ measure }: Stage, cases: readonly Workload[], rounds: number) => {
  for (const one of cases) await measure(one, { seconds: WARM_UP_SECONDS })
  const samples = cases.map((): Sample[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, one] of cases.entries()) samples[index]?.push(await measure(one))
  }
  return samples
}

const judge = ({ target, isWrite }: Workload, share: number, fsync: number): Target | null => {
  if (target === null) return null
  const notJudged = isWrite && fsync > FAST_FSYNC ? `an fsync takes more than ${FAST_FSYNC} ms` : undefined
  return { ...atLeast(share, target), notJudged }
}

/** Each case as a share of the constant route measured in the same round. `fsync` is the disk's, in milliseconds. */
export const runShares = async (context: Context, wanted: readonly Workload[], fsync: number) => {
  const cases = [constant, ...wanted.filter((one) => one !== constant)]
  const processes = await withStages(context, { tables: [TABLE, TWIN], rows: ROWS }, (stage) =>
    runRounds(stage, cases, context.plan.rounds)
  )
  const samplesOf = (index: number) => processes.flatMap((samples) => samples[index] ?? [])
  const base = samplesOf(0)
  const row = (one: Workload, index: number) => {
    const own = samplesOf(index)
    const share = ratioOf('perSecond', own, base)
    const target = judge(one, share, fsync)
    return [...sampleRow(one.name, own), ratio(share), target ? verdict(target) : '']
  }
  return alignedTable([[...SAMPLE_HEAD, 'of constant', 'target'], ...cases.map(row)])
}
