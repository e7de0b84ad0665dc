import fp from 'fastify-plugin'
import { LRUCache } from 'lru-cache'
import type { DocumentQuery } from '../../schemas/document.ts'
import { digestOf } from '../../services/documents/digest.ts'
import type { Json } from '../../services/documents/json.ts'
import { toOpenapi30 } from '../../services/documents/openapi-3-0.ts'
import {
  adminArea,
  createTypedDocuments,
  dataArea,
  type GenericDocument
} from '../../services/documents/typed-document.ts'
import type { TypedTable } from '../../services/documents/typed-schemas.ts'
import type { RegisteredTable } from '../../services/model/table.ts'
import type { LiveToken } from '../../services/tokens/tokens.ts'
import type { TaggedText } from '../http/etag.ts'

type Version = NonNullable<DocumentQuery['openapi']>

export interface TypedDocuments {
  /** Returns the document of the operations that a token may use: see `GET /data/_openapi.json`. */
  forToken(token: LiveToken, tables: readonly RegisteredTable[], version: Version): TaggedText
  /** Returns the document of the records of these tables: see `GET /admin/openapi.json`. */
  forAdministrator(tables: readonly RegisteredTable[], version: Version): TaggedText
}

declare module 'fastify' {
  interface FastifyInstance {
    typedDocuments: TypedDocuments
  }
}

/** Characters of all cached documents. A table of ten fields takes about 8,000. */
const MAX_CACHED_LENGTH = 32 * 2 ** 20

interface CachedDocument extends TaggedText {
  /** The objects that the document was made of. They are immutable: a change makes new ones. */
  readonly sources: readonly object[]
}

const isCurrent = ({ sources }: CachedDocument, current: readonly object[]) =>
  sources.length === current.length && sources.every((source, index) => source === current[index])

/** Returns the function that makes a document, or returns the cached one if all its sources are the same objects. */
const createCache = () => {
  const documents = new LRUCache<string, CachedDocument>({
    maxSize: MAX_CACHED_LENGTH,
    sizeCalculation: ({ text }) => text.length
  })
  return (key: string, version: Version, sources: readonly object[], make: () => Json): TaggedText => {
    const id = `${version} ${key}`
    const cached = documents.get(id)
    if (cached && isCurrent(cached, sources)) return cached
    const document = make()
    const text = JSON.stringify(version === '3.0' ? toOpenapi30(document) : document)
    const made = { text, etag: `"${digestOf(text).slice(0, 16)}"`, sources }
    documents.set(id, made)
    return made
  }
}

const TOKEN_DESCRIPTION = `The tables, fields and actions of one token, and nothing else. It changes with them.

Every success has the status 200 and the body \`{ "success": true, "data": … }\`. Every failure has the body
\`ErrorResponse\`. Its \`code\` is stable, so programs can rely on it.`

const ADMIN_DESCRIPTION = `The records of the registered tables, with the hidden fields, for administrators with the cookie of
\`POST /auth/login\`.

Every success has the status 200 and the body \`{ "success": true, "data": … }\`. Every failure has the body
\`ErrorResponse\`. Its \`code\` is stable, so programs can rely on it.`

const IDENTITY_PATHS = ['/data/_me']
const SCHEMA_PATHS = ['/data/_schema/tables', '/data/_schema/tables/{table}/fields']
const SESSION_PATHS = ['/auth/login', '/auth/logout', '/auth/me']

/** Administrators see every column. */
const asAdministrator = (table: RegisteredTable): TypedTable => ({
  table,
  columns: table.structure.columns,
  integers: 'auto',
  canRead: true,
  canCreate: true,
  canUpdate: true,
  canDelete: true
})

const asToken = (table: RegisteredTable, { scope, integers }: LiveToken): TypedTable => {
  const canWrite = (action: 'create' | 'update' | 'delete') => table.isEditable && scope.allows(action, table.name)
  return {
    table,
    columns: table.structure.columns.filter((column) => !column.isHidden),
    integers,
    canRead: scope.allows('read', table.name),
    canCreate: canWrite('create'),
    canUpdate: canWrite('update'),
    canDelete: canWrite('delete')
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
      forToken: (token, tables, version) =>
        cached(`token ${token.id}`, version, [token, ...tables], () =>
          dataDocument()({
            tables: tables.map((table) => asToken(table, token)),
            sharedPaths: token.scope.grants('schema') ? [...IDENTITY_PATHS, ...SCHEMA_PATHS] : IDENTITY_PATHS,
            title: `Rowhouse: ${token.name}`,
            description: TOKEN_DESCRIPTION
          })
        ),
      forAdministrator: (tables, version) =>
        cached(`administrator ${tables.map(({ id }) => id).join(',')}`, version, tables, () =>
          adminDocument()({
            tables: tables.map(asAdministrator),
            sharedPaths: SESSION_PATHS,
            title: 'Rowhouse: records',
            description: ADMIN_DESCRIPTION
          })
        )
    })
  },
  { name: 'typed-documents', dependencies: ['openapi'] }
)
