import type { AdminAccount, AdminChanges, NewAdmin, PasswordChange } from '../../schemas/admin.ts'
import { auditRow, summaryOf } from '../audit/audit-row.ts'
import { type Database, UnexpectedChanges } from '../engine/database.ts'
import { type AdminCaller, type Administrator, serviceCaller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError, hasCode, invalid } from '../model/errors.ts'
import type { Row } from '../model/sql-value.ts'
import { deleteRetriesOfCaller } from '../sql/retries.ts'
import type { Unit } from '../sql/statement.ts'
import * as statements from './admin-statements.ts'
import type { Credentials } from './credentials.ts'
import type { MemorySessions } from './memory-sessions.ts'
import { normalizePassword } from './passwords.ts'
import { randomPassword } from './random-password.ts'
import { endSessionsOf, requireHolder, requireSession } from './session-statements.ts'
import { authenticationRequired } from './sessions.ts'

interface AdminServiceOptions {
  readonly db: Database
  readonly clock: Clock
  readonly credentials: Credentials
  readonly memorySessions: MemorySessions
  /** Minimum number of characters of a new password. */
  readonly passwordMinLength: number
}

export interface FirstAdmin {
  readonly name: string
  /** The generated password, to be printed once; null if one was configured. */
  readonly generatedPassword: string | null
  /** The configured password is shorter than PASSWORD_MIN_LENGTH. */
  readonly isPasswordShort: boolean
}

const toAccount = (row: Row): AdminAccount => ({
  id: Number(row.id),
  name: String(row.name),
  nickname: String(row.nickname),
  must_change_password: Number(row.must_change_password),
  created_at: Number(row.created_at),
  updated_at: Number(row.updated_at)
})

const adminNotFound = (id: number) => new DomainError('ADMIN_NOT_FOUND', `There is no administrator with id ${id}.`)

const adminExists = (name: string) =>
  new DomainError(
    'ADMIN_EXISTS',
    `There is an administrator named '${name}' already. Names are compared ignoring case.`
  )

const lastAdmin = () =>
  new DomainError('LAST_ADMIN', 'The last administrator cannot be deleted.', { hint: 'Create another one first.' })

const ownPassword = () =>
  new DomainError('OWN_PASSWORD', 'You cannot set your own password here: changing it needs the old one.', {
    hint: 'Send both to PUT /auth/password.'
  })

export const createAdminService = (options: AdminServiceOptions) => {
  const { db, clock, credentials, memorySessions, passwordMinLength } = options
  const isShort = (password: string) => [...normalizePassword(password)].length < passwordMinLength

  const assertLongEnough = (password: string, path: string) => {
    if (!isShort(password)) return
    const message = `A password must have at least ${passwordMinLength} characters.`
    throw invalid([{ path, code: 'length', message }])
  }

  /** Returns the check of the caller's session. The local caller has none. */
  const requireCaller = (caller: Administrator): Unit => {
    if (caller.kind === 'local') return []
    const inMemory = memorySessions.find(caller.sessionId)
    return [inMemory ? requireHolder(inMemory) : requireSession(caller.sessionId, clock())]
  }

  /**
   * Returns the results of the unit; null if one of its statements did not change the rows that it expects. The unit
   * begins with a check of the session, which may have ended while a password was hashed.
   * @throws AUTHENTICATION_REQUIRED
   */
  const commit = async (caller: Administrator, unit: Unit) => {
    const checks = requireCaller(caller)
    try {
      return (await db.write([...checks, ...unit])).slice(checks.length)
    } catch (error) {
      if (!(error instanceof UnexpectedChanges)) throw error
      if (error.statement < checks.length) throw authenticationRequired()
      return null
    }
  }

  const list = async (): Promise<AdminAccount[]> => (await db.read(statements.listAdmins)).map(toAccount)

  /** @throws ADMIN_NOT_FOUND */
  const read = async (id: number): Promise<AdminAccount> => {
    const [row] = await db.read(statements.readAdmin(id))
    if (!row) throw adminNotFound(id)
    return toAccount(row)
  }

  /** Without a nickname, it is the name. @throws ADMIN_EXISTS */
  const create = async (
    caller: Administrator,
    { name, nickname = name, password }: NewAdmin
  ): Promise<AdminAccount> => {
    assertLongEnough(password, '/password')
    const hash = await credentials.hash(password, caller.address)
    const now = clock()
    const results = await commit(caller, [
      statements.insertAdmin({ name, nickname, hash }, now),
      auditRow(caller, now, { action: 'admin.create', target: name, summary: { nickname } })
    ]).catch((error) => {
      throw hasCode(error, 'UNIQUE_VIOLATION') ? adminExists(name) : error
    })
    return toAccount(results?.[0]?.rows[0] as Row)
  }

  const hashForAnother = async (caller: Administrator, id: number, password: string) => {
    if (id === caller.id) throw ownPassword()
    assertLongEnough(password, '/password')
    return credentials.hash(password, caller.address)
  }

  /**
   * Sets the nickname or the password of an administrator. Two people then have the password, so its owner must
   * change it, and all sessions of the owner end.
   * @throws ADMIN_NOT_FOUND, OWN_PASSWORD
   */
  const update = async (caller: Administrator, id: number, changes: AdminChanges) => {
    const { nickname = null, password } = changes
    const hash = password === undefined ? null : await hashForAnother(caller, id, password)
    const { name: target } = await read(id)
    const action = hash === null ? 'admin.change' : 'admin.reset-password'
    const now = clock()
    const isCommitted = await commit(caller, [
      statements.updateAdmin(id, { nickname, hash }, now),
      ...(hash === null ? [] : [endSessionsOf(id)]),
      auditRow(caller, now, { action, target, targetId: id, summary: summaryOf(changes) })
    ])
    if (!isCommitted) throw adminNotFound(id)
  }

  /** Deletes an administrator and, by a foreign key, the sessions. @throws ADMIN_NOT_FOUND, LAST_ADMIN */
  const remove = async (caller: Administrator, id: number) => {
    const { name: target } = await read(id)
    const isCommitted = await commit(caller, [
      statements.deleteUnlessLast(id),
      deleteRetriesOfCaller({ kind: 'admin', id, name: target }),
      auditRow(caller, clock(), { action: 'admin.delete', target, targetId: id })
    ])
    if (isCommitted) return
    const [admin] = await db.read(statements.findAdmin(id))
    throw admin ? lastAdmin() : adminNotFound(id)
  }

  /** Returns the stored hash that the password matches. @throws WRONG_PASSWORD, TOO_MANY_ATTEMPTS */
  const verifyOwn = async ({ id, name, address }: AdminCaller, password: string) => {
    const [row] = await db.read(statements.findAdmin(id))
    if (!row) throw authenticationRequired()
    const stored = String(row.password_hash)
    const verified = await credentials.verify({ name, address }, password, stored)
    if (verified === null) throw new DomainError('WRONG_PASSWORD', 'The old password is wrong.')
    return stored
  }

  /**
   * Changes the caller's own password and ends all of the caller's other sessions.
   * @throws WRONG_PASSWORD, which counts as a failed login; TOO_MANY_ATTEMPTS
   */
  const changeOwnPassword = async (caller: AdminCaller, change: PasswordChange) => {
    const { id, sessionId, address } = caller
    assertLongEnough(change.newPassword, '/newPassword')
    if (normalizePassword(change.newPassword) === normalizePassword(change.oldPassword)) {
      throw invalid([
        { path: '/newPassword', code: 'unchanged', message: 'The new password must differ from the old one.' }
      ])
    }
    let verified = await verifyOwn(caller, change.oldPassword)
    const hash = await credentials.hash(change.newPassword, address)
    const unit = () => [
      statements.changePassword(id, verified, hash, clock()),
      endSessionsOf(id, sessionId),
      auditRow(caller, clock(), { action: 'password.change', target: caller.name, targetId: id })
    ]
    // The stored hash may have changed since: another change in the same session, or a login that stored a stronger hash.
    while (!(await commit(caller, unit()))) verified = await verifyOwn(caller, change.oldPassword)
    memorySessions.replaceHash(sessionId, hash)
  }

  /** Returns false if there is an administrator already. */
  const storeFirst = async (account: statements.NewAccount) => {
    const now = clock()
    const { name: target, nickname } = account
    const row = auditRow(serviceCaller, now, { action: 'admin.create', target, summary: { nickname } })
    try {
      await db.write([statements.insertFirstAdmin(account, now), row])
      return true
    } catch (error) {
      if (error instanceof UnexpectedChanges) return false
      throw error
    }
  }

  /**
   * Hashes the password of the first administrator if there is no administrator. Returns the function that stores the
   * account; its result is null if there was an administrator already.
   */
  const prepareFirst = async ({ name, password }: { name: string; password?: string }) => {
    if ((await list()).length > 0) return async () => null
    const generatedPassword = password === undefined ? randomPassword() : null
    const chosen = password ?? String(generatedPassword)
    const hash = await credentials.hash(chosen, serviceCaller.address)
    return async (): Promise<FirstAdmin | null> => {
      const isStored = await storeFirst({ name, nickname: name, hash })
      return isStored ? { name, generatedPassword, isPasswordShort: isShort(chosen) } : null
    }
  }

  return { list, read, create, update, remove, changeOwnPassword, prepareFirst }
}
export type AdminService = ReturnType<typeof createAdminService>
