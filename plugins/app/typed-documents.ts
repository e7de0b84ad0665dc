import fp from 'fastify-plugin'
import { LRUCache } from 'lru-cache'
import type { DocumentQuery } from '../../schemas/document.ts'
import {
  contentForAdministrator,
  contentForToken,
  referencedTables
} from '../../services/documents/document-content.ts'
import { toOpenapi30 } from '../../services/documents/openapi-3-0.ts'
import {
  adminArea,
  type Convert,
  createTypedDocuments,
  dataArea,
  type GenericDocument,
  type TypedText
} from '../../services/documents/typed-document.ts'
import type { Scope } from '../../services/model/scope.ts'
import type { RegisteredTable } from '../../services/model/table.ts'
import type { LiveRole } from '../../services/roles/roles.ts'
import type { LiveKey } from '../../services/tokens/keys.ts'
import type { TaggedJson } from '../http/etag.ts'

type Version = NonNullable<DocumentQuery['openapi']>

export interface TypedDocuments {
  /** Returns the document of the operations that a token may use: see `GET /data/_openapi.json`. */
  forToken(token: LiveKey, tables: readonly RegisteredTable[], version: Version): Promise<TaggedJson>
  /**
   * Returns the document that tokens of a role get. `scope`: what the role opens for a token whose claims fit.
   */
  forRole(role: LiveRole, scope: Scope, tables: readonly RegisteredTable[], version: Version): Promise<TaggedJson>
  /**
   * Returns the document of the records of these tables: see `GET /admin/openapi.json`. It names the foreign keys to
   * `registered` tables.
   */
  forAdministrator(
    tables: readonly RegisteredTable[],
    registered: readonly RegisteredTable[],
    version: Version
  ): Promise<TaggedJson>
}

declare module 'fastify' {
  interface FastifyInstance {
    typedDocuments: TypedDocuments
  }
}

/** Characters of all cached documents. */
const MAX_CACHED_LENGTH = 32 * 2 ** 20
/** Characters of a table of ten fields. */
const TABLE_LENGTH = 14_000

interface CachedDocument {
  /** What the document was made of. The objects are immutable: a change makes new ones. */
  readonly sources: readonly object[]
  readonly made: Promise<TaggedJson>
}

const isCurrent = ({ sources }: CachedDocument, current: readonly object[]) =>
  sources.length === current.length && sources.every((source, index) => source === current[index])

const CONVERSIONS: Readonly<Record<Version, Convert>> = { '3.0': toOpenapi30, '3.1': (part) => part }

/** Makes a document again only if one of its sources was replaced. Concurrent requests for it wait for one document. */
const createCache = () => {
  const documents = new LRUCache<string, CachedDocument>({
    maxSize: MAX_CACHED_LENGTH,
    sizeCalculation: ({ sources }) => (sources.length + 1) * TABLE_LENGTH
  })

  return (
    key: string,
    version: Version,
    sources: readonly object[],
    make: (convert: Convert) => Promise<TypedText>
  ): Promise<TaggedJson> => {
    const id = `${version} ${key}`
    const cached = documents.get(id)
    if (cached && isCurrent(cached, sources)) return cached.made
    const made = make(CONVERSIONS[version]).then(({ text, digest }) => ({
      bytes: Buffer.from(text),
      etag: `"${digest.slice(0, 16)}"`
    }))
    documents.set(id, { sources, made })
    return made
  }
}

/** Documents that are typed for each table: decision 26. */
export default fp(
  async (fastify) => {
    const cached = createCache()
    const lazily = <T>(make: () => T) => {
      let made: T | undefined
      return () => {
        made ??= make()
        return made
      }
    }
    // The boundary to a package whose types span three versions of OpenAPI.
    const generic = () => fastify.swagger() as unknown as GenericDocument
    const dataDocument = lazily(() => createTypedDocuments(generic(), dataArea))
    const adminDocument = lazily(() => createTypedDocuments(generic(), adminArea))

    fastify.decorate('typedDocuments', {
      forToken: (token, tables, version) => {
        const { pathNameOf } = fastify.tables
        // A table that the token cannot use may take a name of a path.
        const key = `token ${token.id} ${token.name} ${tables.map(pathNameOf).join('/')}`
        const role = token.role && fastify.roles.find(token.role.id)
        return cached(key, version, [token, ...(role ? [role] : []), ...tables], (convert) =>
          dataDocument()(contentForToken(token, tables, pathNameOf), convert)
        )
      },
      forRole: (role, scope, tables, version) => {
        const { pathNameOf } = fastify.tables
        const key = `role ${role.id} ${tables.map(pathNameOf).join('/')}`
        return cached(key, version, [role, ...tables], (convert) =>
          dataDocument()(contentForToken({ name: role.name, scope, integers: 'auto' }, tables, pathNameOf), convert)
        )
      },
      forAdministrator: (tables, registered, version) => {
        const referenced = referencedTables(tables, registered)
        const key = `administrator ${tables.map(({ id }) => id).join(',')}`
        return cached(key, version, [...new Set([...tables, ...referenced.values()])], (convert) =>
          adminDocument()(contentForAdministrator(tables, referenced), convert)
        )
      }
    })
  },
  { name: 'typed-documents', dependencies: ['openapi'] }
)
