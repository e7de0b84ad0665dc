import t from 'tap'
import { asAdmin, createTable, dataOf, logIn, startApp } from '../../helpers.ts'
import { isOnCluster } from '../../rqlite/cluster.ts'

const startedAt = 1_767_225_600_000
const app = await startApp(t, { clock: () => startedAt })
const admin = await asAdmin(app)
const status = async () => dataOf(await admin.get('/admin/status'))

t.test('returns the version, the time of the start and the sizes of the files', async (t) => {
  const table = await createTable(admin, { name: 'notes', fields: [{ name: 'text', jsonType: 'string' }] })
  dataOf(await admin.post(`/admin/tables/${table.id}/data`, { text: 'x'.repeat(10_000) }))
  const { version, walBytes, databaseBytes, ...others } = await status()
  t.match(version, /^\d+\.\d+\.\d+/)
  // The files of a cluster are on its nodes.
  t.equal(walBytes > 10_000, !isOnCluster, 'the record is in the write-ahead log')
  t.ok(databaseBytes >= 4096)
  t.match(others, { startedAt, slowScans: [] })
})

t.test('counts requests, and those that were refused', async (t) => {
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const { cookie } = await logIn(app)
  const before = (await status()).requests
  t.equal((await fetch(`${url}/admin/status`, { headers: { cookie } })).status, 200)
  t.equal((await fetch(`${url}/admin/status`)).status, 401)
  t.same((await status()).requests, {
    received: before.received + 2,
    refused: before.refused + 1,
    failed: 0,
    aborted: 0
  })
})

t.test('counts requests that failed', async (t) => {
  const { fileSizes } = app.database
  t.teardown(() => Object.assign(app.database, { fileSizes }))
  Object.assign(app.database, { fileSizes: () => Promise.reject(new Error('an unexpected failure')) })
  const before = app.errorCounts.failed
  t.equal((await admin.get('/admin/status')).statusCode, 500)
  t.equal(app.errorCounts.failed, before + 1)
})
