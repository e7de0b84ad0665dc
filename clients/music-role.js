import { musicShop } from './music-shop.js'

const OWN = { where: { ArtistId: { eq: { $claim: 'artist' } } } }

/** A role with rules, fields that can be read, fields that can be set, and presets. */
const ROLE = {
  name: 'artist',
  grants: [
    {
      tables: ['Album'],
      actions: ['read', 'create'],
      rows: OWN,
      fields: { write: ['Title'] },
      presets: { ArtistId: { $claim: 'artist' } }
    },
    { tables: ['Track'], actions: ['read', 'update'], rows: { via: { AlbumId: OWN } }, fields: { read: ['Name'] } },
    {
      tables: ['Employee'],
      actions: ['create'],
      fields: { read: ['EmployeeId'], write: ['EmployeeId', 'LastName'] },
      presets: { HireDate: '2026-01-31' }
    }
  ]
}

const prepare = (send) => send('POST', '/admin/roles', ROLE)

/** The music shop, with the token of an artist. */
export const musicRole = {
  create: musicShop.create,
  prepare,
  tokens: () => ({ main: { role: ROLE.name, claims: { artist: 2 } } })
}
