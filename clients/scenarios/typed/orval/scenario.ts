import assert from 'node:assert/strict'
import * as api from './client.js'
import * as schemas from './schemas.js'

const main = { headers: { authorization: `Bearer ${process.env.ROWHOUSE_TOKEN}` } }

/** Returns the data of a success, which the schema of zod must accept. */
const dataOf = <T>(
  { status, data }: { status: number; data: unknown },
  schema: { parse: (body: unknown) => { data: T } }
): T => {
  assert.equal(status, 200, JSON.stringify(data))
  return schema.parse(data).data
}

const page = await api.listTrack({ order: '-UnitPrice', size: 1 }, main)
assert.equal(dataOf(page, schemas.ListTrackResponse).rows[0]?.UnitPrice, 1.29)
const link = await api.readPlaylistTrack(1, 2, main)
assert.deepEqual(dataOf(link, schemas.ReadPlaylistTrackResponse), { PlaylistId: 1, TrackId: 2 })
const found = await api.queryEmployee({ expand: ['ReportsTo'] }, main)
dataOf(found, schemas.QueryEmployeeResponse)
assert.ok(found.status === 200)
const [first, second] = found.data.data.rows
assert.equal(first?.expand?.ReportsTo, null)
assert.equal(second?.expand?.ReportsTo?.LastName, 'Adams')
const values = { Name: 'Dog Eat Dog', Milliseconds: 215196, UnitPrice: 0.99, AlbumId: 4 }
const totals = await api.aggregateTrack({ groupBy: ['AlbumId'], compute: { length: { sum: 'Milliseconds' } } }, main)
assert.deepEqual(dataOf(totals, schemas.AggregateTrackResponse).rows[0], { AlbumId: 1, length: 343719 })
const imported = await api.importTrack(schemas.ImportTrackBody.parse([values]), { dryRun: true }, main)
assert.equal(dataOf(imported, schemas.ImportTrackResponse).created, 1)
const created = await api.createTrack(schemas.CreateTrackBody.parse(values), main)
const { TrackId } = dataOf(created, schemas.CreateTrackResponse)
assert.equal(TrackId, 4)
const updated = await api.updateTrack(TrackId, { AlbumId: null }, { return: 'record' }, main)
assert.equal(dataOf(updated, schemas.UpdateTrackResponse).record?.AlbumId, null)
const more = { field: 'Milliseconds', count: 4 } as const
const increased = await api.addToTrack(TrackId, more, { return: 'record' }, main)
assert.equal(dataOf(increased, schemas.AddToTrackResponse).record?.Milliseconds, 215200)
const deleted = await api.deleteTrack(TrackId, undefined, main)
assert.deepEqual(dataOf(deleted, schemas.DeleteTrackResponse), { success: true })
const missing = await api.readTrack(TrackId, main)
assert.ok(missing.status === 404)
assert.equal(missing.data.error.code, 'RECORD_NOT_FOUND')

assert.equal(schemas.CreateTrackBody.safeParse({ ...values, Name: null }).success, false)

/** Never called: each line is a mistake that must not compile. */
export const mistakes = async () => {
  // @ts-expect-error: a name is required
  await api.createTrack({ Milliseconds: 1, UnitPrice: 1 })
  // @ts-expect-error: a name is never null
  await api.updateTrack(TrackId, { Name: null })
  // @ts-expect-error: a name is no number
  await api.addToTrack(1, { field: 'Name' })
  // @ts-expect-error: a name is no number
  await api.aggregateTrack({ compute: { length: { sum: 'Name' } } })
  // @ts-expect-error: a last name refers to no record
  first?.expand?.LastName
  // @ts-expect-error: a composite key has two parts
  await api.readPlaylistTrack(1)
}
