import assert from 'node:assert/strict'
import { createClient, createConfig } from './client/client/index.js'
import * as api from './client/sdk.gen.js'
import type { TableFieldCreate } from './client/types.gen.js'

const { ROWHOUSE_URL: baseUrl = '', ROWHOUSE_TOKEN: token = '', ROWHOUSE_READER_TOKEN: readerToken = '' } = process.env

const withToken = (auth: string) => createClient(createConfig({ baseUrl, auth }))
const client = withToken(token)

const WIDE = '9007199254740993'

const { data: health } = await api.checkLiveness({ client })
assert.equal(health?.data.status, 'ok')
const { data: me } = await api.readIdentity({ client })
assert.equal(me?.data.name, 'main')
assert.ok(me.data.tables.includes('Album'))
assert.deepEqual(me.data.permissions.actions, ['read', 'write'])

const path = { table: 'Album' }
const { data: page } = await api.listRecords({ client, path, query: { size: 2, order: '-Title' } })
assert.equal(page?.data.total, 5)
assert.equal(page.data.rows[0]?.Title, 'Restless and Wild')
const { data: found } = await api.listRecords({ client, path, query: { q: 'rock', page: 1 } })
assert.equal(found?.data.rows.length, 2)
const { data: schema } = await api.readTableSchema({ client, path })
assert.equal(schema?.data.primaryKey, 'AlbumId')
assert.equal(schema.data.fields[0]?.jsonType, 'integer')
const { data: link } = await api.readRecord({ client, path: { table: 'PlaylistTrack', pk: '1,2' } })
assert.deepEqual(link?.data, { PlaylistId: 1, TrackId: 2 })

const { data: created } = await api.createTable({
  client,
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
const { data: extended } = await api.addTableField({
  client,
  path: orders,
  body: { field: { name: 'paid', jsonType: 'boolean', nullable: false, defaultValue: false } }
})
assert.ok(extended?.data.fields.some(({ name }) => name === 'paid'))

const { data: order } = await api.createRecord({
  client,
  path: orders,
  body: { customer: 'Maria', quantity: 2, price: 12.5, note: 'as a gift' }
})
assert.equal(order?.data.id, 1)
assert.equal(order.data.paid, false)
const key = { table: 'orders', pk: '1' }
const { data: updated } = await api.updateRecord({ client, path: key, body: { note: null, paid: true } })
assert.equal(updated?.data.success, true)
const { data: read } = await api.readRecord({ client, path: key })
assert.equal(read?.data.note, null)
assert.equal(read.data.price, 12.5)
const query = { return: 'record' as const }
const { data: repriced } = await api.updateRecord({ client, path: key, query, body: { price: 10 } })
assert.equal(repriced?.data.record?.price, 10)
const { data: increased } = await api.incrementRecord({
  client,
  path: orders,
  query,
  body: { pk: '1', field: 'quantity', count: 3 }
})
assert.equal(increased?.data.record?.quantity, 5)
const { data: counted } = await api.incrementRecord({ client, path: orders, body: { pk: '1', field: 'quantity' } })
assert.deepEqual(counted?.data, { success: true })
const { data: wide } = await api.createRecord({ client, path: orders, body: { customer: 'Jonas', quantity: WIDE } })
assert.equal(wide?.data.quantity, WIDE)

const { data: deleted } = await api.deleteRecord({ client, path: key })
assert.equal(deleted?.data.success, true)
const missing = await api.readRecord({ client, path: key })
assert.equal(missing.response?.status, 404)
assert.equal(missing.error?.error.code, 'RECORD_NOT_FOUND')
const invalid = await api.createRecord({ client, path: orders, body: { customer: 5 } })
assert.equal(invalid.response?.status, 400)
assert.equal(invalid.error?.error.details?.[0]?.path, '/customer')
const forbidden = await api.createRecord({ client: withToken(readerToken), path: orders, body: { customer: 'Eva' } })
assert.equal(forbidden.response?.status, 403)
assert.equal(forbidden.error?.error.code, 'ACTION_NOT_ALLOWED')
const unknown = await api.readIdentity({ client: withToken('wrong') })
assert.equal(unknown.error?.error.code, 'INVALID_TOKEN')

/** Never called: each line is a mistake that must not compile. */
export const mistakes = async () => {
  // @ts-expect-error: the table is missing
  await api.listRecords({ client, query: { size: 2 } })
  // @ts-expect-error: `size` is a number
  await api.listRecords({ client, path, query: { size: '2' } })
  // @ts-expect-error: `field` is missing
  await api.incrementRecord({ client, path, body: { pk: '1' } })
  // @ts-expect-error: `size` is unknown
  const field: TableFieldCreate = { name: 'b', jsonType: 'string', size: 1 }
  await api.createTable({ client, body: { name: 'a', label: 'A', fields: [field] } })
  // @ts-expect-error: the code is unknown
  if (missing.error?.error.code === 'NO_RECORD') return
}
