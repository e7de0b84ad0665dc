import { type Context, WARM_UP_SECONDS } from '../context.ts'
import { type Environment, withEnvironment } from '../environment.ts'
import { COMPARISON_HEAD, comparisonRow, type Pair } from '../pairs.ts'
import { alignedTable } from '../report.ts'
import { findWorkload, ROWS, TABLE } from '../workloads.ts'

const CASES = ['read'].map(findWorkload)
const METRICS_TOKEN = 'a-token-for-metrics'
const OPTIONS = { tables: [TABLE], rows: ROWS }

type Measure = Environment['measure']

const measurePair = async (own: () => ReturnType<Measure>, other: () => ReturnType<Measure>, isOwnFirst: boolean) => {
  if (isOwnFirst) return { own: await own(), other: await other() }
  const first = await other()
  return { own: await own(), other: first }
}

/** Measures both services round by round. The service that comes first alternates. Returns the pairs of each case. */
const runRounds = async (own: Measure, other: Measure, rounds: number) => {
  const pairs = CASES.map((): Pair[] => [])
  for (const workload of CASES)
    for (const measure of [own, other]) await measure(workload, { seconds: WARM_UP_SECONDS })
  for (const [index, workload] of CASES.entries()) {
    for (let round = 0; round < rounds; round++) {
      const isOwnFirst = round % 2 === 0
      pairs[index]?.push(
        await measurePair(
          () => own(workload),
          () => other(workload),
          isOwnFirst
        )
      )
    }
  }
  return pairs
}

/** Compares a service that counts requests and batches with one that does not. */
export const runMetrics = async (context: Context) => {
  const { processes, rounds } = context.plan.comparison
  const results: Pair[][][] = []
  while (results.length < processes) {
    const pairs = await withEnvironment(context, { ...OPTIONS, env: { METRICS_TOKEN } }, (own) =>
      withEnvironment(context, OPTIONS, (other) => runRounds(own.measure, other.measure, rounds))
    )
    results.push(pairs)
  }
  const rows = CASES.map(({ name }, index) =>
    comparisonRow(
      name,
      results.map((pairs) => pairs[index] ?? [])
    )
  )
  return ['this: with METRICS_TOKEN, other: without.', alignedTable([COMPARISON_HEAD, ...rows])].join('\n')
}
