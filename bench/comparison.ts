import { join } from 'node:path'
import { assertBuilt, type BuiltService, startBuiltService, THIS_CHECKOUT } from './built-service.ts'
import { registerTables } from './client.ts'
import { CONNECTIONS, type Context, ROUND_SECONDS, WARM_UP_SECONDS, withDirectory } from './context.ts'
import { createDatabase } from './items.ts'
import { readProcessCpu, waitUntilQuiet, watchOtherPrograms } from './machine.ts'
import { COMPARISON_HEAD, comparisonRow, isQuiet, type Pair, type Round, selectQuietest } from './pairs.ts'
import { alignedTable, MAX_OTHERS_SHARE } from './report.ts'
import { CREATE_TABLE, type HttpRequest, ROWS, requestsOf, TABLE, type Workload } from './workloads.ts'
import { wrk } from './wrk.ts'

/** A pair of rounds that other programs disturbed is measured again, until there are this many times the rounds. */
const MAX_ATTEMPTS = 3
/** Total time in one process of each build that pairs may wait until other programs are quiet. */
const MAX_WAIT_MS = 60_000

interface Case {
  readonly name: string
  readonly requests: readonly HttpRequest[]
}

type Measure = (seconds: number) => Promise<Round>

interface MeasureOptions {
  readonly context: Context
  readonly service: BuiltService
  readonly token: string
  readonly directory: string
}

const createMeasure = ({ context, service, token, directory }: MeasureOptions, { name, requests }: Case): Measure => {
  const load = context.generator.prepare({ address: service.address, token, requests }, directory)
  return async (seconds) => {
    const before = readProcessCpu(service.pid)
    const shareOfOthers = watchOtherPrograms()
    const result = await load({ seconds, connections: CONNECTIONS })
    const cpu = readProcessCpu(service.pid) - before
    if (result.failures > 0) throw new Error(`${result.failures} requests of the case '${name}' failed.`)
    return {
      perSecond: result.completed / result.seconds,
      cpuPerRequest: (1e6 * cpu) / result.completed,
      othersShare: shareOfOthers(cpu + result.cpuSeconds)
    }
  }
}

/** Starts the service of a checkout on a new database, and runs `use` with a function per case that measures it. */
const withService = <T>(
  context: Context,
  checkout: string,
  cases: readonly Case[],
  use: (measures: readonly Measure[]) => Promise<T>
) =>
  withDirectory(context, async (directory) => {
    createDatabase(join(directory, 'rowhouse.db'), [TABLE, CREATE_TABLE], ROWS)
    const service = await startBuiltService(checkout, directory)
    try {
      const { token } = await registerTables(service.address, [TABLE, CREATE_TABLE])
      return await use(cases.map((one) => createMeasure({ context, service, token, directory }, one)))
    } finally {
      await service.stop()
    }
  })

/** One case with both builds. */
interface ComparedCase {
  readonly own: Measure
  readonly other: Measure
  readonly pairs: Pair[]
}

const measurePair = async ({ own, other }: ComparedCase, isOwnFirst: boolean): Promise<Pair> => {
  if (isOwnFirst) return { own: await own(ROUND_SECONDS), other: await other(ROUND_SECONDS) }
  const first = await other(ROUND_SECONDS)
  return { own: await own(ROUND_SECONDS), other: first }
}

/** Measures all cases round by round. Returns the pairs of each case. The build that comes first alternates. */
const runRounds = async (own: readonly Measure[], other: readonly Measure[], rounds: number) => {
  const compared = own.map(
    (measure, index): ComparedCase => ({ own: measure, other: other[index] as Measure, pairs: [] })
  )
  const isDone = ({ pairs }: ComparedCase) => pairs.filter(isQuiet).length >= rounds
  let waitLeft = MAX_WAIT_MS
  for (const measure of [...own, ...other]) await measure(WARM_UP_SECONDS)
  for (let attempt = 0; attempt < MAX_ATTEMPTS * rounds; attempt++) {
    for (const one of compared.filter((candidate) => !isDone(candidate))) {
      waitLeft = await waitUntilQuiet(MAX_OTHERS_SHARE, waitLeft)
      one.pairs.push(await measurePair(one, attempt % 2 === 0))
    }
  }
  return compared.map(({ pairs }) => selectQuietest(pairs, rounds))
}

/** Starts both builds and measures all cases. The services of both builds get the same requests. */
const runProcesses = (context: Context, against: string, workloads: readonly Workload[], isOwnFirst: boolean) => {
  const cases = workloads.map((workload): Case => ({ name: workload.name, requests: requestsOf(workload) }))
  const { rounds } = context.plan.comparison
  const [first, second] = isOwnFirst ? [THIS_CHECKOUT, against] : [against, THIS_CHECKOUT]
  return withService(context, first, cases, (ofFirst) =>
    withService(context, second, cases, (ofSecond) =>
      isOwnFirst ? runRounds(ofFirst, ofSecond, rounds) : runRounds(ofSecond, ofFirst, rounds)
    )
  )
}

/** autocannon takes longer to start than a round. Its start would count as the load of other programs. */
const assertWrk = ({ generator }: Context) => {
  if (generator !== wrk) throw new Error(`--against needs the load generator wrk, not ${generator.name}. Install wrk.`)
}

/** Compares this build with the build of another checkout, case by case. @throws without wrk or the other build */
export const runComparison = async (context: Context, against: string, workloads: readonly Workload[]) => {
  assertWrk(context)
  assertBuilt(against)
  const processes: Pair[][][] = []
  while (processes.length < context.plan.comparison.processes) {
    processes.push(await runProcesses(context, against, workloads, processes.length % 2 === 0))
  }
  const pairsOf = (index: number) => processes.map((cases) => cases[index] ?? [])
  const rows = workloads.map(({ name }, index) => comparisonRow(name, pairsOf(index)))
  return alignedTable([COMPARISON_HEAD, ...rows])
}
