import { get } from 'node:http'
import type { Context } from '../context.ts'
import { type Environment, withEnvironment } from '../environment.ts'
import { repeatDuring } from '../repeat-during.ts'
import { alignedTable, atLeast, below, figureTable, mebibytes, milliseconds } from '../report.ts'
import { SAMPLE_HEAD, type Sample, sampleRow } from '../sample.ts'
import { median, medianOf } from '../statistics.ts'
import { findWorkload, TABLE } from '../workloads.ts'

const MIN_MB_PER_SECOND = 50
const MAX_MEMORY_MIB = 200
const MAX_P99_MS = 10
/** Time for one or two exports. */
const READING_SECONDS = 3

const read = findWorkload('read')

const download = (url: string, headers: { readonly cookie: string }) =>
  new Promise<number>((resolve, reject) => {
    get(url, { headers }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      response.on('error', reject)
      response.on('end', () => (response.statusCode === 200 ? resolve(bytes) : reject(new Error('The export failed.'))))
    }).on('error', reject)
  })

/** Returns the speed of an export in megabytes (of a million bytes) per second. */
const exportOnce = async ({ service, tableId, session }: Environment) => {
  const start = performance.now()
  const bytes = await download(`${service.address}/admin/tables/${tableId}/export`, session)
  return bytes / 1000 / (performance.now() - start)
}

/** Exports a large table as CSV repeatedly: alone, and during reads by key. */
export const runExport = (context: Context) =>
  withEnvironment(context, { tables: [TABLE], rows: context.plan.exportedRows }, async (environment) => {
    const alone: number[] = []
    const duringReads: number[] = []
    const reads: Sample[] = []
    const readsDuring: Sample[] = []
    await environment.measure(read)
    for (let round = 0; round < context.plan.exports; round++) {
      alone.push(await exportOnce(environment))
      reads.push(await environment.measure(read))
      const { measured, results } = await repeatDuring(
        () => exportOnce(environment),
        () => environment.measure(read, { seconds: READING_SECONDS })
      )
      readsDuring.push(measured)
      duringReads.push(...results)
    }
    const { peakMemory } = await environment.service.usage()
    const p99 = medianOf(readsDuring, 'p99')
    const speed = (name: string, speeds: readonly number[]) => ({
      name,
      value: milliseconds(median(speeds)),
      target: atLeast(median(speeds), MIN_MB_PER_SECOND)
    })
    return [
      alignedTable([SAMPLE_HEAD, sampleRow('read', reads), sampleRow('read during exports', readsDuring)]),
      figureTable([
        speed('export, MB/s', alone),
        speed('export during reads, MB/s', duringReads),
        {
          name: 'peak memory, MiB',
          value: mebibytes(peakMemory),
          target: below(peakMemory / 2 ** 20, MAX_MEMORY_MIB)
        },
        {
          name: 'p99 of reads during exports, ms',
          value: milliseconds(p99),
          target: below(p99, MAX_P99_MS)
        }
      ])
    ].join('\n')
  })
