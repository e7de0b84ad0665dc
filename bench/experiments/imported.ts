import { type Context, WARM_UP_SECONDS } from '../context.ts'
import { type Environment, withEachEnvironment } from '../environment.ts'
import { alignedTable, atLeast, figureTable, ratio } from '../report.ts'
import { ratioOf, SAMPLE_HEAD, type Sample, sampleRow } from '../sample.ts'
import { findWorkload, IMPORTED_TABLE, listImported, ROWS, TABLE } from '../workloads.ts'

const MIN_RATIO = 0.85

const list = findWorkload('list')

const runRounds = async ({ measure }: Environment, rounds: number) => {
  for (const workload of [list, listImported]) await measure(workload, { seconds: WARM_UP_SECONDS })
  const strict: Sample[] = []
  const imported: Sample[] = []
  for (let round = 0; round < rounds; round++) {
    strict.push(await measure(list))
    imported.push(await measure(listImported))
  }
  return { strict, imported }
}

/** Lists the same rows of a STRICT table and of an imported table, in alternating rounds. */
export const runImported = async (context: Context) => {
  const tables = [TABLE, IMPORTED_TABLE]
  const processes = await withEachEnvironment(context, { tables, rows: ROWS }, (environment) =>
    runRounds(environment, context.plan.rounds)
  )
  const strict = processes.flatMap((samples) => samples.strict)
  const imported = processes.flatMap((samples) => samples.imported)
  // Not the rates: the event loop is busy in both, and other programs change its CPU time less.
  const speed = ratioOf('cpuPerRequest', strict, imported)
  return [
    alignedTable([SAMPLE_HEAD, sampleRow('list, STRICT table', strict), sampleRow(listImported.name, imported)]),
    figureTable([{ name: 'speed, imported / STRICT', value: ratio(speed), target: atLeast(speed, MIN_RATIO) }])
  ].join('\n')
}
