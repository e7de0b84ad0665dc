import fp from 'fastify-plugin'
import { LRUCache } from 'lru-cache'
import type { DocumentQuery } from '../../schemas/document.ts'
import { toOpenapi30 } from '../../services/documents/openapi-3-0.ts'
import {
  adminArea,
  type Convert,
  createTypedDocuments,
  dataArea,
  type GenericDocument,
  type TypedText
} from '../../services/documents/typed-document.ts'
import { expansionsOf } from '../../services/documents/typed-expansions.ts'
import type { TypedTable } from '../../services/documents/typed-schemas.ts'
import { foldName } from '../../services/model/names.ts'
import type { Column, RegisteredTable } from '../../services/model/table.ts'
import { type IsVisible, referencesOf, visibleForeignKeys } from '../../services/tables/foreign-keys.ts'
import { readableFields } from '../../services/tables/token-access.ts'
import type { LiveToken } from '../../services/tokens/tokens.ts'
import type { TaggedJson } from '../http/etag.ts'

type Version = NonNullable<DocumentQuery['openapi']>

export interface TypedDocuments {
  /** Returns the document of the operations that a token may use: see `GET /data/_openapi.json`. */
  forToken(token: LiveToken, tables: readonly RegisteredTable[], version: Version): Promise<TaggedJson>
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
const TABLE_LENGTH = 12_000

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

type Find = (name: string) => RegisteredTable | undefined

/** Returns the function that finds one of the tables by its name, ignoring case. */
const finderIn = (tables: readonly RegisteredTable[]): Find => {
  const byName = new Map(tables.map((table) => [foldName(table.name), table]))
  return (name: string) => byName.get(foldName(name))
}

/** Returns the registered tables that foreign keys of the tables refer to, by folded name. */
const targetsOf = (tables: readonly RegisteredTable[], registered: readonly RegisteredTable[]) => {
  const names = new Set(tables.flatMap(({ structure }) => structure.foreignKeys.map(({ table }) => foldName(table))))
  const targets = registered.map((table) => [foldName(table.name), table] as const)
  return new Map(targets.filter(([name]) => names.has(name)))
}

/** What the fields of a document may refer to. */
interface Targets {
  /** Returns a table of the document. */
  readonly find: Find
  readonly isVisible: IsVisible
}

const targetsOfFields = (table: RegisteredTable, columns: readonly Column[], { find, isVisible }: Targets) => ({
  references: referencesOf(visibleForeignKeys(table, columns, isVisible)),
  expansions: expansionsOf(table, columns, (name, field) => (isVisible(name, field) ? find(name) : undefined))
})

/** Administrators see every column. */
const asAdministrator = (table: RegisteredTable, targets: Targets): TypedTable => {
  const { columns, isView } = table.structure
  return {
    table,
    columns,
    ...targetsOfFields(table, columns, targets),
    integers: 'auto',
    canRead: true,
    canCreate: !isView,
    canUpdate: !isView,
    canDelete: !isView
  }
}

const asToken = (table: RegisteredTable, targets: Targets, { scope, integers }: LiveToken): TypedTable => {
  const columns = table.structure.columns.filter((column) => !column.isHidden)
  const canWrite = (action: 'create' | 'update' | 'delete') => table.isEditable && scope.allows(action, table.name)
  return {
    table,
    columns,
    ...targetsOfFields(table, columns, targets),
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
        cached(`token ${token.id}`, version, [token, ...tables], (convert) => {
          const find = finderIn(tables)
          const targets = { find, isVisible: readableFields(find, token.scope) }
          return dataDocument()(
            {
              tables: tables.map((table) => asToken(table, targets, token)),
              sharedPaths: token.scope.grants('schema') ? [...IDENTITY_PATHS, ...SCHEMA_PATHS] : IDENTITY_PATHS,
              title: `Rowhouse: ${token.name}`,
              description: TOKEN_DESCRIPTION
            },
            convert
          )
        }),
      forAdministrator: (tables, registered, version) => {
        const known = targetsOf(tables, registered)
        const targets: Targets = { find: finderIn(tables), isVisible: (name) => known.has(foldName(name)) }
        const key = `administrator ${tables.map(({ id }) => id).join(',')}`
        return cached(key, version, [...new Set([...tables, ...known.values()])], (convert) =>
          adminDocument()(
            {
              tables: tables.map((table) => asAdministrator(table, targets)),
              sharedPaths: SESSION_PATHS,
              title: 'Rowhouse: records',
              description: ADMIN_DESCRIPTION
            },
            convert
          )
        )
      }
    })
  },
  { name: 'typed-documents', dependencies: ['openapi'] }
)
