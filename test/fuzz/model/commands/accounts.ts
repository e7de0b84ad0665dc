import fc from 'fast-check'
import {
  changePassword,
  createAdmin,
  deleteAdmin,
  logIn,
  logOut,
  toAccount,
  toAdmin,
  updateAdmin
} from '../accounts.ts'
import { command, idIn, pick } from '../world.ts'
import { rarely, seldom, text, which } from './choices.ts'

const MISSING = 999_999

const password = fc.constantFrom('correct horse', 'battery staple', 'pässwörter', 'short')
const adminName = fc.constantFrom('Ann', 'BOB', 'Zoë', 'admin')

const byId = <T extends { readonly id: number }>(list: readonly T[]) => list.toSorted((a, b) => a.id - b.id)

const logInAgain = command(
  3,
  fc.record({ who: which, name: seldom(adminName, 4), isWrong: rarely, shouts: fc.boolean() }),
  async ({ model, check }, { who, name, isWrong, shouts }) => {
    const known = pick(model.admins, who)
    const called = name ?? String(known?.name)
    const sent = { name: shouts ? called.toUpperCase() : called, password: `${known?.password}${isWrong ? '?' : ''}` }
    await check({ method: 'POST', url: '/auth/login', payload: sent }, (_, { cookie }) =>
      logIn(model, sent.name, sent.password, cookie)
    )
  }
)

const readMe = command(2, which, ({ asSelf }, by) =>
  asSelf(by, { method: 'GET', url: '/auth/me' }, (_, admin) => toAdmin(admin))
)

const leave = command(2, which, ({ asSelf }, by) =>
  asSelf(by, { method: 'POST', url: '/auth/logout' }, (session) => logOut(session))
)

const changeMine = command(
  2,
  fc.record({ by: which, newPassword: password, oldPassword: seldom(password, 4) }),
  ({ model, asSelf }, { by, newPassword, oldPassword }) => {
    // Whose session it will be is not known yet: where passwords are guessed, all but one guess is wrong.
    const guess = oldPassword ?? String(pick(model.admins, by)?.password)
    const payload = { oldPassword: guess, newPassword }
    return asSelf(by, { method: 'PUT', url: '/auth/password', payload }, (session) =>
      changePassword(model, session, guess, newPassword)
    )
  }
)

const create = command(
  3,
  fc.record({ by: which, name: adminName, nickname: text, password }),
  ({ model, asAdmin }, { by, ...payload }) =>
    asAdmin(by, { method: 'POST', url: '/admin/admins', payload }, (_, learned) =>
      createAdmin(model, payload, idIn(learned))
    )
)

const update = command(
  2,
  fc.record({ by: which, who: which, nickname: fc.option(text), password: seldom(password, 3) }),
  ({ model, asAdmin }, { by, who, ...changes }) => {
    const id = pick([...model.admins, { id: MISSING }], who)?.id ?? MISSING
    const { nickname, password } = changes
    const payload = { ...(nickname !== null && { nickname }), ...(password !== null && { password }) }
    return asAdmin(by, { method: 'PUT', url: `/admin/admins/${id}`, payload }, (admin) =>
      updateAdmin(model, admin, id, payload)
    )
  }
)

const remove = command(2, fc.record({ by: which, who: which }), ({ model, asAdmin }, { by, who }) => {
  const id = pick([...model.admins, { id: MISSING }], who)?.id ?? MISSING
  return asAdmin(by, { method: 'DELETE', url: `/admin/admins/${id}` }, () => deleteAdmin(model, id))
})

export const listAdmins = command(1, which, ({ model, asAdmin }, by) =>
  asAdmin(by, { method: 'GET', url: '/admin/admins' }, () => byId(model.admins.map(toAccount)))
)

export const accountCommands = {
  logIn: logInAgain,
  readMe,
  logOut: leave,
  changePassword: changeMine,
  createAdmin: create,
  updateAdmin: update,
  deleteAdmin: remove,
  listAdmins
}
