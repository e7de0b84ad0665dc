import type { ErrorCode } from '../../../schemas/error.ts'
import type { Field, Table } from '../../../schemas/table.ts'
import type { Permissions } from '../../../schemas/token.ts'
import type { StoredTable } from './stored-tables.ts'
import { fold } from './values.ts'

/** What the service holds, as plain data: written from the contract, not from the sources. */
export interface Model {
  readonly maxPageSize: number
  readonly requirePasswordChange: boolean
  now: number
  readonly admins: Administrator[]
  readonly sessions: Session[]
  readonly tokens: Token[]
  /** All tables of the file; a registered one may be gone from here, where another program dropped it. */
  readonly stored: StoredTable[]
  readonly registered: Registered[]
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

export interface Token {
  readonly id: number
  readonly secret: string
  readonly prefix: string
  name: string
  permissions: Permissions
  isActive: boolean
  expiresAt: number | null
  lastUsedAt: number | null
  readonly createdAt: number
  updatedAt: number
}

export interface Registered extends Omit<Table, 'primaryKey'> {
  key: readonly string[]
  readonly isRowidKey: boolean
  readonly isImported: boolean
  hasTimestamps: boolean
}

/** What a rule of the model answers in place of data. */
export class Refusal extends Error {
  readonly status: number
  readonly code: ErrorCode

  constructor(status: number, code: ErrorCode) {
    super(`${status} ${code}`)
    this.status = status
    this.code = code
  }
}

export const refuse = (status: number, code: ErrorCode): never => {
  throw new Refusal(status, code)
}

/** The code of nearly every fault of form. */
export const invalid = () => refuse(400, 'VALIDATION_FAILED')

export const CONFIRMED = { success: true }

/** A timestamp that must change. */
export const moved = (model: Model, previous: number) => Math.max(model.now, previous + 1)

export const remove = <T>(list: T[], item: T) => list.splice(list.indexOf(item), 1)

export const isLiveSession = (model: Model, { hasEnded, expiresAt }: Session) => !hasEnded && model.now < expiresAt

export const adminOf = (model: Model, session: Session) => model.admins.find(({ id }) => id === session.adminId)

/** Who asks, at a route that wants an administrator. */
export const authenticate = (model: Model, session: Session | undefined): Administrator => {
  const admin = session && isLiveSession(model, session) ? adminOf(model, session) : undefined
  return admin ?? refuse(401, 'AUTHENTICATION_REQUIRED')
}

/** The same under /admin, which may be closed until the password is changed. */
export const administer = (model: Model, session: Session | undefined): Administrator => {
  const admin = authenticate(model, session)
  if (model.requirePasswordChange && admin.mustChangePassword) refuse(403, 'PASSWORD_CHANGE_REQUIRED')
  return admin
}

export const isLiveToken = (model: Model, { isActive, expiresAt }: Token) =>
  isActive && (expiresAt === null || model.now < expiresAt)

/** Marks the token as used, whatever becomes of the request. */
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

export const reaches = ({ permissions }: Token, name: string) =>
  permissions.actions.length > 0 && isInScope(permissions, name)

export const findRegistered = (model: Model, name: string) =>
  model.registered.find((table) => fold(table.name) === fold(name))

export const findStored = (model: Model, name: string) => model.stored.find((table) => fold(table.name) === fold(name))

/** Before the body is read, which names the table. */
export const assertGrants = ({ permissions }: Token, need: Need) => {
  if (!grants(permissions, need)) refuse(403, 'ACTION_NOT_ALLOWED')
}

export const assertMay = (token: Token, need: Need, name: string) => {
  if (!mayDo(token, need, name)) refuse(403, 'ACTION_NOT_ALLOWED')
}

/** Scope before existence: a token learns nothing of tables outside its scope. */
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
