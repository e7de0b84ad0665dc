import { once } from 'node:events'
import { statSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { PASSWORD, temporaryDirectory } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { createClient } from './http-client.ts'

const MIB = 1024 * 1024
/** About 50 MB in total: much more than the socket buffers of a client that does not read its response. */
const ROWS = 5000
const ROW_SIZE = 10_000
/** Bytes of each written value: a hundred pages of WAL. */
const VALUE_SIZE = 400_000
/** At least 120 MB of WAL, so that a WAL that is never checkpointed exceeds the limit. */
const UPDATES = Math.max(300, scaled(3000))
const WRITERS = 4
const MAX_WAL_MIB = 64

const file = join(temporaryDirectory(t), 'large.sqlite')
const setUp = new BetterSqlite3(file)
setUp.exec(`CREATE TABLE large (id INTEGER PRIMARY KEY, text TEXT);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
    INSERT INTO large SELECT i, printf('%0${ROW_SIZE}d', i) FROM n;
  CREATE TABLE changed (id INTEGER PRIMARY KEY, text TEXT);
  INSERT INTO changed (id) VALUES (1), (2), (3), (4)`)
setUp.close()

const service = await startService(t, { DATABASE: file })
const { host, port } = service
const client = createClient(t, service, 2 * WRITERS)
const headers = await client.logIn('admin', PASSWORD)
const importTable = async (name: string): Promise<string> =>
  `/admin/tables/${(await client.dataOf({ method: 'POST', path: '/admin/tables/import', headers, body: { name } })).id}`
const [large, changed] = [await importTable('large'), await importTable('changed')]

/** Starts an export. The client receives the headers, and does not read the body before `rowsOf`. */
const beginExport = async (query: string) => {
  const sent = request({ host, port, path: `${large}/export${query}`, headers }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}

/** Reads and parses the lines after the header line. A malformed line has the key NaN. */
const rowsOf = async (response: IncomingMessage) => {
  const lines = (await text(response)).split('\r\n').slice(1, -1)
  return lines.map((line) => {
    const [, key, isChanged] = /^(\d+),"\d+( changed)?"$/.exec(line) ?? []
    return { key: Number(key), isChanged: isChanged !== undefined }
  })
}

const put = (path: string, text: string) => client.dataOf({ method: 'PUT', path, headers, body: { text } })

const markAsChanged = (key: number) => put(`${large}/data/${key}`, ' changed'.padStart(ROW_SIZE, '0'))

/** Writes and reads alternately. Returns the maximum size of the WAL in bytes. */
const writeAndRead = async (key: number, isDone: () => boolean) => {
  let largest = 0
  for (let count = 0; !isDone(); count += 1) {
    await put(`${changed}/data/${key}`, String(count % 10).repeat(VALUE_SIZE))
    await client.dataOf({ path: `${large}/data?page=${1 + (count % ROWS)}&size=1`, headers })
    largest = Math.max(largest, statSync(`${file}-wal`).size)
  }
  return largest
}

const writeConcurrently = async () => {
  let done = 0
  const isDone = () => {
    done += 1
    return done > UPDATES
  }
  const sizes = await Promise.all(Array.from({ length: WRITERS }, (_, writer) => writeAndRead(writer + 1, isDone)))
  return Math.max(...sizes) / MIB
}

t.test(
  'exports whose clients stop reading do not block WAL checkpoints, and are complete when the clients continue',
  async (t) => {
    t.setTimeout(120_000)
    const exports = [await beginExport(''), await beginExport('?order=-text')]
    const start = performance.now()
    // The last row of each export.
    for (const key of [1, ROWS]) await markAsChanged(key)
    const largest = await writeConcurrently()
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    t.comment(
      `${UPDATES} changes of ${VALUE_SIZE / 1000} kB in ${seconds} s; the WAL had at most ${largest.toFixed(1)} MiB`
    )
    t.ok(largest <= MAX_WAL_MIB, `${largest} MiB`)
    const [byKey = [], byText = []] = await Promise.all(exports.map(rowsOf))
    const everyKey = Array.from({ length: ROWS }, (_, index) => index + 1)
    t.strictSame(
      byKey.map(({ key }) => key),
      everyKey
    )
    t.strictSame(
      byText.map(({ key }) => key),
      everyKey.toReversed()
    )
    for (const rows of [byKey, byText])
      t.ok(rows.at(-1)?.isChanged, 'the last row was read from the database after the client continued')
  }
)
