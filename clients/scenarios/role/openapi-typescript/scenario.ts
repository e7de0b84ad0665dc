import assert from 'node:assert/strict'
import createClient from 'openapi-fetch'
import type { components, paths } from './client.js'

const { ROWHOUSE_URL: baseUrl = '', ROWHOUSE_TOKEN: token } = process.env
const api = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })

const { data: albums } = await api.GET('/data/Album')
assert.deepEqual(
  albums?.data.rows.map(({ Title }) => Title),
  ['Balls to the Wall', 'Restless and Wild']
)
const { data: created } = await api.POST('/data/Album/records', { body: { Title: 'Breaker' } })
assert.equal(created?.data.ArtistId, 2)
const { data: tracks } = await api.GET('/data/Track')
assert.deepEqual(tracks?.data.rows, [{ TrackId: 2, Name: 'Fast As a Shark' }])
const { data: employee } = await api.POST('/data/Employee/records', { body: { EmployeeId: 3, LastName: 'Peacock' } })
assert.ok(employee)
const other = await api.GET('/data/Album/records/{AlbumId}', { params: { path: { AlbumId: 1 } } })
assert.equal(other.error?.error.code, 'RECORD_NOT_FOUND')

/** Never called: each line is a mistake that must not compile. */
export const mistakes = async () => {
  // @ts-expect-error: the role sets this field
  const album: components['schemas']['AlbumCreate'] = { Title: 'Breaker', ArtistId: 1 }
  await api.POST('/data/Album/records', { body: album })
  // @ts-expect-error: the role opens no update
  await api.PUT('/data/Album/records/{AlbumId}', { params: { path: { AlbumId: 2 } }, body: { Title: 'Breaker' } })
  // @ts-expect-error: the role does not open the table
  await api.GET('/data/Playlist')
  // @ts-expect-error: the field does not exist for the role
  return tracks?.data.rows[0]?.Bytes
}
