import { musicRole } from './music-role.js'
import { musicShop } from './music-shop.js'
import { oddTables } from './odd-tables.js'
import { unsupported } from './unsupported.js'

const withSession = ({ cookie }) => ({ cookie })
const withToken = ({ tokens }) => ({ authorization: `Bearer ${tokens.main}` })

/**
 * The documents that clients are generated from. `contentFor` returns the content of the service, from the name of a
 * check. `headers` returns the credential, from what `startService` returns.
 */
export const documents = [
  { name: 'generic', contentFor: () => musicShop, path: '/openapi.json', headers: () => ({}) },
  { name: 'typed', contentFor: () => musicShop, path: '/data/_openapi.json', headers: withToken },
  { name: 'role', contentFor: () => musicRole, path: '/admin/openapi.json?role=artist', headers: withSession },
  {
    name: 'odd',
    contentFor: (check) => oddTables((unsupported[check] ?? []).flatMap(({ tables }) => tables)),
    path: '/data/_openapi.json',
    headers: withToken
  }
]
