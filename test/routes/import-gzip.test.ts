import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import {
  asAdmin,
  bearer,
  client,
  createTable,
  dataOf,
  expectData,
  expectError,
  issueToken,
  logIn,
  startApp
} from '../helpers.ts'

const LIMIT = 4_000_000
const app = await startApp(t, { env: { IMPORT_LIMIT: String(LIMIT) } })
const admin = await asAdmin(app)
const cats = await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
const token = bearer(await issueToken(admin, { tables: ['cats'], actions: ['read', 'write'] }))
const url = '/data/cats/import'

const asFile = (headers: Record<string, string>, type: string, coding = 'gzip') =>
  client(app, { ...headers, 'content-type': type, 'content-encoding': coding })
const csv = asFile(token, 'text/csv')
const totalOf = async () => dataOf(await admin.get(`/admin/tables/${cats.id}/data`)).total
const imported = (rows: number) => ({
  rows,
  created: rows,
  updated: 0,
  atomic: rows <= 5000,
  dryRun: false
})

t.test('a compressed file is imported, in each format', async (t) => {
  const files = {
    'text/csv': 'name\nTom\n',
    'application/x-ndjson': '{"name":"Tim"}\n',
    'application/json': '[{"name":"Kit"}]'
  }
  for (const [type, text] of Object.entries(files)) {
    expectData(t, await asFile(token, type).post(url, gzipSync(text)), imported(1))
    expectData(t, await asFile(token, type, 'GZIP').post(url, gzipSync(text)), imported(1))
    expectData(t, await asFile(token, type, 'identity').post(url, text), imported(1))
  }
  const { headers } = csv
  const asAdministrator = client(app, { ...headers, ...(await logIn(app)) })
  expectData(t, await asAdministrator.post(`/admin/tables/${cats.id}/import`, gzipSync('name\nAda\n')), imported(1))
  const lines = Array.from({ length: 50_000 }, () => `${randomBytes(16).toString('hex')}\n`).join('')
  expectData(t, await csv.post(url, gzipSync(`name\n${lines}`)), imported(50_000))
})

t.test('a table is created from a compressed file', async (t) => {
  const asAdministrator = asFile(await logIn(app), 'text/csv')
  const create = (name: string, body: Buffer) =>
    asAdministrator.post(`/admin/tables/from-file?name=${name}&label=${name}`, body)
  const lines = Array.from({ length: 30_000 }, (_, index) => `${index},${randomBytes(8).toString('hex')}\n`).join('')
  const file = gzipSync(`id,name\n${lines}`)
  t.match(dataOf(await create('dogs', file)), { created: 30_000, table: { name: 'dogs' } })
  expectError(t, await create('birds', file.subarray(0, -1)), 400, 'IMPORT_FAILED')
  expectError(t, await create('birds', Buffer.from('id\n1\n')), 400, 'IMPORT_FAILED')
  const names = dataOf(await admin.get('/admin/tables')).map(({ name }: { name: string }) => name)
  t.strictSame(names, ['cats', 'dogs'])
})

t.test('an incomplete or corrupt file changes nothing', async (t) => {
  const before = await totalOf()
  const file = gzipSync(`name\n${'Tom\n'.repeat(20_000)}`)
  for (const body of [file.subarray(0, -9), Buffer.from('name\nTom\n'), Buffer.concat([file, Buffer.from('x')])]) {
    const response = await csv.post(url, body)
    expectError(t, response, 400, 'IMPORT_FAILED', '')
    t.match(response.json().error, { total: 1, details: [{ code: 'gzip' }] })
  }
  t.equal(await totalOf(), before)
})

t.test('the limits are those of the decompressed file', async (t) => {
  const before = await totalOf()
  const random = randomBytes(LIMIT / 2).toString('hex')
  const file = (bytes: number) => gzipSync(`name\n${random.slice(0, bytes - 6)}\n`)
  expectError(t, await csv.post(url, file(LIMIT + 1)), 413, 'BODY_TOO_LARGE')
  expectData(t, await csv.post(`${url}?dryRun=true`, file(LIMIT)), { ...imported(1), dryRun: true })
  const dense = await csv.post(url, gzipSync(`name\n${'x'.repeat(3_000_000)}\n`))
  expectError(t, dense, 413, 'BODY_TOO_LARGE')
  t.match(dense.json().error, { message: /200 times/, hint: /without Content-Encoding/ })
  t.equal(await totalOf(), before)
})

t.test('an Idempotency-Key belongs to the file, compressed or not', async (t) => {
  const before = await totalOf()
  const text = 'name\nOnce\n'
  const key = { 'idempotency-key': 'gzip-1' }
  expectData(t, await asFile({ ...token, ...key }, 'text/csv').post(`${url}?atomic=true`, gzipSync(text)), imported(1))
  const repeated = await asFile({ ...token, ...key }, 'text/csv', 'identity').post(`${url}?atomic=true`, text)
  expectData(t, repeated, imported(1))
  t.equal(repeated.headers['idempotency-replayed'], 'true')
  t.equal(await totalOf(), before + 1)
})

t.test('only gzip is taken, and only by imports', async (t) => {
  for (const coding of ['br', 'deflate', 'zstd', 'gzip, gzip', 'identity, gzip']) {
    const response = await asFile(token, 'text/csv', coding).post(url, gzipSync('name\nTom\n'))
    expectError(t, response, 415, 'UNSUPPORTED_MEDIA_TYPE')
    t.match(response.json().error.hint, /An import also takes gzip/)
  }
  const record = gzipSync('{"name":"Tom"}')
  expectError(
    t,
    await asFile(token, 'application/json').post('/data/cats/records', record),
    415,
    'UNSUPPORTED_MEDIA_TYPE'
  )
  expectError(t, await asFile(token, 'text/plain').post(url, gzipSync('name\nTom\n')), 415, 'UNSUPPORTED_MEDIA_TYPE')
})

t.test('a compressed file without its header gets the name of the header', async (t) => {
  const before = await totalOf()
  for (const type of ['text/csv', 'application/json']) {
    const refused = await asFile(token, type, 'identity').post(url, gzipSync('name\nTom\n'))
    expectError(t, refused, 415, 'UNSUPPORTED_MEDIA_TYPE')
    t.equal(refused.json().error.hint, 'Send the header Content-Encoding: gzip.')
  }
  const other = await asFile(token, 'application/gzip').post(url, gzipSync('name\nTom\n'))
  expectError(t, other, 415, 'UNSUPPORTED_MEDIA_TYPE')
  t.match(other.json().error.hint, /also send Content-Encoding: gzip/)
  t.equal(await totalOf(), before)
})

t.test('a client that disconnects imports nothing', async (t) => {
  const before = await totalOf()
  await app.listen({ port: 0 })
  const { port } = app.server.address() as AddressInfo
  const stagingFiles = () => readdirSync(join(app.config.DATA_DIR, 'staging')).length
  const lines = Array.from({ length: 50_000 }, () => `${randomBytes(16).toString('hex')}\n`).join('')
  const file = gzipSync(`name\n${lines}`)
  const send = () => {
    const sent = request({ port, path: url, method: 'POST', headers: csv.headers })
    sent.on('error', () => {})
    return sent
  }
  const incomplete = send()
  incomplete.write(file.subarray(0, file.length / 2))
  while (stagingFiles() === 0) await setImmediate()
  incomplete.destroy()
  while (stagingFiles() > 0) await setImmediate()
  t.equal(await totalOf(), before)

  const complete = send()
  complete.end(file)
  const [response] = await once(complete, 'response')
  t.equal(response.statusCode, 200)
  response.resume()
  t.equal(await totalOf(), before + 50_000)
})
