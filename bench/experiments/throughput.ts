import { type Context, WARM_UP_SECONDS } from '../context.ts'
import { type Environment, withEachEnvironment } from '../environment.ts'
import { alignedTable, atLeast, ratio, type Target, verdict } from '../report.ts'
import { ratioOf, SAMPLE_HEAD, type Sample, sampleRow } from '../sample.ts'
import { CREATE_TABLE, findWorkload, ROWS, TABLE, type Workload } from '../workloads.ts'

/** Milliseconds. The targets of durable writes do not apply where an fsync takes longer. */
const MAX_FSYNC_MS = 0.3

const constant = findWorkload('constant')

const runRounds = async ({ measure }: Environment, cases: readonly Workload[], rounds: number) => {
  for (const workload of cases) await measure(workload, { seconds: WARM_UP_SECONDS })
  const samples = cases.map((): Sample[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, workload] of cases.entries()) samples[index]?.push(await measure(workload))
  }
  return samples
}

const judge = ({ target, isWrite }: Workload, share: number, fsync: number): Target | null => {
  if (target === null) return null
  const notJudged = isWrite && fsync > MAX_FSYNC_MS ? `an fsync takes more than ${MAX_FSYNC_MS} ms` : undefined
  return { ...atLeast(share, target), notJudged }
}

/** Measures each case and its share of the constant route in the same round. `fsync` is in milliseconds. */
export const runThroughput = async (context: Context, selected: readonly Workload[], fsync: number) => {
  const cases = [constant, ...selected.filter((workload) => workload !== constant)]
  const processes = await withEachEnvironment(context, { tables: [TABLE, CREATE_TABLE], rows: ROWS }, (environment) =>
    runRounds(environment, cases, context.plan.rounds)
  )
  const samplesOf = (index: number) => processes.flatMap((samples) => samples[index] ?? [])
  const base = samplesOf(0)
  const row = (workload: Workload, index: number) => {
    const samples = samplesOf(index)
    const share = ratioOf('perSecond', samples, base)
    const target = judge(workload, share, fsync)
    return [...sampleRow(workload.name, samples), ratio(share), target ? verdict(target) : '']
  }
  return alignedTable([[...SAMPLE_HEAD, 'of constant', 'target'], ...cases.map(row)])
}
