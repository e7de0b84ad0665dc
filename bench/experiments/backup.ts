import { fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createBackup } from '../client.ts'
import { type Context, WARM_UP_SECONDS } from '../context.ts'
import { type Environment, withEnvironment } from '../environment.ts'
import { repeatDuring } from '../repeat-during.ts'
import { alignedTable, atLeast, below, figureTable, mebibytes, milliseconds, ratio } from '../report.ts'
import { ratioOf, SAMPLE_HEAD, type Sample, sampleRow } from '../sample.ts'
import { median, medianOf } from '../statistics.ts'
import { CREATE_TABLE, findWorkload, TABLE } from '../workloads.ts'

const MIN_SHARE_OF_READS = 0.8
const MAX_P99_MS = 30
const SECONDS = 4

const read = findWorkload('read')
const create = findWorkload('create')
const script = fileURLToPath(new URL(`../other-program${extname(import.meta.url)}`, import.meta.url))

const vacuum = async ({ file }: Environment) => {
  const target = `${file}-vacuum`
  const [status] = await once(fork(script, ['vacuum', file, target]), 'exit')
  if (status !== 0) throw new Error('VACUUM INTO failed.')
  rmSync(target)
}

const methods = { backup: createBackup, 'VACUUM INTO': vacuum }
type Method = (environment: Environment) => Promise<void>

/** Returns seconds. */
const timeOf = async (method: Method, environment: Environment) => {
  const start = performance.now()
  await method(environment)
  return (performance.now() - start) / 1000
}

/** Runs `use` while another program commits ten times a second. */
const duringCommits = async <T>({ file }: Environment, use: () => Promise<T>) => {
  const program = fork(script, ['write', file])
  await once(program, 'message')
  try {
    return await use()
  } finally {
    const ended = once(program, 'exit')
    program.kill()
    await ended
  }
}

/** Measures one method: alone, while another program commits, and its effect on reads and creates. */
const measureMethod = async (environment: Environment, name: string, rounds: number) => {
  const method = methods[name as keyof typeof methods]
  const samples = {
    reads: [] as Sample[],
    readsDuring: [] as Sample[],
    creates: [] as Sample[],
    createsDuring: [] as Sample[]
  }
  const during = (workload: typeof read) =>
    repeatDuring(
      () => method(environment),
      () => environment.measure(workload, { seconds: SECONDS })
    )
  const alone: number[] = []
  const withCommits: number[] = []
  for (let round = 0; round < rounds; round++) {
    alone.push(await timeOf(method, environment))
    withCommits.push(await duringCommits(environment, () => timeOf(method, environment)))
    samples.reads.push(await environment.measure(read, { seconds: SECONDS }))
    samples.readsDuring.push((await during(read)).measured)
    samples.creates.push(await environment.measure(create, { seconds: SECONDS }))
    samples.createsDuring.push((await during(create)).measured)
  }
  return { name, alone, withCommits, ...samples }
}
type Measured = Awaited<ReturnType<typeof measureMethod>>

const rowsOf = ({ name, reads, readsDuring, creates, createsDuring }: Measured) => [
  sampleRow('read', reads),
  sampleRow(`read during ${name}`, readsDuring),
  sampleRow('create', creates),
  sampleRow(`create during ${name}`, createsDuring)
]

const figuresOf = ({ name, alone, withCommits, reads, readsDuring, createsDuring }: Measured) => {
  const share = ratioOf('perSecond', readsDuring, reads)
  const p99 = medianOf(createsDuring, 'p99')
  return [
    {
      name: `${name}, s; with 10 commits a second of another program, s`,
      value: `${milliseconds(median(alone))}; ${milliseconds(median(withCommits))}`,
      target: below(median(withCommits) / median(alone), 2, ' times')
    },
    { name: `reads during ${name}, share`, value: ratio(share), target: atLeast(share, MIN_SHARE_OF_READS) },
    { name: `p99 of creates during ${name}, ms`, value: milliseconds(p99), target: below(p99, MAX_P99_MS) }
  ]
}

/** Makes backups repeatedly, alone and during reads and creates. Compares them with VACUUM INTO. */
export const runBackup = (context: Context) =>
  withEnvironment(context, { tables: [TABLE, CREATE_TABLE], rows: context.plan.backupRows }, async (environment) => {
    const { file } = environment
    const size = statSync(file).size
    await environment.measure(create, { seconds: WARM_UP_SECONDS })
    const measured: Measured[] = []
    for (const name of Object.keys(methods)) measured.push(await measureMethod(environment, name, context.plan.backups))
    return [
      `Database: ${mebibytes(size)} MiB at first, ${mebibytes(statSync(file).size)} MiB at the end; WAL: ${mebibytes(statSync(`${file}-wal`).size)} MiB.`,
      alignedTable([SAMPLE_HEAD, ...measured.flatMap(rowsOf)]),
      figureTable(measured.flatMap(figuresOf))
    ].join('\n')
  })
