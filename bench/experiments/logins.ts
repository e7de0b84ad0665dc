import { beside } from '../beside.ts'
import type { Context } from '../context.ts'
import { alignedTable, below, figureTable, ratio } from '../report.ts'
import { ratioOf, SAMPLE_HEAD, type Sample, sampleRow } from '../sample.ts'
import { logIn } from '../service.ts'
import { withStage } from '../stage.ts'
import { ROWS, TABLE, workload } from '../workloads.ts'

const LOGINS = 50
const MOST_SLOWER = 2
/** About as long as 50 logins take. */
const READING_SECONDS = 1

const read = workload('read')

const logInAtOnce = (address: string) => Promise.all(Array.from({ length: LOGINS }, () => logIn(address)))

/** Reads by key, alone and while 50 administrators log in at once, over and over. */
export const runLogins = (context: Context) =>
  withStage(context, { tables: [TABLE], rows: ROWS }, async ({ measure, service }) => {
    const alone: Sample[] = []
    const during: Sample[] = []
    const measureReads = () => measure(read, { seconds: READING_SECONDS })
    await measureReads()
    for (let round = 0; round < context.plan.rounds; round++) {
      alone.push(await measureReads())
      const logins = () => logInAtOnce(service.address)
      during.push((await beside(logins, measureReads)).measured)
    }
    const slower = ratioOf('p99', during, alone)
    return [
      alignedTable([SAMPLE_HEAD, sampleRow('read', alone), sampleRow(`read during ${LOGINS} logins`, during)]),
      figureTable([{ name: 'p99 of reads', value: `${ratio(slower)} times`, target: below(slower, MOST_SLOWER) }])
    ].join('\n')
  })
