import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import t from 'tap'
import {
  asAdmin,
  asToken,
  bearer,
  client,
  createTable,
  dataOf,
  expectError,
  issueKey,
  startApp
} from '../../helpers.ts'

const NOON = Date.parse('2026-11-27T12:00:00Z')
const DAY = 24 * 60 * 60 * 1000

let now = NOON
const app = await startApp(t, { clock: () => now })
const admin = await asAdmin(app)
await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })

const issue = async () =>
  dataOf(await admin.post('/admin/tokens', { name: 'shop', permissions: { tables: ['cats'], actions: ['read'] } }))
const usesOf = async (id: number) => dataOf(await admin.get(`/admin/tokens/${id}/uses`))

t.test('requests are listed at once, with those that were refused', async (t) => {
  const { id, token } = await issue()
  const reader = client(app, bearer(token))
  t.strictSame(await usesOf(id), [])
  dataOf(await reader.get('/data/cats'))
  dataOf(await reader.get('/data/_me'))
  expectError(t, await reader.get('/data/cats/records/7'), 404, 'RECORD_NOT_FOUND')
  expectError(t, await reader.post('/data/cats/records', {}), 403, 'ACTION_NOT_ALLOWED')
  t.strictSame(await usesOf(id), [{ day: '2026-11-27', requests: 4, refused: 1, failed: 0 }])
})

t.test('a request without a valid token is not counted', async (t) => {
  const { id, token } = await issue()
  const reader = client(app, bearer(token))
  dataOf(await reader.get('/data/cats'))
  dataOf(await admin.put(`/admin/tokens/${id}`, { isActive: false }))
  expectError(t, await reader.get('/data/cats'), 401, 'INVALID_TOKEN')
  t.strictSame(await usesOf(id), [{ day: '2026-11-27', requests: 1, refused: 0, failed: 0 }])
})

t.test('a failure of the service is counted', async (t) => {
  const { id, token } = await issue()
  const { list } = app.records
  app.records.list = () => Promise.reject(new Error('broken'))
  const response = await client(app, bearer(token)).get('/data/cats')
  app.records.list = list
  t.equal(response.statusCode, 500)
  t.strictSame(await usesOf(id), [{ day: '2026-11-27', requests: 1, refused: 0, failed: 1 }])
})

t.test('saved and unsaved uses of a day are one row, and the latest day is the first', async (t) => {
  const { id, token } = await issue()
  const reader = client(app, bearer(token))
  dataOf(await reader.get('/data/cats'))
  await app.dailyUses.flush()
  dataOf(await reader.get('/data/cats'))
  now = NOON + DAY
  dataOf(await reader.get('/data/cats'))
  now = NOON
  t.strictSame(await usesOf(id), [
    { day: '2026-11-28', requests: 1, refused: 0, failed: 0 },
    { day: '2026-11-27', requests: 2, refused: 0, failed: 0 }
  ])
})

t.test('a request whose client left is counted', async (t) => {
  const { id, token } = await issue()
  if (!app.server.listening) await app.listen({ port: 0 })
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port)
  socket.write(
    `POST /data/cats/query HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`
  )
  while ((await usesOf(id)).length === 0) await new Promise((resolve) => setImmediate(resolve))
  socket.destroy()
  await once(socket, 'close')
  t.match(await usesOf(id), [{ requests: 1 }])
})

t.test('an unknown token is not found, and a revoked one neither', async (t) => {
  const { id, token } = await issue()
  dataOf(await client(app, bearer(token)).get('/data/cats'))
  t.equal((await admin.get(`/admin/tokens/${id}/uses`)).statusCode, 200)
  dataOf(await admin.delete(`/admin/tokens/${id}`))
  await app.dailyUses.flush()
  expectError(t, await admin.get(`/admin/tokens/${id}/uses`), 404, 'TOKEN_NOT_FOUND')
  expectError(t, await admin.get('/admin/tokens/999999/uses'), 404, 'TOKEN_NOT_FOUND')
})

t.test('an admin key needs the scope tokens', async (t) => {
  const { id } = await issue()
  const path = `/admin/tokens/${id}/uses`
  const { key } = await issueKey(admin, ['tokens'])
  t.equal((await client(app, bearer(key)).get(path)).statusCode, 200)
  const { key: other } = await issueKey(admin, ['roles'])
  expectError(t, await client(app, bearer(other)).get(path), 403, 'ADMIN_KEY_NOT_ALLOWED')
  const reader = await asToken(app, admin)
  expectError(t, await reader.get(path), 401, 'AUTHENTICATION_REQUIRED')
})

t.test('a service that stops saves the uses, also of its last request', async (t) => {
  const stopping = await startApp(t, { clock: () => now })
  const by = await asAdmin(stopping)
  const { id, token } = dataOf(
    await by.post('/admin/tokens', { name: 'shop', permissions: { tables: ['*'], actions: ['read'] } })
  )
  const { database } = stopping
  const saved: unknown[] = []
  const { write } = database
  database.write = async (unit, options) => {
    for (const { sql, params } of unit) if (sql.includes('_rowhouse_token_uses')) saved.push(...params)
    return write(unit, options)
  }
  dataOf(await client(stopping, bearer(token)).get('/data/_me'))
  t.strictSame(saved, [])
  await stopping.close()
  t.strictSame(saved, ['2026-11-27', JSON.stringify([[id, 1, 0, 0]])])
})
