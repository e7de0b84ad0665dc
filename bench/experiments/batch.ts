import { sendBatch } from '../client.ts'
import { type Context, withDirectory } from '../context.ts'
import { type Environment, withEnvironment } from '../environment.ts'
import { repeatDuring } from '../repeat-during.ts'
import { alignedTable, atLeast, figureTable, perSecond, ratio } from '../report.ts'
import { SAMPLE_HEAD, type Sample, sampleRow } from '../sample.ts'
import { median } from '../statistics.ts'
import { CREATE_TABLE, findWorkload, newItem, TABLE } from '../workloads.ts'

const MIN_ROWS_PER_SECOND = 60_000
const MIN_SHARE_OF_CREATES = 0.5
const ROWS = 100_000
const BATCH_ROWS = 1000
/** Batches that are on their way at the same time. */
const SENDERS = 4
/** Seconds of single creates beside batches. */
const CREATING_SECONDS = 3

const create = findWorkload('create')

const createBody = () => {
  const operations = Array.from({ length: BATCH_ROWS }, () => ({
    op: 'create',
    table: CREATE_TABLE,
    values: newItem()
  }))
  return JSON.stringify({ operations })
}

/** Loads the rows in batches. The bodies are made before. Returns rows per second. */
const load = async ({ service, token }: Environment, rows: number, senders: number) => {
  const bodies = Array.from({ length: rows / BATCH_ROWS }, createBody)
  const start = performance.now()
  const sendAll = async () => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
      await sendBatch(`${service.address}/data/_batch`, token, body)
    }
  }
  await Promise.all(Array.from({ length: senders }, sendAll))
  return (rows / (performance.now() - start)) * 1000
}

const runRounds = async (environment: Environment, rounds: number) => {
  const rates: number[] = []
  const alone: Sample[] = []
  const during: Sample[] = []
  for (let round = -1; round < rounds; round++) {
    const rate = await load(environment, ROWS, SENDERS)
    const before = await environment.measure(create)
    const { measured } = await repeatDuring(
      () => load(environment, BATCH_ROWS, 1),
      () => environment.measure(create, { seconds: CREATING_SECONDS })
    )
    // The first round opens the files and fills the caches.
    if (round < 0) continue
    rates.push(rate)
    alone.push(before)
    during.push(measured)
  }
  return { rates, alone, during }
}

/** Loads rows in batches: alone, and beside single creates. */
export const runBatches = (context: Context) =>
  withDirectory(context, async () => {
    const { rates, alone, during } = await withEnvironment(
      context,
      { tables: [TABLE, CREATE_TABLE], rows: BATCH_ROWS },
      (environment) => runRounds(environment, Math.min(context.plan.rounds, 5))
    )
    const rate = median(rates)
    const share = median(during.map(({ perSecond }, round) => perSecond / (alone[round] as Sample).perSecond))
    const gain = median(rates.map((value, round) => value / (alone[round] as Sample).perSecond))
    return [
      `${ROWS} rows in batches of ${BATCH_ROWS}, ${SENDERS} at a time: ${ratio(gain)} times the rows of single creates.`,
      alignedTable([SAMPLE_HEAD, sampleRow('create', alone), sampleRow('create during batches', during)]),
      figureTable([
        {
          name: 'rows per second in batches',
          value: perSecond(rate),
          target: atLeast(rate, MIN_ROWS_PER_SECOND)
        },
        { name: 'creates during batches / alone', value: ratio(share), target: atLeast(share, MIN_SHARE_OF_CREATES) }
      ])
    ].join('\n')
  })
