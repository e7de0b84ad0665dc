import { sendBatch, sendFile } from '../client.ts'
import { type Context, WARM_UP_SECONDS, withDirectory } from '../context.ts'
import { type Environment, withEnvironment } from '../environment.ts'
import { createNodes, findRqlited, killAll, loadFile, type Node, startAll } from '../nodes.ts'
import { alignedTable, atLeast, below, figureTable, milliseconds, perSecond, ratio } from '../report.ts'
import type { Sample } from '../sample.ts'
import { median, medianOf } from '../statistics.ts'
import { CREATE_TABLE, findWorkload, newItem, ROWS, TABLE } from '../workloads.ts'

const TABLES = [TABLE, CREATE_TABLE]
/** All services of a cluster need the same one. */
const JWT_SECRET = 'c2b8e4f1a97d3056b1c4e8f2a7d90356c1b4e8f2a7d93056'
const WORKLOADS = ['read', 'list', 'create', 'update'].map(findWorkload)
const BATCH_SIZE = 1000
const BATCHES = 10
const IMPORTED = 50_000

interface Targets {
  readonly nodes: number
  readonly read: number
  readonly write: number
  readonly import: number
  /** Milliseconds of creates, with 32 clients. */
  readonly p99: number
}

const CLUSTERS: readonly Targets[] = [
  { nodes: 1, read: 0.3, write: 0.2, import: 0.5, p99: 30 },
  { nodes: 3, read: 0.25, write: 0.1, import: 0.35, p99: 60 }
]

/** Returns records per second. */
const measureBatches = async ({ service, token }: Environment) => {
  const operations = Array.from({ length: BATCH_SIZE }, () => ({
    op: 'create',
    table: CREATE_TABLE,
    values: newItem()
  }))
  const body = JSON.stringify({ operations })
  const start = performance.now()
  for (let count = 0; count < BATCHES; count += 1) await sendBatch(`${service.address}/data/_batch`, token, body)
  return (1000 * BATCHES * BATCH_SIZE) / (performance.now() - start)
}

/** Returns records per second. */
const measureImport = async ({ service, token }: Environment) => {
  const body = Array.from({ length: IMPORTED }, () => `${JSON.stringify(newItem())}\n`).join('')
  const start = performance.now()
  await sendFile(`${service.address}/data/${CREATE_TABLE}/import`, token, body)
  return (1000 * IMPORTED) / (performance.now() - start)
}

interface Round {
  readonly samples: ReadonlyMap<string, Sample>
  /** Records per second. */
  readonly batches: number
  readonly import: number
}

const measureRound = async (environment: Environment): Promise<Round> => {
  const samples = new Map<string, Sample>()
  for (const workload of WORKLOADS) samples.set(workload.name, await environment.measure(workload))
  return { samples, batches: await measureBatches(environment), import: await measureImport(environment) }
}

const warmUp = async ({ measure }: Environment) => {
  for (const workload of WORKLOADS) await measure(workload, { seconds: WARM_UP_SECONDS })
}

/** Measures a service of a file and one of a cluster in alternation. */
const compare = async (context: Context, nodes: readonly Node[]) => {
  const prepare = async (file: string) => {
    await loadFile(nodes[0] as Node, file)
    return { RQLITE_URLS: nodes.map(({ url }) => url).join(','), JWT_SECRET }
  }
  try {
    await startAll(nodes)
    return await withEnvironment(context, { tables: TABLES, rows: ROWS }, (ofFile) =>
      withEnvironment(context, { tables: TABLES, rows: ROWS, prepare }, async (ofCluster) => {
        for (const environment of [ofFile, ofCluster]) await warmUp(environment)
        const rounds: { readonly file: Round; readonly cluster: Round }[] = []
        while (rounds.length < context.plan.rounds)
          rounds.push({ file: await measureRound(ofFile), cluster: await measureRound(ofCluster) })
        return rounds
      })
    )
  } finally {
    await killAll(nodes)
  }
}

const reportOf = (
  rounds: Awaited<ReturnType<typeof compare>>,
  { nodes, read, write, import: imported, p99 }: Targets
) => {
  const rows = WORKLOADS.map(({ name, isWrite }) => {
    const of = (round: Round) => (round.samples.get(name) as Sample).perSecond
    const share = median(rounds.map(({ file, cluster }) => of(cluster) / of(file)))
    const [file, cluster] = [
      median(rounds.map((round) => of(round.file))),
      median(rounds.map((round) => of(round.cluster)))
    ]
    return { name, file, cluster, share, target: atLeast(share, isWrite ? write : read) }
  })
  const batches = median(rounds.map(({ file, cluster }) => cluster.batches / file.batches))
  const imports = median(rounds.map(({ file, cluster }) => cluster.import / file.import))
  const slowest = medianOf(
    rounds.map(({ cluster }) => cluster.samples.get('create') as Sample),
    'p99'
  )
  return [
    `${nodes === 1 ? 'One node' : `${nodes} nodes`} on this machine.`,
    alignedTable([
      ['case', 'file/s', 'cluster/s'],
      ...rows.map(({ name, file, cluster }) => [name, perSecond(file), perSecond(cluster)])
    ]),
    figureTable([
      ...rows.map(({ name, share, target }) => ({ name: `${name}, cluster / file`, value: ratio(share), target })),
      { name: 'records in batches, cluster / file', value: ratio(batches), target: atLeast(batches, write) },
      { name: 'records of an import, cluster / file', value: ratio(imports), target: atLeast(imports, imported) },
      { name: 'p99 of creates, ms', value: milliseconds(slowest), target: below(slowest, p99) }
    ])
  ].join('\n')
}

/** Compares a service of a cluster with one of a file, on the same machine. */
export const runCluster = async (context: Context) => {
  const rqlited = findRqlited()
  if (rqlited === undefined) return 'SKIPPED: set RQLITED to the path of rqlited 10, or add it to PATH.'
  const reports: string[] = []
  for (const targets of CLUSTERS) {
    const rounds = await withDirectory(context, async (directory) =>
      compare(context, await createNodes(rqlited, targets.nodes, directory))
    )
    reports.push(reportOf(rounds, targets))
  }
  return reports.join('\n\n')
}
