import assert from 'node:assert/strict'
import createClient from 'openapi-fetch'
import type { paths } from './client.js'

const { ROWHOUSE_URL: baseUrl = '', ROWHOUSE_TOKEN: token, ROWHOUSE_READER_TOKEN: readerToken } = process.env

const withToken = (secret?: string) => createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${secret}` } })
const main = withToken(token)
const reader = withToken(readerToken)

const WIDE = '9007199254740993'

const { data: health } = await main.GET('/health')
assert.equal(health?.data.status, 'ok')
const { data: me } = await main.GET('/data/_me')
assert.equal(me?.data.name, 'main')
assert.ok(me.data.tables.includes('Album'))
assert.deepEqual(me.data.permissions.actions, ['read', 'write'])

const path = { table: 'Album' }
const { data: page } = await main.GET('/data/{table}', { params: { path, query: { size: 2, order: '-Title' } } })
assert.equal(page?.data.total, 5)
assert.equal(page.data.rows[0]?.Title, 'Restless and Wild')
const { data: found } = await main.GET('/data/{table}', { params: { path, query: { q: 'rock', page: 1 } } })
assert.equal(found?.data.rows.length, 2)
const { data: schema } = await main.GET('/data/{table}/schema', { params: { path } })
assert.equal(schema?.data.primaryKey, 'AlbumId')
assert.equal(schema.data.fields[0]?.jsonType, 'integer')
const { data: link } = await main.GET('/data/{table}/records/{pk}', {
  params: { path: { table: 'PlaylistTrack', pk: '1,2' } }
})
assert.deepEqual(link?.data, { PlaylistId: 1, TrackId: 2 })

const { data: created } = await main.POST('/data/_schema/tables', {
  body: {
    name: 'orders',
    label: 'Orders',
    fields: [
      { name: 'customer', jsonType: 'string', nullable: false },
      { name: 'quantity', jsonType: 'integer' },
      { name: 'price', jsonType: 'number' },
      { name: 'note', jsonType: 'string' }
    ],
    autoTimestamps: true
  }
})
assert.equal(created?.data.name, 'orders')
assert.ok(created.data.createdAt > 2 ** 40)
const orders = { table: 'orders' }
const { data: extended } = await main.POST('/data/_schema/tables/{table}/fields', {
  params: { path: orders },
  body: { field: { name: 'paid', jsonType: 'boolean', nullable: false, defaultValue: false } }
})
assert.ok(extended?.data.fields.some(({ name }) => name === 'paid'))

const { data: order } = await main.POST('/data/{table}/records', {
  params: { path: orders },
  body: { customer: 'Maria', quantity: 2, price: 12.5, note: 'as a gift' }
})
assert.equal(order?.data.id, 1)
assert.equal(order.data.paid, false)
const key = { path: { table: 'orders', pk: '1' } }
const { data: updated } = await main.PUT('/data/{table}/records/{pk}', {
  params: key,
  body: { note: null, paid: true }
})
assert.equal(updated?.data.success, true)
const { data: read } = await main.GET('/data/{table}/records/{pk}', { params: key })
assert.equal(read?.data.note, null)
assert.equal(read.data.price, 12.5)
const returning = { query: { return: 'record' as const } }
const { data: repriced } = await main.PUT('/data/{table}/records/{pk}', {
  params: { ...key, ...returning },
  body: { price: 10 }
})
assert.equal(repriced?.data.record?.price, 10)
const { data: increased } = await main.POST('/data/{table}/incr', {
  params: { path: orders, ...returning },
  body: { pk: '1', field: 'quantity', count: 3 }
})
assert.equal(increased?.data.record?.quantity, 5)
const { data: counted } = await main.POST('/data/{table}/incr', {
  params: { path: orders },
  body: { pk: '1', field: 'quantity' }
})
assert.deepEqual(counted?.data, { success: true })
const { data: wide } = await main.POST('/data/{table}/records', {
  params: { path: orders },
  body: { customer: 'Jonas', quantity: WIDE }
})
assert.equal(wide?.data.quantity, WIDE)

const { data: deleted } = await main.DELETE('/data/{table}/records/{pk}', { params: key })
assert.equal(deleted?.data.success, true)
const missing = await main.GET('/data/{table}/records/{pk}', { params: key })
assert.equal(missing.response.status, 404)
assert.equal(missing.error?.error.code, 'RECORD_NOT_FOUND')
const invalid = await main.POST('/data/{table}/records', { params: { path: orders }, body: { customer: 5 } })
assert.equal(invalid.response.status, 400)
assert.equal(invalid.error?.error.details?.[0]?.path, '/customer')
const forbidden = await reader.POST('/data/{table}/records', { params: { path: orders }, body: { customer: 'Eva' } })
assert.equal(forbidden.response.status, 403)
assert.equal(forbidden.error?.error.code, 'ACTION_NOT_ALLOWED')
const unknown = await withToken('wrong').GET('/data/_me')
assert.equal(unknown.error?.error.code, 'INVALID_TOKEN')

/** Never called: each line is a mistake that must not compile. */
export const mistakes = async () => {
  // @ts-expect-error: the path is unknown
  await main.GET('/data/{table}/columns', { params: { path } })
  // @ts-expect-error: the table is missing
  await main.GET('/data/{table}', { params: { query: { size: 2 } } })
  // @ts-expect-error: `size` is a number
  await main.GET('/data/{table}', { params: { path, query: { size: '2' } } })
  // @ts-expect-error: `field` is missing
  await main.POST('/data/{table}/incr', { params: { path }, body: { pk: '1' } })
  // @ts-expect-error: the code is unknown
  if (missing.error?.error.code === 'NO_RECORD') return
}
