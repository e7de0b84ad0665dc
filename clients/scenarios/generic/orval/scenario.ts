import assert from 'node:assert/strict'
import * as api from './client.js'
import * as schemas from './schemas.js'

const { ROWHOUSE_TOKEN: token, ROWHOUSE_READER_TOKEN: readerToken } = process.env

const withToken = (secret?: string) => ({ headers: { authorization: `Bearer ${secret}` } })
const main = withToken(token)

const WIDE = '9007199254740993'

/** Returns the data of a success, which the schema of zod must accept. */
const dataOf = <T>(
  { status, data }: { status: number; data: unknown },
  schema: { parse: (body: unknown) => { data: T } }
): T => {
  assert.equal(status, 200, JSON.stringify(data))
  return schema.parse(data).data
}

assert.equal(dataOf(await api.checkLiveness(), schemas.CheckLivenessResponse).status, 'ok')
const me = dataOf(await api.readIdentity(main), schemas.ReadIdentityResponse)
assert.equal(me.name, 'main')
assert.ok(me.tables.includes('Album'))
assert.deepEqual(me.permissions.actions, ['read', 'write'])

const page = await api.listRecords('Album', { size: 2, order: '-Title' }, main)
assert.equal(page.status, 200)
assert.equal(page.data.data.total, 5)
assert.equal(page.data.data.rows[0]?.Title, 'Restless and Wild')
const found = dataOf(await api.listRecords('Album', { q: 'rock', page: 1 }, main), schemas.ListRecordsResponse)
assert.equal(found.rows.length, 2)
const schema = dataOf(await api.readTableSchema('Album', main), schemas.ReadTableSchemaResponse)
assert.equal(schema.primaryKey, 'AlbumId')
assert.equal(schema.fields[0]?.jsonType, 'integer')
const link = dataOf(await api.readRecord('PlaylistTrack', '1,2', main), schemas.ReadRecordResponse)
assert.deepEqual(link, { PlaylistId: 1, TrackId: 2 })

const table = schemas.CreateTableBody.parse({
  name: 'orders',
  label: 'Orders',
  fields: [
    { name: 'customer', jsonType: 'string', nullable: false },
    { name: 'quantity', jsonType: 'integer' },
    { name: 'price', jsonType: 'number' },
    { name: 'note', jsonType: 'string' }
  ],
  autoTimestamps: true
})
const created = dataOf(await api.createTable(table, main), schemas.CreateTableResponse)
assert.equal(created.name, 'orders')
assert.ok(created.createdAt > 2 ** 40)
const paid = { name: 'paid', jsonType: 'boolean', nullable: false, defaultValue: false } as const
const extended = dataOf(await api.addTableField('orders', { field: paid }, main), schemas.AddTableFieldResponse)
assert.ok(extended.fields.some(({ name }) => name === 'paid'))

const values = { customer: 'Maria', quantity: 2, price: 12.5, note: 'as a gift' }
const order = dataOf(await api.createRecord('orders', values, undefined, main), schemas.CreateRecordResponse)
assert.equal(order.id, 1)
assert.equal(order.paid, false)
const changes = { note: null, paid: true }
const updated = dataOf(await api.updateRecord('orders', '1', changes, undefined, main), schemas.UpdateRecordResponse)
assert.equal(updated.success, true)
const read = dataOf(await api.readRecord('orders', '1', main), schemas.ReadRecordResponse)
assert.equal(read.note, null)
assert.equal(read.price, 12.5)
const repriced = await api.updateRecord('orders', '1', { price: 10 }, { return: 'record' }, main)
assert.equal(dataOf(repriced, schemas.UpdateRecordResponse).record?.price, 10)
const more = { pk: '1', field: 'quantity', count: 3 }
const increased = await api.incrementRecord('orders', more, { return: 'record' }, main)
assert.equal(dataOf(increased, schemas.IncrementRecordResponse).record?.quantity, 5)
const counted = await api.incrementRecord('orders', { pk: '1', field: 'quantity' }, undefined, main)
assert.deepEqual(dataOf(counted, schemas.IncrementRecordResponse), { success: true })
const wide = await api.createRecord('orders', { customer: 'Jonas', quantity: WIDE }, undefined, main)
assert.equal(dataOf(wide, schemas.CreateRecordResponse).quantity, WIDE)

const deleted = await api.deleteRecord('orders', '1', undefined, main)
assert.equal(dataOf(deleted, schemas.DeleteRecordResponse).success, true)
const missing = await api.readRecord('orders', '1', main)
assert.ok(missing.status === 404)
assert.equal(missing.data.error.code, 'RECORD_NOT_FOUND')
const invalid = await api.createRecord('orders', { customer: 5 }, undefined, main)
assert.ok(invalid.status === 400)
assert.equal(invalid.data.error.details?.[0]?.path, '/customer')
const forbidden = await api.createRecord('orders', { customer: 'Eva' }, undefined, withToken(readerToken))
assert.ok(forbidden.status === 403)
assert.equal(forbidden.data.error.code, 'ACTION_NOT_ALLOWED')
const unknown = await api.readIdentity(withToken('wrong'))
assert.ok(unknown.status === 401)
assert.equal(unknown.data.error.code, 'INVALID_TOKEN')

assert.equal(schemas.CreateTableBody.safeParse({ ...table, name: 'no name' }).success, false)

/** Never called: each line is a mistake that must not compile. */
export const mistakes = async () => {
  // @ts-expect-error: `size` is a number
  await api.listRecords('Album', { size: '2' })
  // @ts-expect-error: `field` is missing
  await api.incrementRecord('Album', { pk: '1' })
  // @ts-expect-error: the code is unknown
  if (missing.data.error.code === 'NO_RECORD') return
}
