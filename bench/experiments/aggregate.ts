import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { aggregateRecords } from '../client.ts'
import { type Context, withDirectory } from '../context.ts'
import { type Environment, withEnvironment } from '../environment.ts'
import { createDatabase } from '../items.ts'
import { repeatDuring } from '../repeat-during.ts'
import { alignedTable, below, figureTable, milliseconds, ratio } from '../report.ts'
import { SAMPLE_HEAD, type Sample, sampleRow } from '../sample.ts'
import { median, medianOf } from '../statistics.ts'
import { findWorkload, TABLE } from '../workloads.ts'

const MAX_RATIO = 1.3
const MAX_P99_MS = 10
/** Seconds of reads beside aggregates. */
const READING_SECONDS = 3

const read = findWorkload('read')

/** `REQUEST` as SQL. */
const BARE_SQL = `SELECT qty, count(*) AS records, sum(price) AS total, max(price) AS highest FROM ${TABLE} GROUP BY qty`
const REQUEST = {
  groupBy: ['qty'],
  compute: { records: { count: true }, total: { sum: 'price' }, highest: { max: 'price' } }
}

/** Returns a function that runs the SQL alone, in this process. It returns the milliseconds. */
const openBareSql = (directory: string, rows: number) => {
  const file = join(directory, 'bare.db')
  createDatabase(file, [TABLE], rows)
  const db = new BetterSqlite3(file, { readonly: true })
  db.pragma('cache_size = -65536')
  const statement = db.prepare(BARE_SQL)
  const run = () => {
    const start = performance.now()
    statement.all()
    return performance.now() - start
  }
  return { run, close: () => db.close() }
}

const aggregateOnce = async ({ service, token }: Environment) => {
  const start = performance.now()
  await aggregateRecords(`${service.address}/data/${TABLE}/aggregate`, token, REQUEST)
  return performance.now() - start
}

const runRounds = async (environment: Environment, runBare: () => number, rounds: number) => {
  const bare: number[] = []
  const alone: number[] = []
  const reads: Sample[] = []
  const readsDuring: Sample[] = []
  for (let round = -1; round < rounds; round++) {
    const bareTime = runBare()
    const time = await aggregateOnce(environment)
    const before = await environment.measure(read)
    const { measured } = await repeatDuring(
      () => aggregateOnce(environment),
      () => environment.measure(read, { seconds: READING_SECONDS })
    )
    // The first round opens the files and fills the caches.
    if (round < 0) continue
    bare.push(bareTime)
    alone.push(time)
    reads.push(before)
    readsDuring.push(measured)
  }
  return { bare, alone, reads, readsDuring }
}

/** Groups all rows of a large table: alone, compared with the same SQL, and during reads by key. */
export const runAggregate = (context: Context) =>
  withDirectory(context, async (directory) => {
    const { exportedRows: rows, rounds } = context.plan
    const { run, close } = openBareSql(directory, rows)
    const result = await withEnvironment(context, { tables: [TABLE], rows }, (environment) =>
      runRounds(environment, run, Math.min(rounds, 5))
    )
    close()
    const { bare, alone, reads, readsDuring } = result
    const share = median(alone.map((time, round) => time / (bare[round] as number)))
    const p99 = medianOf(readsDuring, 'p99')
    return [
      `${rows} rows in 1,000 groups: ${milliseconds(median(alone))} ms, as SQL alone ${milliseconds(median(bare))} ms.`,
      alignedTable([SAMPLE_HEAD, sampleRow('read', reads), sampleRow('read during aggregates', readsDuring)]),
      figureTable([
        { name: 'aggregate / SQL alone', value: ratio(share), target: below(share, MAX_RATIO) },
        { name: 'p99 of reads during aggregates, ms', value: milliseconds(p99), target: below(p99, MAX_P99_MS) }
      ])
    ].join('\n')
  })
