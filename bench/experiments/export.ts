import { get } from 'node:http'
import { beside } from '../beside.ts'
import type { Context } from '../context.ts'
import { alignedTable, atLeast, below, figureTable, mebibytes, milliseconds } from '../report.ts'
import { SAMPLE_HEAD, type Sample, sampleRow } from '../sample.ts'
import { type Stage, withStage } from '../stage.ts'
import { median, medianOf } from '../statistics.ts'
import { TABLE, workload } from '../workloads.ts'

const SLOWEST_MB = 50
const MOST_MEMORY_MIB = 200
const MOST_P99_MS = 10
/** As long as an export takes, or two. */
const READING_SECONDS = 3

const read = workload('read')

const download = (url: string, headers: { readonly cookie: string }) =>
  new Promise<number>((resolve, reject) => {
    get(url, { headers }, (answer) => {
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      answer.on('error', reject)
      answer.on('end', () => (answer.statusCode === 200 ? resolve(bytes) : reject(new Error('The export failed.'))))
    }).on('error', reject)
  })

/** Megabytes (of a million bytes) a second. */
const exportOnce = async ({ service, tableId, session }: Stage) => {
  const start = performance.now()
  const bytes = await download(`${service.address}/admin/tables/${tableId}/export`, session)
  return bytes / 1000 / (performance.now() - start)
}

/** A large table as CSV, over and over: alone, and beside reads by key. */
export const runExport = (context: Context) =>
  withStage(context, { tables: [TABLE], rows: context.plan.exportedRows }, async (stage) => {
    const alone: number[] = []
    const besideReads: number[] = []
    const reads: Sample[] = []
    const readsBeside: Sample[] = []
    await stage.measure(read)
    for (let round = 0; round < context.plan.exports; round++) {
      alone.push(await exportOnce(stage))
      reads.push(await stage.measure(read))
      const { measured, results } = await beside(
        () => exportOnce(stage),
        () => stage.measure(read, { seconds: READING_SECONDS })
      )
      readsBeside.push(measured)
      besideReads.push(...results)
    }
    const { peakMemory } = await stage.service.usage()
    const p99 = medianOf(readsBeside, 'p99')
    const speed = (name: string, speeds: readonly number[]) => ({
      name,
      value: milliseconds(median(speeds)),
      target: atLeast(median(speeds), SLOWEST_MB)
    })
    return [
      alignedTable([SAMPLE_HEAD, sampleRow('read', reads), sampleRow('read beside exports', readsBeside)]),
      figureTable([
        speed('export, MB/s', alone),
        speed('export beside reads, MB/s', besideReads),
        {
          name: 'peak memory, MiB',
          value: mebibytes(peakMemory),
          target: below(peakMemory / 2 ** 20, MOST_MEMORY_MIB)
        },
        {
          name: 'p99 of reads beside exports, ms',
          value: milliseconds(p99),
          target: below(p99, MOST_P99_MS)
        }
      ])
    ].join('\n')
  })
