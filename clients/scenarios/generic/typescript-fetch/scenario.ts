import assert from 'node:assert/strict'
import { Configuration, DataApi, type ErrorResponse, ResponseError, ServiceApi } from './client/index.js'

const { ROWHOUSE_URL: basePath = '', ROWHOUSE_TOKEN: token = '', ROWHOUSE_READER_TOKEN: readerToken = '' } = process.env

const withToken = (accessToken: string) => new DataApi(new Configuration({ basePath, accessToken }))
const api = withToken(token)

const WIDE = '9007199254740993'

/** Returns the status and the body of a call that fails. */
const failureOf = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => undefined,
    (reason) => reason
  )
  assert.ok(error instanceof ResponseError)
  const body: ErrorResponse = await error.response.json()
  return { status: error.response.status, error: body.error }
}

const health = await new ServiceApi(new Configuration({ basePath })).checkLiveness()
assert.equal(health.data.status, 'ok')
const { data: me } = await api.readIdentity()
assert.equal(me.name, 'main')
assert.ok(me.tables.includes('Album'))
assert.deepEqual(me.permissions.actions, ['read', 'write'])

const table = 'Album'
const { data: page } = await api.listRecords({ table, size: 2, order: '-Title' })
assert.equal(page.total, 5)
assert.equal(page.rows[0]?.Title, 'Restless and Wild')
const { data: found } = await api.listRecords({ table, q: 'rock', page: 1 })
assert.equal(found.rows.length, 2)
const { data: schema } = await api.readTableSchema({ table })
assert.equal(schema.primaryKey, 'AlbumId')
assert.equal(schema.fields[0]?.jsonType, 'integer')
const { data: link } = await api.readRecord({ table: 'PlaylistTrack', pk: '1,2' })
assert.deepEqual(link, { PlaylistId: 1, TrackId: 2 })

const { data: created } = await api.createTable({
  tableCreate: {
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
assert.equal(created.name, 'orders')
assert.ok(created.createdAt > 2 ** 40)
const orders = { table: 'orders' }
const { data: extended } = await api.addTableField({
  ...orders,
  tableFieldAddition: { field: { name: 'paid', jsonType: 'boolean', nullable: false, defaultValue: false } }
})
assert.ok(extended.fields.some(({ name }) => name === 'paid'))

const { data: order } = await api.createRecord({
  ...orders,
  requestBody: { customer: 'Maria', quantity: 2, price: 12.5, note: 'as a gift' }
})
assert.equal(order.id, 1)
assert.equal(order.paid, false)
const key = { ...orders, pk: '1' }
const { data: updated } = await api.updateRecord({ ...key, requestBody: { note: null, paid: true } })
assert.equal(updated.success, true)
const { data: read } = await api.readRecord(key)
assert.equal(read.note, null)
assert.equal(read.price, 12.5)
const { data: repriced } = await api.updateRecord({ ...key, _return: 'record', requestBody: { price: 10 } })
assert.equal(repriced.record?.price, 10)
const { data: increased } = await api.incrementRecord({
  ...orders,
  _return: 'record',
  tableRecordIncrement: { pk: '1', field: 'quantity', count: 3 }
})
assert.equal(increased.record?.quantity, 5)
const { data: counted } = await api.incrementRecord({
  ...orders,
  tableRecordIncrement: { pk: '1', field: 'quantity' }
})
assert.equal(counted.success, true)
const { data: wide } = await api.createRecord({ ...orders, requestBody: { customer: 'Jonas', quantity: WIDE } })
assert.equal(wide.quantity, WIDE)

const { data: deleted } = await api.deleteRecord(key)
assert.equal(deleted.success, true)
const missing = await failureOf(api.readRecord(key))
assert.equal(missing.status, 404)
assert.equal(missing.error.code, 'RECORD_NOT_FOUND')
const invalid = await failureOf(api.createRecord({ ...orders, requestBody: { customer: 5 } }))
assert.equal(invalid.status, 400)
assert.equal(invalid.error.details?.[0]?.path, '/customer')
const forbidden = await failureOf(withToken(readerToken).createRecord({ ...orders, requestBody: { customer: 'Eva' } }))
assert.equal(forbidden.status, 403)
assert.equal(forbidden.error.code, 'ACTION_NOT_ALLOWED')
const unknown = await failureOf(withToken('wrong').readIdentity())
assert.equal(unknown.error.code, 'INVALID_TOKEN')

/** Never called: each line is a mistake that must not compile. */
export const mistakes = async () => {
  // @ts-expect-error: the table is missing
  await api.listRecords({ size: 2 })
  // @ts-expect-error: `size` is a number
  await api.listRecords({ table, size: '2' })
  // @ts-expect-error: `field` is missing
  await api.incrementRecord({ table, tableRecordIncrement: { pk: '1' } })
  // @ts-expect-error: the code is unknown
  if (missing.error.code === 'NO_RECORD') return
}
