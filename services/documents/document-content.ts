import { foldName } from '../model/names.ts'
import type { Column, RegisteredTable } from '../model/table.ts'
import { type IsVisible, referencesOf, visibleForeignKeys } from '../tables/foreign-keys.ts'
import { readableFields } from '../tables/token-access.ts'
import type { LiveKey } from '../tokens/keys.ts'
import type { DocumentContent } from './typed-document.ts'
import { expansionsOf } from './typed-expansions.ts'
import type { TypedTable } from './typed-schemas.ts'

const TOKEN_DESCRIPTION = `The tables, fields and actions of one token, and nothing else. It changes with them.

Every success has the status 200 and the body \`{ "success": true, "data": … }\`. Every failure has the body
\`ErrorResponse\`. Its \`code\` is stable, so programs can rely on it.`

const ADMIN_DESCRIPTION = `The records of the registered tables, with the hidden fields, for administrators with the cookie of
\`POST /auth/login\`.

Every success has the status 200 and the body \`{ "success": true, "data": … }\`. Every failure has the body
\`ErrorResponse\`. Its \`code\` is stable, so programs can rely on it.`

const IDENTITY_PATHS = ['/data/_me']
/** The changes of a batch can be on any table, so their values have no types: generators do not understand unions. */
const BATCH_PATHS = ['/data/_batch']
const SCHEMA_PATHS = ['/data/_schema/tables', '/data/_schema/tables/{table}/fields']
const SESSION_PATHS = ['/auth/login', '/auth/logout', '/auth/me']

type Find = (name: string) => RegisteredTable | undefined

/** Returns the function that finds one of the tables by its name, ignoring case. */
const finderIn = (tables: readonly RegisteredTable[]): Find => {
  const byName = new Map(tables.map((table) => [foldName(table.name), table]))
  return (name: string) => byName.get(foldName(name))
}

/** Returns the name of a table in paths. */
type PathNameOf = (table: RegisteredTable) => string

/** Returns the registered tables that foreign keys of the tables refer to, by folded name. */
export const referencedTables = (tables: readonly RegisteredTable[], registered: readonly RegisteredTable[]) => {
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
  const writable = columns.filter(({ isReadonly }) => !isReadonly)
  return {
    table,
    pathName: table.name,
    columns,
    creatable: writable,
    updatable: writable,
    ...targetsOfFields(table, columns, targets),
    integers: 'auto',
    canRead: true,
    canCreate: !isView,
    canUpdate: !isView,
    canDelete: !isView
  }
}

/** What the document of a token depends on. */
export type DocumentedKey = Pick<LiveKey, 'name' | 'scope' | 'integers'>

const asToken = (
  table: RegisteredTable,
  pathName: string,
  targets: Targets,
  { scope, integers }: DocumentedKey
): TypedTable => {
  const { columns, creatable, updatable } = scope.fieldsOf(table)
  const canWrite = (action: 'create' | 'update' | 'delete') => table.isEditable && scope.allows(action, table.name)
  return {
    table,
    pathName,
    columns,
    creatable,
    updatable,
    ...targetsOfFields(table, columns, targets),
    integers,
    canRead: scope.allows('read', table.name),
    canCreate: canWrite('create'),
    canUpdate: canWrite('update'),
    canDelete: canWrite('delete')
  }
}

const canChange = ({ canCreate, canUpdate, canDelete }: TypedTable) => canCreate || canUpdate || canDelete

/** Returns the content of the document of a token: its tables, with the actions that the token has on each. */
export const contentForToken = (
  token: DocumentedKey,
  tables: readonly RegisteredTable[],
  pathNameOf: PathNameOf
): DocumentContent => {
  const find = finderIn(tables)
  const targets = { find, isVisible: readableFields(find, token.scope) }
  const typed = tables.map((table) => asToken(table, pathNameOf(table), targets, token))
  return {
    tables: typed,
    sharedPaths: [
      ...IDENTITY_PATHS,
      ...(typed.some(canChange) ? BATCH_PATHS : []),
      ...(token.scope.grants('schema') ? SCHEMA_PATHS : [])
    ],
    title: `Rowhouse: ${token.name}`,
    description: TOKEN_DESCRIPTION
  }
}

/** Returns the content of the document of administrators. `referenced`: the tables that foreign keys may name, by folded name. */
export const contentForAdministrator = (
  tables: readonly RegisteredTable[],
  referenced: ReadonlyMap<string, RegisteredTable>
): DocumentContent => {
  const targets: Targets = { find: finderIn(tables), isVisible: (name) => referenced.has(foldName(name)) }
  return {
    tables: tables.map((table) => asAdministrator(table, targets)),
    sharedPaths: SESSION_PATHS,
    title: 'Rowhouse: records',
    description: ADMIN_DESCRIPTION
  }
}
