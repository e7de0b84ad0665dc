import assert from 'node:assert/strict'
import {
  Configuration,
  EmployeeApi,
  type ErrorResponse,
  PlaylistTrackApi,
  ResponseError,
  TrackApi
} from './client/index.js'

const { ROWHOUSE_URL: basePath = '', ROWHOUSE_TOKEN: accessToken = '' } = process.env
const configuration = new Configuration({ basePath, accessToken })
const api = new TrackApi(configuration)
const links = new PlaylistTrackApi(configuration)

const { data: page } = await api.listTrack({ order: '-UnitPrice', size: 1 })
assert.equal(page.rows[0]?.unitPrice, 1.29)
const { data: link } = await links.readPlaylistTrack({ playlistId: 1, trackId: 2 })
assert.deepEqual([link.playlistId, link.trackId], [1, 2])
const employees = new EmployeeApi(configuration)
const { data: found } = await employees.queryEmployee({ employeeQuery: { expand: ['ReportsTo'] } })
const [first, second] = found.rows
assert.equal(first?.hireDate?.toISOString(), '2002-08-14T00:00:00.000Z')
assert.equal(second?.hireDate, null)
assert.equal(first?.expand?.reportsTo, null)
assert.equal(second?.expand?.reportsTo?.lastName, 'Adams')
const { data: totals } = await api.aggregateTrack({
  trackAggregate: { groupBy: ['AlbumId'], compute: { length: { sum: 'Milliseconds' } } }
})
assert.deepEqual(totals.rows[0], { AlbumId: 1, length: 343719 })
assert.match(await api.exportTrack({ fields: 'Name', q: 'Rock' }), /For Those About To Rock/)
const { data: imported } = await api.importTrack({
  dryRun: true,
  trackCreate: [{ name: 'Overdose', milliseconds: 369319, unitPrice: 0.99 }]
})
assert.equal(imported.created, 1)
const { data: created } = await api.createTrack({
  trackCreate: { name: 'Dog Eat Dog', milliseconds: 215196, unitPrice: 0.99, albumId: 4 }
})
assert.equal(created.trackId, 4)
const key = { trackId: created.trackId }
const { data: updated } = await api.updateTrack({ ...key, _return: 'record', trackUpdate: { albumId: null } })
assert.equal(updated.record?.albumId, null)
const trackAddition = { field: 'Milliseconds', count: 4 } as const
const { data: increased } = await api.addToTrack({ ...key, trackAddition, _return: 'record' })
assert.equal(increased.record?.milliseconds, 215200)
const { data: deleted } = await api.deleteTrack(key)
assert.equal(deleted.success, true)
const missing = await api.readTrack(key).catch((error: unknown) => error)
assert.ok(missing instanceof ResponseError)
const body: ErrorResponse = await missing.response.json()
assert.equal(body.error.code, 'RECORD_NOT_FOUND')

/** Never called: each line is a mistake that must not compile. */
export const mistakes = async () => {
  // @ts-expect-error: a name is required
  await api.createTrack({ trackCreate: { milliseconds: 1, unitPrice: 1 } })
  // @ts-expect-error: a name is never null
  await api.updateTrack({ ...key, trackUpdate: { name: null } })
  // @ts-expect-error: a name is no number
  await api.addToTrack({ ...key, trackAddition: { field: 'Name' } })
  // @ts-expect-error: a name is no number
  await api.aggregateTrack({ trackAggregate: { compute: { length: { sum: 'Name' } } } })
  // @ts-expect-error: a name is required
  await api.importTrack({ trackCreate: [{ milliseconds: 1, unitPrice: 1 }] })
  // @ts-expect-error: a last name refers to no record
  first?.expand?.lastName
  // @ts-expect-error: a composite key has two parts
  await links.readPlaylistTrack({ playlistId: 1 })
}
