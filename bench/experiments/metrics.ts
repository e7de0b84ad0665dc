import { type Context, WARM_UP_SECONDS } from '../context.ts'
import { type Environment, withEnvironment } from '../environment.ts'
import { COMPARISON_HEAD, comparisonRow, type Pair } from '../pairs.ts'
import { alignedTable } from '../report.ts'
import { findWorkload, ROWS, TABLE } from '../workloads.ts'

const METRICS_TOKEN = 'a-token-for-metrics'
const OPTIONS = { tables: [TABLE], rows: ROWS }

const read = findWorkload('read')

const measurePair = async (own: Environment, other: Environment, isOwnFirst: boolean): Promise<Pair> => {
  if (isOwnFirst) return { own: await own.measure(read), other: await other.measure(read) }
  const first = await other.measure(read)
  return { own: await own.measure(read), other: first }
}

/** Measures both services round by round. The service that comes first alternates. */
const runRounds = async (own: Environment, other: Environment, rounds: number) => {
  for (const { measure } of [own, other]) await measure(read, { seconds: WARM_UP_SECONDS })
  const pairs: Pair[] = []
  while (pairs.length < rounds) pairs.push(await measurePair(own, other, pairs.length % 2 === 0))
  return pairs
}

/** Compares reads by key of a service that counts requests and batches with those of one that does not. */
export const runMetrics = async (context: Context) => {
  const { processes, rounds } = context.plan.comparison
  const results: Pair[][] = []
  while (results.length < processes) {
    const pairs = await withEnvironment(context, { ...OPTIONS, env: { METRICS_TOKEN } }, (own) =>
      withEnvironment(context, OPTIONS, (other) => runRounds(own, other, rounds))
    )
    results.push(pairs)
  }
  return [
    'this: with METRICS_TOKEN, other: without.',
    alignedTable([COMPARISON_HEAD, comparisonRow('read', results)])
  ].join('\n')
}
