import assert from 'node:assert/strict'
import createClient from 'openapi-fetch'
import type { paths } from './client.js'

const { ROWHOUSE_URL: baseUrl = '', ROWHOUSE_TOKEN: token } = process.env
const api = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })

const { data: page } = await api.GET('/data/Track', { params: { query: { order: '-UnitPrice', size: 1 } } })
assert.equal(page?.data.rows[0]?.UnitPrice, 1.29)
const { data: link } = await api.GET('/data/PlaylistTrack/records/{PlaylistId},{TrackId}', {
  params: { path: { PlaylistId: 1, TrackId: 2 } }
})
assert.deepEqual(link?.data, { PlaylistId: 1, TrackId: 2 })
const { data: found } = await api.POST('/data/Employee/query', { body: { expand: ['ReportsTo'] } })
const [first, second] = found?.data.rows ?? []
assert.equal(first?.HireDate, '2002-08-14')
assert.equal(first?.expand?.ReportsTo, null)
assert.equal(second?.expand?.ReportsTo?.LastName, 'Adams')
const { data: totals } = await api.POST('/data/Track/aggregate', {
  body: { groupBy: ['AlbumId'], compute: { length: { sum: 'Milliseconds' } } }
})
assert.deepEqual(totals?.data.rows[0], { AlbumId: 1, length: 343719 })
const { data: lines } = await api.GET('/data/Track/export', {
  params: { query: { fields: 'Name', q: 'Rock' } },
  parseAs: 'text'
})
assert.match(String(lines), /For Those About To Rock/)
const { data: imported } = await api.POST('/data/Track/import', {
  params: { query: { dryRun: true } },
  body: [{ Name: 'Overdose', Milliseconds: 369319, UnitPrice: 0.99 }]
})
assert.equal(imported?.data.created, 1)
const { data: created } = await api.POST('/data/Track/records', {
  body: { Name: 'Dog Eat Dog', Milliseconds: 215196, UnitPrice: 0.99, AlbumId: 4 }
})
assert.equal(created?.data.TrackId, 4)
const path = { TrackId: created.data.TrackId }
const { data: updated } = await api.PUT('/data/Track/records/{TrackId}', {
  params: { path, query: { return: 'record' } },
  body: { AlbumId: null }
})
assert.equal(updated?.data.record?.AlbumId, null)
const { data: increased } = await api.POST('/data/Track/records/{TrackId}/incr', {
  params: { path, query: { return: 'record' } },
  body: { field: 'Milliseconds', count: 4 }
})
assert.equal(increased?.data.record?.Milliseconds, 215200)
await api.DELETE('/data/Track/records/{TrackId}', { params: { path } })
const missing = await api.GET('/data/Track/records/{TrackId}', { params: { path } })
assert.equal(missing.error?.error.code, 'RECORD_NOT_FOUND')

/** Never called: each line is a mistake that must not compile. */
export const mistakes = async () => {
  // @ts-expect-error: there is no such table
  await api.GET('/data/Invoice')
  // @ts-expect-error: a name is required
  await api.POST('/data/Track/records', { body: { Milliseconds: 1, UnitPrice: 1 } })
  // @ts-expect-error: a name is never null
  await api.PUT('/data/Track/records/{TrackId}', { params: { path }, body: { Name: null } })
  // @ts-expect-error: a name is no number
  await api.POST('/data/Track/records/{TrackId}/incr', { params: { path }, body: { field: 'Name' } })
  // @ts-expect-error: a name is no number
  await api.POST('/data/Track/aggregate', { body: { compute: { length: { sum: 'Name' } } } })
  // @ts-expect-error: a name is required
  await api.POST('/data/Track/import', { body: [{ Milliseconds: 1, UnitPrice: 1 }] })
  // @ts-expect-error: a last name refers to no record
  first?.expand?.LastName
  // @ts-expect-error: a composite key has two parts
  await api.GET('/data/PlaylistTrack/records/{PlaylistId},{TrackId}', { params: { path: { PlaylistId: 1 } } })
}
