import { logIn } from '../client.ts'
import type { Context } from '../context.ts'
import { withEnvironment } from '../environment.ts'
import { repeatDuring } from '../repeat-during.ts'
import { alignedTable, below, figureTable, ratio } from '../report.ts'
import { ratioOf, SAMPLE_HEAD, type Sample, sampleRow } from '../sample.ts'
import { findWorkload, ROWS, TABLE } from '../workloads.ts'

const LOGINS = 50
const MAX_P99_RATIO = 2
/** About the time that 50 logins take. */
const READING_SECONDS = 1

const read = findWorkload('read')

const logInConcurrently = (address: string) => Promise.all(Array.from({ length: LOGINS }, () => logIn(address)))

/** Reads by key: alone, and during 50 concurrent logins. */
export const runLogins = (context: Context) =>
  withEnvironment(context, { tables: [TABLE], rows: ROWS }, async ({ measure, service }) => {
    const alone: Sample[] = []
    const during: Sample[] = []
    const measureReads = () => measure(read, { seconds: READING_SECONDS })
    await measureReads()
    for (let round = 0; round < context.plan.rounds; round++) {
      alone.push(await measureReads())
      const logins = () => logInConcurrently(service.address)
      during.push((await repeatDuring(logins, measureReads)).measured)
    }
    const slower = ratioOf('p99', during, alone)
    return [
      alignedTable([SAMPLE_HEAD, sampleRow('read', alone), sampleRow(`read during ${LOGINS} logins`, during)]),
      figureTable([{ name: 'p99 of reads', value: `${ratio(slower)} times`, target: below(slower, MAX_P99_RATIO) }])
    ].join('\n')
  })
