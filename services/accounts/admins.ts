import { randomBytes } from 'node:crypto'
import type { AdminAccount, AdminChanges, NewAdmin, PasswordChange } from '../../schemas/admin.ts'
import { type Database, UnexpectedChanges } from '../engine/database.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError, hasCode, invalid } from '../model/errors.ts'
import type { Row } from '../model/sql-value.ts'
import type { Unit } from '../sql/statement.ts'
import * as statements from './admin-statements.ts'
import type { Credentials } from './credentials.ts'
import { normalizePassword } from './passwords.ts'
import { endSessionsOf, readSession } from './session-statements.ts'
import { authenticationRequired, type Session } from './sessions.ts'

interface Dependencies {
  readonly db: Database
  readonly clock: Clock
  readonly credentials: Credentials
  /** Characters that a password must have where it is set. */
  readonly passwordMinLength: number
}

/** Who acts, and from where. */
export interface Actor {
  readonly session: Session
  readonly address: string
}

export interface FirstAdmin {
  readonly name: string
  /** The password, only where it was made up here: nobody knows it until it is shown. */
  readonly generatedPassword: string | null
  /** The given password has fewer characters than any later one must have. */
  readonly isPasswordShort: boolean
}

const RANDOM_PASSWORD_BYTES = 18
/** Hashing at the start is not on behalf of any client. */
const NO_ADDRESS = ''

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
  new DomainError('OWN_PASSWORD', 'Your own password is changed with the old one.', {
    hint: 'Send both to PUT /auth/password.'
  })

export const createAdminService = ({ db, clock, credentials, passwordMinLength }: Dependencies) => {
  const isShort = (password: string) => [...normalizePassword(password)].length < passwordMinLength

  const assertLongEnough = (password: string, path: string) => {
    if (!isShort(password)) return
    const message = `A password must have at least ${passwordMinLength} characters.`
    throw invalid([{ path, code: 'length', message }])
  }

  /**
   * The results of the unit; null where a statement of it met other rows than it expects. The session is asked for in
   * the same transaction: it may have ended while a password waited to be hashed.
   * @throws AUTHENTICATION_REQUIRED
   */
  const commit = async ({ session }: Actor, unit: Unit) => {
    try {
      const [, ...results] = await db.write([{ ...readSession(session.id, clock()), expect: 1 }, ...unit])
      return results
    } catch (error) {
      if (!(error instanceof UnexpectedChanges)) throw error
      if (error.statement === 0) throw authenticationRequired()
      return null
    }
  }

  const list = async (): Promise<AdminAccount[]> => (await db.read(statements.listAdmins)).map(toAccount)

  /** @throws ADMIN_EXISTS */
  const create = async ({ name, nickname, password }: NewAdmin, by: Actor): Promise<AdminAccount> => {
    assertLongEnough(password, '/password')
    const hash = await credentials.hash(password, by.address)
    const results = await commit(by, [statements.insertAdmin({ name, nickname, hash }, clock())]).catch((error) => {
      throw hasCode(error, 'UNIQUE_VIOLATION') ? adminExists(name) : error
    })
    return toAccount(results?.[0]?.rows[0] as Row)
  }

  const hashForAnother = async (id: number, password: string, { session, address }: Actor) => {
    if (id === session.admin.id) throw ownPassword()
    assertLongEnough(password, '/password')
    return credentials.hash(password, address)
  }

  /**
   * A password set here is known to two people: its owner has to change it, and every session of the owner ends.
   * @throws ADMIN_NOT_FOUND, OWN_PASSWORD
   */
  const update = async (id: number, { nickname, password }: AdminChanges, by: Actor) => {
    const hash = password === undefined ? null : await hashForAnother(id, password, by)
    const unit = [statements.updateAdmin(id, { nickname: nickname ?? null, hash }, clock())]
    if (hash !== null) unit.push(endSessionsOf(id))
    if (!(await commit(by, unit))) throw adminNotFound(id)
  }

  /** Ends the sessions too: they refer to the administrator. @throws ADMIN_NOT_FOUND, LAST_ADMIN */
  const remove = async (id: number, by: Actor) => {
    if (await commit(by, [statements.deleteUnlessLast(id)])) return
    const [admin] = await db.read(statements.findAdmin(id))
    throw admin ? lastAdmin() : adminNotFound(id)
  }

  /** The stored hash that the password has been verified against. */
  const verifyOwn = async ({ session: { admin }, address }: Actor, password: string) => {
    const [row] = await db.read(statements.findAdmin(admin.id))
    if (!row) throw authenticationRequired()
    const stored = String(row.password_hash)
    const verified = await credentials.verify({ name: admin.name, address }, password, stored)
    if (verified === null) throw new DomainError('WRONG_PASSWORD', 'The old password is wrong.')
    return stored
  }

  /**
   * Keeps the given session and ends every other one of its administrator.
   * @throws WRONG_PASSWORD, which counts as a failed login; TOO_MANY_ATTEMPTS
   */
  const changeOwnPassword = async (change: PasswordChange, by: Actor) => {
    const { address, session } = by
    const { id, admin } = session
    assertLongEnough(change.newPassword, '/newPassword')
    if (normalizePassword(change.newPassword) === normalizePassword(change.oldPassword)) {
      throw invalid([
        { path: '/newPassword', code: 'unchanged', message: 'The new password must differ from the old one.' }
      ])
    }
    let verified = await verifyOwn(by, change.oldPassword)
    const hash = await credentials.hash(change.newPassword, address)
    const unit = () => [statements.changePassword(admin.id, verified, hash, clock()), endSessionsOf(admin.id, id)]
    // The same session may have changed it meanwhile, or a login may have hashed it anew.
    while (!(await commit(by, unit()))) verified = await verifyOwn(by, change.oldPassword)
  }

  /**
   * Hashes the password of the first administrator, where there is none at all. Gives the step that then makes it and
   * says so; null where there is one.
   */
  const prepareFirst = async ({ name, password }: { name: string; password?: string }) => {
    if ((await list()).length > 0) return async () => null
    const generatedPassword = password === undefined ? randomBytes(RANDOM_PASSWORD_BYTES).toString('base64url') : null
    const chosen = password ?? String(generatedPassword)
    const hash = await credentials.hash(chosen, NO_ADDRESS)
    return async (): Promise<FirstAdmin | null> => {
      const [inserted] = await db.write([statements.insertFirstAdmin({ name, nickname: name, hash }, clock())])
      return inserted?.changes === 1 ? { name, generatedPassword, isPasswordShort: isShort(chosen) } : null
    }
  }

  return { list, create, update, remove, changeOwnPassword, prepareFirst }
}
export type AdminService = ReturnType<typeof createAdminService>
