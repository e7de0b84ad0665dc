import { createReadStream, createWriteStream } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import BetterSqlite3 from 'better-sqlite3'
import { type Context, withDirectory } from '../context.ts'
import { type Environment, withEnvironment } from '../environment.ts'
import { createDatabase } from '../items.ts'
import { repeatDuring } from '../repeat-during.ts'
import { alignedTable, atLeast, below, figureTable, mebibytes, milliseconds, ratio } from '../report.ts'
import { SAMPLE_HEAD, type Sample, sampleRow } from '../sample.ts'
import { median, medianOf } from '../statistics.ts'
import { CREATE_TABLE, findWorkload, TABLE } from '../workloads.ts'

const MIN_ROWS_PER_SECOND = 100_000
const MAX_MEMORY_MIB = 200
const MAX_P99_MS = 50
const CREATING_SECONDS = 3
/** Connections that create records during an import. */
const CREATING_CONNECTIONS = 4

const create = findWorkload('create')

type Item = readonly [name: string, price: number, qty: number, note: string]

/** The items of the benchmark's table, without their ids. */
function* items(rows: number): Generator<Item> {
  for (let i = 1; i <= rows; i++) {
    const note = `This note belongs to item ${i}, and is about a hundred characters long, as notes often are in tables.`
    yield [`Item ${i}`, ((i * 37) % 100_000) / 100, (i * 7919) % 1000, note]
  }
}

function* linesOf(rows: number) {
  yield 'name,price,qty,note\r\n'
  for (const [name, price, qty, note] of items(rows)) yield `"${name}",${price},${qty},"${note}"\r\n`
}

const upload = ({ service, tableId, session }: Environment, file: string) =>
  new Promise<void>((resolve, reject) => {
    const url = `${service.address}/admin/tables/${tableId}/import`
    const sent = request(url, { method: 'POST', headers: { ...session, 'content-type': 'text/csv' } }, (response) => {
      response.resume()
      response.on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error('The import failed.'))))
    })
    sent.on('error', reject)
    createReadStream(file, { highWaterMark: 256 * 1024 }).pipe(sent)
  })

/** Returns rows per second. */
const speedOf = async (rows: number, store: () => Promise<void> | void) => {
  const start = performance.now()
  await store()
  return (rows / (performance.now() - start)) * 1000
}

/** Inserts the same items with better-sqlite3 alone, in one transaction. */
const insertAlone = (context: Context, rows: number) =>
  withDirectory(context, async (directory) => {
    const file = join(directory, 'alone.db')
    createDatabase(file, [TABLE], 1)
    const db = new BetterSqlite3(file)
    db.pragma('journal_mode = WAL')
    const insert = db.prepare(`INSERT INTO ${TABLE} (name, price, qty, note) VALUES (?, ?, ?, ?)`)
    const speed = await speedOf(rows, () =>
      db.transaction(() => {
        for (const item of items(rows)) insert.run(...item)
      })()
    )
    db.close()
    return speed
  })

/** Imports a large CSV file repeatedly: alone, and while other clients create records in another table. */
export const runImport = (context: Context) =>
  withDirectory(context, async (directory) => {
    const rows = context.plan.exportedRows
    const file = join(directory, 'items.csv')
    await pipeline(Readable.from(linesOf(rows)), createWriteStream(file))
    return withEnvironment(context, { tables: [TABLE, CREATE_TABLE], rows: 1 }, async (environment) => {
      const importOnce = () => speedOf(rows, () => upload(environment, file))
      const amount = { seconds: CREATING_SECONDS, connections: CREATING_CONNECTIONS }
      const imports: number[] = []
      const inserts: number[] = []
      const creates: Sample[] = []
      const createsDuring: Sample[] = []
      for (let round = 0; round < context.plan.exports; round++) {
        inserts.push(await insertAlone(context, rows))
        imports.push(await importOnce())
        creates.push(await environment.measure(create, amount))
        createsDuring.push((await repeatDuring(importOnce, () => environment.measure(create, amount))).measured)
      }
      const { peakMemory } = await environment.service.usage()
      const p99 = medianOf(createsDuring, 'p99')
      const speed = median(imports)
      const share = median(imports.map((one, index) => one / (inserts[index] as number)))
      return [
        `${rows} rows. better-sqlite3 alone inserts ${median(inserts).toFixed(0)} rows/s; import / insert: ${ratio(share)}.`,
        alignedTable([SAMPLE_HEAD, sampleRow('create', creates), sampleRow('create during imports', createsDuring)]),
        figureTable([
          { name: 'import, rows/s', value: speed.toFixed(0), target: atLeast(speed, MIN_ROWS_PER_SECOND) },
          {
            name: 'peak memory, MiB',
            value: mebibytes(peakMemory),
            target: below(peakMemory / 2 ** 20, MAX_MEMORY_MIB)
          },
          { name: 'p99 of creates during imports, ms', value: milliseconds(p99), target: below(p99, MAX_P99_MS) }
        ])
      ].join('\n')
    })
  })
