import type { ErrorCode } from '../../../schemas/error.ts'
import type { Table as FullTable } from '../../../schemas/table.ts'
import type { Permissions } from '../../../schemas/token.ts'
import type { PlainField as Field } from '../../../services/model/table.ts'
import type { Query } from './queries.ts'
import type { Row, StoredTable } from './stored-tables.ts'
import type { Tag } from './tags.ts'
import { fold } from './values.ts'
import { deriveTable, type StoredView } from './views.ts'

/** The state of the service as plain data. The model is written from the contract, not from the sources. */
export interface Model {
  readonly maxPageSize: number
  readonly requirePasswordChange: boolean
  now: number
  readonly admins: Administrator[]
  readonly sessions: Session[]
  readonly tokens: Token[]
  /** All tables of the file. A registered table is missing here after another program has dropped it. */
  readonly stored: StoredTable[]
  /** All SQL views of the file. */
  readonly views: StoredView[]
  readonly registered: Registered[]
  /** All cursors that the service has returned. */
  readonly cursors: Cursor[]
  /** All entity tags that the service has returned. */
  readonly tags: Tag[]
}

export interface Administrator {
  readonly id: number
  readonly name: string
  nickname: string
  password: string
  mustChangePassword: boolean
  readonly createdAt: number
  updatedAt: number
}

export interface Session {
  readonly cookie: string
  readonly adminId: number
  readonly expiresAt: number
  hasEnded: boolean
}

export interface PreviousSecret {
  readonly secret: string
  readonly validUntil: number
}

export interface Token {
  readonly id: number
  secret: string
  prefix: string
  /** The secret before the last rotation. */
  previous: PreviousSecret | null
  name: string
  permissions: Permissions
  isActive: boolean
  expiresAt: number | null
  lastUsedAt: number | null
  readonly createdAt: number
  updatedAt: number
}

/** A position between two records in the order of a query. */
export interface Cursor {
  readonly text: string
  readonly tableId: number
  readonly query: Query
  /** All that the cursor depends on besides the table, as text. */
  readonly selection: string
  /** The last record of the page, as it was then. */
  readonly position: Row
  /** The number of records up to the end of the page. */
  readonly end: number
}

/** A table without the properties that the harness removes. */
export interface Table
  extends Omit<FullTable, 'fields' | 'clientName' | 'foreignKeys' | 'warnings' | 'labelField' | 'searchIndex'> {
  fields: Field[]
  /** Whether the table has a search index, in any state. */
  searchIndex: boolean
}

export interface Registered extends Omit<Table, 'primaryKey'> {
  key: readonly string[]
  readonly isRowidKey: boolean
  hasTimestamps: boolean
}

/** Thrown by a rule of the model where the service must respond with an error. */
export class Refusal extends Error {
  readonly status: number
  /** null for 304, which has no body. */
  readonly code: ErrorCode | null
  /** The position of the operation of a batch. */
  readonly operation: number | undefined

  constructor(status: number, code: ErrorCode | null, operation?: number) {
    super(`${status} ${code}`)
    this.status = status
    this.code = code
    this.operation = operation
  }
}

export const refuse = (status: number, code: ErrorCode): never => {
  throw new Refusal(status, code)
}

export const invalid = () => refuse(400, 'VALIDATION_FAILED')

export const CONFIRMED = { success: true }

/** Returns the next value of a timestamp that must increase. */
export const nextTimestamp = (model: Model, previous: number) => Math.max(model.now, previous + 1)

export const remove = <T>(list: T[], item: T) => list.splice(list.indexOf(item), 1)

export const isLiveSession = (model: Model, { hasEnded, expiresAt }: Session) => !hasEnded && model.now < expiresAt

export const adminOf = (model: Model, session: Session) => model.admins.find(({ id }) => id === session.adminId)

/** Returns the administrator of a session. */
export const authenticate = (model: Model, session: Session | undefined): Administrator => {
  const admin = session && isLiveSession(model, session) ? adminOf(model, session) : undefined
  return admin ?? refuse(401, 'AUTHENTICATION_REQUIRED')
}

/** Returns the administrator of a session that may use /admin: the password may have to be changed first. */
export const authenticateAdmin = (model: Model, session: Session | undefined): Administrator => {
  const admin = authenticate(model, session)
  if (model.requirePasswordChange && admin.mustChangePassword) refuse(403, 'PASSWORD_CHANGE_REQUIRED')
  return admin
}

export const isLiveToken = (model: Model, { isActive, expiresAt }: Token) =>
  isActive && (expiresAt === null || model.now < expiresAt)

/** Returns a valid token and updates its last use, even if the request is refused later. */
export const authenticateToken = (model: Model, token: Token | undefined): Token => {
  if (!token || !model.tokens.includes(token) || !isLiveToken(model, token)) return refuse(401, 'INVALID_TOKEN')
  token.lastUsedAt = model.now
  return token
}

export type Need = 'read' | 'create' | 'update' | 'delete' | 'schema'

const isInScope = ({ tables }: Permissions, name: string) =>
  tables.some((entry) => entry === '*' || fold(entry) === fold(name))

const grants = ({ actions }: Permissions, need: Need) =>
  actions.includes(need) || (need !== 'read' && actions.includes('write'))

export const mayDo = ({ permissions }: Token, need: Need, name: string) =>
  grants(permissions, need) && isInScope(permissions, name)

export const mayUse = ({ permissions }: Token, name: string) =>
  permissions.actions.length > 0 && isInScope(permissions, name)

export const findRegistered = (model: Model, name: string) =>
  model.registered.find((table) => fold(table.name) === fold(name))

const isNamed =
  (name: string) =>
  (stored: { readonly name: string }): boolean =>
    fold(stored.name) === fold(name)

export const findView = (model: Model, name: string) => model.views.find(isNamed(name))

/** Whether the table of a view was dropped, so that SQLite cannot prepare the view. */
export const isBroken = (model: Model, { base }: StoredView) => !model.stored.includes(base)

/** Returns the stored table, or a table with the columns and rows that a view has now. A broken view has none. */
export const findStored = (model: Model, name: string): StoredTable | undefined => {
  const view = findView(model, name)
  if (!view) return model.stored.find(isNamed(name))
  return isBroken(model, view) ? undefined : deriveTable(view)
}

/** Whether a broken view reads a table of this name. With a new table it would work again, with other columns. */
export const isAwaited = (model: Model, name: string) =>
  model.views.some((view) => isBroken(model, view) && isNamed(name)(view.base))

/** Whether the file has a table or a view with the name. */
export const isStored = (model: Model, name: string) =>
  findView(model, name) !== undefined || findStored(model, name) !== undefined

/** Checks the action alone, before the body with the name of the table is read. */
export const assertGrants = ({ permissions }: Token, need: Need) => {
  if (!grants(permissions, need)) refuse(403, 'ACTION_NOT_ALLOWED')
}

export const assertMay = (token: Token, need: Need, name: string) => {
  if (!mayDo(token, need, name)) refuse(403, 'ACTION_NOT_ALLOWED')
}

/** Checks the scope before the existence of the table: a token cannot detect tables outside its scope. */
export const allow = (model: Model, token: Token, need: Need, name: string): Registered => {
  assertMay(token, need, name)
  const table = findRegistered(model, name)
  if (!table?.isPublished) return refuse(404, 'TABLE_NOT_FOUND')
  if (need !== 'read' && !table.isEditable) refuse(403, 'TABLE_READ_ONLY')
  return table
}

export const tableOf = (model: Model, id: number): Registered =>
  model.registered.find((table) => table.id === id) ?? refuse(404, 'TABLE_NOT_FOUND')

export type Viewer = 'administrator' | 'token'

export const visibleFields = ({ fields }: Registered, viewer: Viewer): readonly Field[] =>
  viewer === 'token' ? fields.filter(({ isHidden }) => !isHidden) : fields
