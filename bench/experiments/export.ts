import { get } from 'node:http'
import { beside } from '../beside.ts'
import type { Context } from '../context.ts'
import { alignedTable, atLeast, below, figureTable, mebibytes, milliseconds } from '../report.ts'
import { SAMPLE_HEAD, sampleRow } from '../sample.ts'
import { type Stage, withStage } from '../stage.ts'
import { median } from '../statistics.ts'
import { TABLE, workload } from '../workloads.ts'

const SLOWEST_MB = 50
const MOST_MEMORY_MIB = 200
const MOST_P99_MS = 10

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

const repeated = async (times: number, run: () => Promise<number>) => {
  const results: number[] = []
  while (results.length < times) results.push(await run())
  return results
}

/** A large table as CSV, over and over: alone, and beside reads by key. */
export const runExport = (context: Context) =>
  withStage(context, { tables: [TABLE], rows: context.plan.exportedRows }, async (stage) => {
    const { rounds } = context.plan
    const alone = median(await repeated(rounds, () => exportOnce(stage)))
    const reads = await stage.measure(read)
    const exporting = () => exportOnce(stage)
    const { measured, results } = await beside(exporting, () => stage.measure(read, { seconds: 2 * rounds }))
    const { peakMemory } = await stage.service.usage()
    return [
      alignedTable([SAMPLE_HEAD, sampleRow('read', [reads]), sampleRow('read beside exports', [measured])]),
      figureTable([
        { name: 'export, MB/s', value: milliseconds(alone), target: atLeast(alone, SLOWEST_MB) },
        {
          name: 'export beside reads, MB/s',
          value: milliseconds(median(results)),
          target: atLeast(median(results), SLOWEST_MB)
        },
        {
          name: 'peak memory, MiB',
          value: mebibytes(peakMemory),
          target: below(peakMemory / 2 ** 20, MOST_MEMORY_MIB)
        },
        {
          name: 'p99 of reads beside exports, ms',
          value: milliseconds(measured.p99),
          target: below(measured.p99, MOST_P99_MS)
        }
      ])
    ].join('\n')
  })
