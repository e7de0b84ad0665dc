import assert from 'node:assert/strict'
import { createClient, createConfig } from './client/client/index.js'
import * as api from './client/sdk.gen.js'

const { ROWHOUSE_URL: baseUrl = '', ROWHOUSE_TOKEN: auth = '' } = process.env
const client = createClient(createConfig({ baseUrl, auth }))

const { data: page } = await api.listTrack({ client, query: { order: '-UnitPrice', size: 1 } })
assert.equal(page?.data.rows[0]?.UnitPrice, 1.29)
const { data: link } = await api.readPlaylistTrack({ client, path: { PlaylistId: 1, TrackId: 2 } })
assert.deepEqual(link?.data, { PlaylistId: 1, TrackId: 2 })
const { data: found } = await api.queryEmployee({ client, body: { expand: ['ReportsTo'] } })
const [first, second] = found?.data.rows ?? []
assert.equal(first?.expand?.ReportsTo, null)
assert.equal(second?.expand?.ReportsTo?.LastName, 'Adams')
const { data: totals } = await api.aggregateTrack({
  client,
  body: { groupBy: ['AlbumId'], compute: { length: { sum: 'Milliseconds' } } }
})
assert.deepEqual(totals?.data.rows[0], { AlbumId: 1, length: 343719 })
const { data: lines } = await api.exportTrack({ client, query: { fields: 'Name', q: 'Rock' }, parseAs: 'text' })
assert.match(String(lines), /For Those About To Rock/)
const { data: imported } = await api.importTrack({
  client,
  query: { dryRun: true },
  body: [{ Name: 'Overdose', Milliseconds: 369319, UnitPrice: 0.99 }]
})
assert.equal(imported?.data.created, 1)
const { data: created } = await api.createTrack({
  client,
  body: { Name: 'Dog Eat Dog', Milliseconds: 215196, UnitPrice: 0.99, AlbumId: 4 }
})
assert.equal(created?.data.TrackId, 4)
const path = { TrackId: created.data.TrackId }
const query = { return: 'record' } as const
const { data: updated } = await api.updateTrack({ client, path, query, body: { AlbumId: null } })
assert.equal(updated?.data.record?.AlbumId, null)
const more = { field: 'Milliseconds', count: 4 } as const
const { data: increased } = await api.addToTrack({ client, path, query, body: more })
assert.equal(increased?.data.record?.Milliseconds, 215200)
await api.deleteTrack({ client, path })
const missing = await api.readTrack({ client, path })
assert.equal(missing.error?.error.code, 'RECORD_NOT_FOUND')

/** Never called: each line is a mistake that must not compile. */
export const mistakes = async () => {
  // @ts-expect-error: a name is required
  await api.createTrack({ client, body: { Milliseconds: 1, UnitPrice: 1 } })
  // @ts-expect-error: a name is never null
  await api.updateTrack({ client, path, body: { Name: null } })
  // @ts-expect-error: a name is no number
  await api.addToTrack({ client, path, body: { field: 'Name' } })
  // @ts-expect-error: a name is no number
  await api.aggregateTrack({ client, body: { compute: { length: { sum: 'Name' } } } })
  // @ts-expect-error: a name is required
  await api.importTrack({ client, body: [{ Milliseconds: 1, UnitPrice: 1 }] })
  // @ts-expect-error: a last name refers to no record
  first?.expand?.LastName
  // @ts-expect-error: a composite key has two parts
  await api.readPlaylistTrack({ client, path: { PlaylistId: 1 } })
}
