import { RESERVED_PREFIX } from '../../engine/writer/migrations.ts'
import { invalid } from '../../model/errors.ts'
import { foldName } from '../../model/names.ts'

/** Litestream's tables are no tables of a client: https://litestream.io/how-it-works/ */
const PREFIXES = [RESERVED_PREFIX, 'sqlite_', '_litestream_']

/** Begins the names of what this service creates in the file, besides the tables of clients. */
export const OWN_PREFIX = RESERVED_PREFIX

export const isOwn = (name: string) => foldName(name).startsWith(OWN_PREFIX)

/** Words of routes under /data. */
const ROUTE_NAMES = ['_schema', '_me', '_openapi.json', '_batch']

/** Whether the name belongs to our own tables, to SQLite or to Litestream. */
export const isInternal = (name: string) => {
  const folded = foldName(name)
  return PREFIXES.some((prefix) => folded.startsWith(prefix))
}

/** Whether no table is served under the name: it belongs to our own tables, to SQLite, to Litestream or to a route. */
export const isReserved = (name: string) => isInternal(name) || ROUTE_NAMES.includes(foldName(name))

/** SQLite's own names. Its ALTER TABLE calls pragma functions by names that such a table would hide. */
const RESERVED_NEW = /^(?:sqlite_|pragma_)/i

/** @throws VALIDATION_FAILED for a name that SQLite reserves */
export const checkNewName = (name: string) => {
  if (!RESERVED_NEW.test(name)) return
  const message = `'${name}' begins with sqlite_ or pragma_, which SQLite reserves. Choose another name.`
  throw invalid([{ path: '/name', code: 'format', message }])
}
