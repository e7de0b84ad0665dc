import fc from 'fast-check'
import {
  changePassword,
  createAdmin,
  deleteAdmin,
  endSession,
  idOfSession,
  listSessions,
  logIn,
  logOut,
  toAccount,
  toAdmin,
  updateAdmin
} from '../accounts.ts'
import { command, idIn, pick, type Read } from '../harness.ts'
import { rarely, selector, sometimes, text } from './arbitraries.ts'

const MISSING = 999_999

const password = fc.constantFrom('correct horse', 'battery staple', 'pässwörter', 'short')
const adminName = fc.constantFrom('Ann', 'BOB', 'Zoë', 'admin')

const byId = <T extends { readonly id: number }>(list: readonly T[]) => list.toSorted((a, b) => a.id - b.id)

const logInCommand = command(
  3,
  fc.record({ adminAt: selector, name: sometimes(adminName, 4), isWrong: rarely, isUpperCase: fc.boolean() }),
  async ({ model, check }, { adminAt, name, isWrong, isUpperCase }) => {
    const admin = pick(model.admins, adminAt)
    const chosen = name ?? String(admin?.name)
    const payload = {
      name: isUpperCase ? chosen.toUpperCase() : chosen,
      password: `${admin?.password}${isWrong ? '?' : ''}`
    }
    await check({ method: 'POST', url: '/auth/login', payload }, (_, { cookie }) =>
      logIn(model, payload.name, payload.password, cookie)
    )
  }
)

const readMe = command(2, selector, ({ asSessionOwner }, by) =>
  asSessionOwner(by, { method: 'GET', url: '/auth/me' }, (_, admin) => toAdmin(admin))
)

const logOutCommand = command(2, selector, ({ asSessionOwner }, by) =>
  asSessionOwner(by, { method: 'POST', url: '/auth/logout' }, (session) => logOut(session))
)

type ListedSession = ReturnType<typeof listSessions>[number]

/** The model does not know the clients of the logins. */
const sessionsIn: Read = ({ text }) =>
  JSON.parse(text).data.map(({ id, is_current, created_at, expires_at }: ListedSession) => ({
    id,
    is_current,
    created_at,
    expires_at
  }))

const listSessionsCommand = command(2, selector, ({ model, asSessionOwner }, by) =>
  asSessionOwner(by, { method: 'GET', url: '/auth/sessions' }, (session) => listSessions(model, session), sessionsIn)
)

const endSessionCommand = command(
  2,
  fc.record({ by: selector, sessionAt: selector }),
  ({ model, asSessionOwner }, { by, sessionAt }) => {
    const id = idOfSession(pick(model.sessions, sessionAt))
    return asSessionOwner(by, { method: 'DELETE', url: `/auth/sessions/${id}` }, (session) =>
      endSession(model, session, id)
    )
  }
)

const changePasswordCommand = command(
  2,
  fc.record({ by: selector, newPassword: password, oldPassword: sometimes(password, 4) }),
  ({ model, asSessionOwner }, { by, newPassword, oldPassword }) => {
    // The session is selected later, so the password may belong to another administrator and be wrong.
    const guess = oldPassword ?? String(pick(model.admins, by)?.password)
    const payload = { oldPassword: guess, newPassword }
    return asSessionOwner(by, { method: 'PUT', url: '/auth/password', payload }, (session) =>
      changePassword(model, session, guess, newPassword)
    )
  }
)

const create = command(
  3,
  fc.record({ by: selector, name: adminName, nickname: text, password }),
  ({ model, asAdmin }, { by, ...payload }) =>
    asAdmin(by, { method: 'POST', url: '/admin/admins', payload }, (_, returned) =>
      createAdmin(model, payload, idIn(returned))
    )
)

const update = command(
  2,
  fc.record({ by: selector, adminAt: selector, nickname: fc.option(text), password: sometimes(password, 3) }),
  ({ model, asAdmin }, { by, adminAt, ...changes }) => {
    const id = pick([...model.admins, { id: MISSING }], adminAt)?.id ?? MISSING
    const { nickname, password } = changes
    const payload = { ...(nickname !== null && { nickname }), ...(password !== null && { password }) }
    return asAdmin(by, { method: 'PUT', url: `/admin/admins/${id}`, payload }, (admin) =>
      updateAdmin(model, admin, id, payload)
    )
  }
)

const remove = command(2, fc.record({ by: selector, adminAt: selector }), ({ model, asAdmin }, { by, adminAt }) => {
  const id = pick([...model.admins, { id: MISSING }], adminAt)?.id ?? MISSING
  return asAdmin(by, { method: 'DELETE', url: `/admin/admins/${id}` }, () => deleteAdmin(model, id))
})

export const listAdmins = command(1, selector, ({ model, asAdmin }, by) =>
  asAdmin(by, { method: 'GET', url: '/admin/admins' }, () => byId(model.admins.map(toAccount)))
)

export const accountCommands = {
  logIn: logInCommand,
  readMe,
  logOut: logOutCommand,
  listSessions: listSessionsCommand,
  endSession: endSessionCommand,
  changePassword: changePasswordCommand,
  createAdmin: create,
  updateAdmin: update,
  deleteAdmin: remove,
  listAdmins
}
