import { availableParallelism, cpus } from 'node:os'
import { resolve } from 'node:path'
import { runComparison } from './comparison.ts'
import { CONNECTIONS, type Context, createContext, ROUND_SECONDS, withDirectory } from './context.ts'
import { measureFsync } from './disk.ts'
import { runAggregate } from './experiments/aggregate.ts'
import { runBackup } from './experiments/backup.ts'
import { runBatches } from './experiments/batch.ts'
import { runCluster } from './experiments/cluster.ts'
import { runExport } from './experiments/export.ts'
import { runImport } from './experiments/import.ts'
import { runImported } from './experiments/imported.ts'
import { runLogins } from './experiments/logins.ts'
import { runMetrics } from './experiments/metrics.ts'
import { runQueries } from './experiments/queries.ts'
import { runRestore } from './experiments/restore.ts'
import { runRules } from './experiments/rules.ts'
import { runSearch } from './experiments/search.ts'
import { runSearchIndex } from './experiments/search-index.ts'
import { runSlowDisk } from './experiments/slow-disk.ts'
import { compareStart, runStart } from './experiments/start.ts'
import { runThroughput } from './experiments/throughput.ts'
import { runTokens } from './experiments/tokens.ts'
import { runUpgrade } from './experiments/upgrade.ts'
import { type Options, readOptions } from './options.ts'
import { milliseconds, NOTES } from './report.ts'
import { CONSTANT_PATH, type Workload, workloads } from './workloads.ts'

const print = (...lines: string[]) => process.stdout.write(`${lines.join('\n')}\n`)
const printSection = (title: string, text: string) => print('', title, text)

const experiments: Record<string, { title: string; run: (context: Context) => Promise<string> }> = {
  imported: { title: 'Lists of an imported table', run: runImported },
  search: { title: 'Search', run: runSearch },
  'search-index': { title: 'Search with an index', run: runSearchIndex },
  query: { title: 'Queries', run: runQueries },
  rules: { title: 'Rules of roles', run: runRules },
  aggregate: { title: 'Aggregates', run: runAggregate },
  batch: { title: 'Batches', run: runBatches },
  logins: { title: '50 concurrent logins', run: runLogins },
  'slow-disk': { title: '2 ms more for each fsync', run: runSlowDisk },
  export: { title: 'Export as CSV', run: runExport },
  import: { title: 'Import of CSV', run: runImport },
  metrics: { title: 'With metrics', run: runMetrics },
  backup: { title: 'Backups', run: runBackup },
  restore: { title: 'Restores', run: runRestore },
  upgrade: { title: 'Upgrades', run: runUpgrade },
  cluster: { title: 'A cluster', run: runCluster },
  tokens: { title: 'Many tokens', run: runTokens },
  start: { title: 'Cold start', run: runStart }
}
/** Reads and writes run apart: each commit empties the page cache of the reading connection, which slows later reads. */
const kinds = {
  'Requests that read': workloads.filter(({ isWrite }) => !isWrite),
  'Requests that write': workloads.filter(({ isWrite }) => isWrite)
}
/** Only the benchmark's own service process has the constant route. */
const isInEveryBuild = (workload: Workload) => workload.request().path !== CONSTANT_PATH

const CASES = [...workloads.map(({ name }) => name), ...Object.keys(experiments)]
const COMPARED_CASES = [...workloads.filter(isInEveryBuild).map(({ name }) => name), 'start']

const printMachine = ({ generator, directory }: Context, fsync: number) =>
  print(
    `Node ${process.version} on ${availableParallelism()} cores (${cpus()[0]?.model}).`,
    `Load: ${generator.name}, ${CONNECTIONS} connections.`,
    `Disk: ${directory}, fsync p50 ${milliseconds(fsync)} ms.`
  )

const forEachKind = async (names: readonly string[], run: (cases: readonly Workload[]) => Promise<string>) => {
  for (const [title, cases] of Object.entries(kinds)) {
    const selected = cases.filter(({ name }) => names.includes(name))
    if (selected.length > 0) printSection(title, await run(selected))
  }
}

const measure = async (context: Context, { names }: Options, fsync: number) => {
  const { processes, rounds } = context.plan
  print(`Medians of ${processes * rounds} rounds of ${ROUND_SECONDS} s per case (processes: ${processes}).`)
  await forEachKind(names, (cases) => runThroughput(context, cases, fsync))
  for (const [name, { title, run }] of Object.entries(experiments)) {
    if (names.includes(name)) printSection(title, await run(context))
  }
  print('', ...NOTES)
}

const compare = async (context: Context, { names }: Options, against: string) => {
  const { processes, rounds } = context.plan.comparison
  print(
    `This build against ${against}.`,
    `Medians of ${processes * rounds} pairs of rounds of ${ROUND_SECONDS} s per case (processes of each build: ${processes}).`
  )
  await forEachKind(names, (cases) => runComparison(context, against, cases))
  if (names.includes('start')) printSection('Cold start', await compareStart(context, against))
}

const run = async () => {
  const options = readOptions(process.argv.slice(2), { all: CASES, compared: COMPARED_CASES })
  const context = createContext(options)
  const fsync = await withDirectory(context, async (directory) => measureFsync(directory))
  printMachine(context, fsync)
  if (options.against === undefined) return measure(context, options, fsync)
  return compare(context, options, resolve(options.against))
}

try {
  await run()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
