import type { NewAdmin } from '../../../schemas/admin.ts'
import type { NewToken, TokenChanges } from '../../../schemas/token.ts'
import {
  type Administrator,
  adminOf,
  CONFIRMED,
  invalid,
  isLiveSession,
  type Model,
  nextTimestamp,
  refuse,
  remove,
  type Session,
  type Token
} from './model.ts'
import { fold } from './values.ts'

const SESSION_TTL_MS = 43_200_000
const MIN_PASSWORD_LENGTH = 8

const isShort = (password: string) => [...password].length < MIN_PASSWORD_LENGTH

export const toAdmin = ({ id, name, nickname, mustChangePassword }: Administrator) => ({
  id,
  name,
  nickname,
  mustChangePassword
})

export const toAccount = (admin: Administrator) => ({
  id: admin.id,
  name: admin.name,
  nickname: admin.nickname,
  must_change_password: Number(admin.mustChangePassword),
  created_at: admin.createdAt,
  updated_at: admin.updatedAt
})

const findByName = (model: Model, name: string) => model.admins.find((admin) => fold(admin.name) === fold(name))

export const logIn = (model: Model, name: string, password: string, cookie: string) => {
  const admin = findByName(model, name)
  if (!admin || admin.password !== password) return refuse(401, 'INVALID_CREDENTIALS')
  // The times in a JWT are whole seconds.
  const expiresAt = Math.floor(model.now / 1000) * 1000 + SESSION_TTL_MS
  model.sessions.push({ cookie, adminId: admin.id, expiresAt, hasEnded: false })
  return { admin: toAdmin(admin), mustChangePassword: admin.mustChangePassword }
}

/** The session's id is the claim `jti` of its JWT. */
const idOf = ({ cookie }: Session): string => {
  const [, claims = ''] = cookie.split('.')
  return JSON.parse(Buffer.from(claims, 'base64url').toString()).jti
}

const sessionsOf = (model: Model, { adminId }: Session) =>
  model.sessions.filter((session) => session.adminId === adminId && isLiveSession(model, session))

export const listSessions = (model: Model, current: Session) =>
  sessionsOf(model, current)
    .map((session) => ({
      id: idOf(session),
      is_current: session === current,
      created_at: session.expiresAt - SESSION_TTL_MS,
      expires_at: session.expiresAt
    }))
    .sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1))

/** Returns the id for a request, also of a session that has ended or that belongs to another administrator. */
export const idOfSession = (session: Session | undefined) =>
  session ? idOf(session) : '00000000-0000-4000-8000-000000000000'

export const endSession = (model: Model, current: Session, id: string) => {
  const session = sessionsOf(model, current).find((own) => idOf(own) === id) ?? refuse(404, 'SESSION_NOT_FOUND')
  session.hasEnded = true
  return CONFIRMED
}

const endSessions = (model: Model, adminId: number, kept?: Session) => {
  for (const session of model.sessions) if (session.adminId === adminId && session !== kept) session.hasEnded = true
}

export const logOut = (session: Session) => {
  session.hasEnded = true
  return CONFIRMED
}

export const changePassword = (model: Model, session: Session, oldPassword: string, newPassword: string) => {
  const admin = adminOf(model, session) as Administrator
  if (isShort(newPassword) || newPassword === oldPassword) invalid()
  if (admin.password !== oldPassword) refuse(403, 'WRONG_PASSWORD')
  admin.updatedAt = nextTimestamp(model, admin.updatedAt)
  admin.password = newPassword
  admin.mustChangePassword = false
  endSessions(model, admin.id, session)
  return CONFIRMED
}

export const createAdmin = (model: Model, { name, nickname = name, password }: NewAdmin, id: number) => {
  if (isShort(password)) invalid()
  if (findByName(model, name)) refuse(409, 'ADMIN_EXISTS')
  const { now } = model
  const admin = { id, name, nickname, password, mustChangePassword: true, createdAt: now, updatedAt: now }
  model.admins.push(admin)
  return toAccount(admin)
}

const findAdmin = (model: Model, id: number): Administrator =>
  model.admins.find((admin) => admin.id === id) ?? refuse(404, 'ADMIN_NOT_FOUND')

interface AdminChanges {
  readonly nickname?: string
  readonly password?: string
}

export const updateAdmin = (model: Model, by: Administrator, id: number, { nickname, password }: AdminChanges) => {
  if (nickname === undefined && password === undefined) invalid()
  if (password !== undefined && id === by.id) refuse(403, 'OWN_PASSWORD')
  if (password !== undefined && isShort(password)) invalid()
  const admin = findAdmin(model, id)
  admin.updatedAt = nextTimestamp(model, admin.updatedAt)
  admin.nickname = nickname ?? admin.nickname
  if (password === undefined) return CONFIRMED
  admin.password = password
  admin.mustChangePassword = true
  endSessions(model, id)
  return CONFIRMED
}

export const deleteAdmin = (model: Model, id: number) => {
  const admin = findAdmin(model, id)
  if (model.admins.length === 1) refuse(409, 'LAST_ADMIN')
  endSessions(model, id)
  remove(model.admins, admin)
  return CONFIRMED
}

/** Returns the secret before the last rotation; undefined if it has ended. */
export const validPrevious = (model: Model, { previous }: Token) =>
  previous && model.now < previous.validUntil ? previous : undefined

export const toListedToken = (model: Model, token: Token) => ({
  id: token.id,
  name: token.name,
  token_prefix: token.prefix,
  permissions: token.permissions,
  role: null,
  claims: {},
  integers: 'auto',
  networks: [],
  previous_valid_until: validPrevious(model, token)?.validUntil ?? null,
  is_active: token.isActive,
  expires_at: token.expiresAt,
  last_used_at: token.lastUsedAt,
  created_at: token.createdAt,
  updated_at: token.updatedAt
})

/** An expiry in this range is in seconds by mistake. */
const checkExpiry = (expiresAt: number | null | undefined) => {
  if (expiresAt != null && expiresAt >= 1e9 && expiresAt <= 1e11) invalid()
}

const maskOf = (secret: string) => secret.replace(/^(rh_[0-9a-f]{8})[0-9a-f]{56}$/, '$1********')

export const issueToken = (model: Model, sent: NewToken, { id, secret }: { id: number; secret: string }) => {
  checkExpiry(sent.expiresAt)
  const { name, permissions = { tables: [], actions: [] }, expiresAt = null } = sent
  const { now } = model
  if (expiresAt !== null && expiresAt <= now) invalid()
  const prefix = maskOf(secret)
  const times = { expiresAt, lastUsedAt: null, createdAt: now, updatedAt: now }
  model.tokens.push({ id, secret, prefix, previous: null, name, permissions, isActive: true, ...times })
  const issued = { id, name, token: secret, tokenPrefix: prefix, permissions }
  return sent.expiresAt === undefined ? issued : { ...issued, expiresAt }
}

const findToken = (model: Model, id: number): Token =>
  model.tokens.find((token) => token.id === id) ?? refuse(404, 'TOKEN_NOT_FOUND')

export const changeToken = (model: Model, id: number, changes: TokenChanges) => {
  if (Object.keys(changes).length === 0) invalid()
  checkExpiry(changes.expiresAt)
  const token = findToken(model, id)
  Object.assign(token, changes, { updatedAt: nextTimestamp(model, token.updatedAt) })
  return CONFIRMED
}

export const rotateToken = (model: Model, id: number, overlapSeconds: number, secret: string) => {
  const token = findToken(model, id)
  const validUntil = model.now + overlapSeconds * 1000
  const previous = overlapSeconds === 0 ? null : { secret: token.secret, validUntil }
  const updatedAt = nextTimestamp(model, token.updatedAt)
  Object.assign(token, { secret, prefix: maskOf(secret), previous, updatedAt })
  return { id, token: secret, tokenPrefix: token.prefix, previousValidUntil: previous && validUntil }
}

export const revokeToken = (model: Model, id: number) => {
  remove(model.tokens, findToken(model, id))
  return CONFIRMED
}
