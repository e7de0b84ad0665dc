import t from 'tap'
import { type AdminService, createAdminService } from '../../../services/accounts/admins.ts'
import { createCredentials } from '../../../services/accounts/credentials.ts'
import { createPasswords } from '../../../services/accounts/passwords.ts'
import type { Session } from '../../../services/accounts/sessions.ts'
import type { Database } from '../../../services/engine/database.ts'
import { CHEAP, PASSWORD } from '../../helpers.ts'
import { createTestClock, openTestDatabase, startAdminServices } from '../../session-app.ts'
import { anonymousCaller, callerOf } from './callers.ts'

const ADDRESS = '192.0.2.1'
const NEW = { nickname: 'N', password: PASSWORD }

t.test('administrators', async (t) => {
  const { db, clock, advance, admins, sessions } = await startAdminServices(t)
  const logIn = (name: string, password = PASSWORD) => sessions.logIn(anonymousCaller(ADDRESS), { name, password })
  const by = (session: Session) => callerOf(session, ADDRESS)
  const actor = by(await logIn('admin'))
  const account = async (id: number) => (await admins.list()).find((admin) => admin.id === id)

  t.test('a new administrator is listed, and must change the password', async (t) => {
    const created = await admins.create(actor, { ...NEW, name: 'Ada' })
    t.same(created, {
      id: 2,
      name: 'Ada',
      nickname: 'N',
      must_change_password: 1,
      created_at: clock(),
      updated_at: clock()
    })
    t.same(await account(2), created)
    t.match(await logIn('Ada'), { admin: { id: 2, mustChangePassword: true } })
  })

  t.test('a name is taken whatever its case', async (t) => {
    await t.rejects(admins.create(actor, { ...NEW, name: 'ADA' }), {
      code: 'ADMIN_EXISTS',
      message: /^There is an administrator named 'ADA'/
    })
  })

  t.test('of two at once with one name, one is created', async (t) => {
    const outcomes = await Promise.allSettled([
      admins.create(actor, { ...NEW, name: 'twin' }),
      admins.create(actor, { ...NEW, name: 'Twin' })
    ])
    t.same(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  })

  t.test('a password of the shortest length is taken, one character less is not', async (t) => {
    await t.resolves(admins.create(actor, { ...NEW, name: 'long enough', password: '12345678' }))
    await t.rejects(admins.create(actor, { ...NEW, name: 'too short', password: '1234567' }), {
      code: 'VALIDATION_FAILED',
      details: [{ path: '/password', code: 'length' }]
    })
  })

  t.test('characters are counted, not the code units or code points that spell them', async (t) => {
    await t.rejects(admins.create(actor, { ...NEW, name: 'emoji', password: '😀😀😀😀' }), {
      code: 'VALIDATION_FAILED'
    })
    await t.rejects(admins.create(actor, { ...NEW, name: 'accents', password: 'e\u0301'.repeat(4) }), {
      code: 'VALIDATION_FAILED'
    })
  })

  t.test('a nickname changes alone, and ends no session', async (t) => {
    const session = await logIn('Ada')
    advance(1000)
    await admins.update(actor, 2, { nickname: 'Countess' })
    t.match(await account(2), { nickname: 'Countess', updated_at: clock() })
    t.match(await sessions.find(session.id), { admin: { nickname: 'Countess' } })
  })

  t.test('a nickname may be emptied', async (t) => {
    await admins.update(actor, 2, { nickname: '' })
    t.match(await account(2), { nickname: '' })
  })

  t.test('updated_at moves even when the clock stands still or goes back', async (t) => {
    const before = (await account(2))?.updated_at ?? 0
    advance(-5000)
    await admins.update(actor, 2, { nickname: 'A' })
    t.equal((await account(2))?.updated_at, before + 1)
    advance(5000)
  })

  t.test('changing one’s own password keeps this session and ends the others', async (t) => {
    const [here, elsewhere] = [await logIn('Ada'), await logIn('Ada')]
    await admins.changeOwnPassword(by(here), { oldPassword: PASSWORD, newPassword: 'battery staple' })
    t.match(await sessions.find(here.id), { admin: { mustChangePassword: false } })
    t.equal(await sessions.find(elsewhere.id), null)
    await t.rejects(logIn('Ada'), { code: 'INVALID_CREDENTIALS' })
    t.match(await logIn('Ada', 'battery staple'), { admin: { mustChangePassword: false } })
  })

  t.test('one’s own password does not change with a wrong old one', async (t) => {
    const session = await logIn('Ada', 'battery staple')
    const change = { oldPassword: PASSWORD, newPassword: 'another staple' }
    await t.rejects(admins.changeOwnPassword(by(session), change), { code: 'WRONG_PASSWORD', kind: 'forbidden' })
    t.match(await logIn('Ada', 'battery staple'), { admin: { id: 2 } })
  })

  t.test('of two changes at once, even of one session, one holds', async (t) => {
    const session = await logIn('Ada', 'battery staple')
    const changeTo = (newPassword: string) =>
      admins.changeOwnPassword(by(session), { oldPassword: 'battery staple', newPassword })
    const outcomes = await Promise.allSettled([changeTo('first staple'), changeTo('second staple')])
    t.match(outcomes, [{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'WRONG_PASSWORD' } }])
    t.match(await logIn('Ada', 'first staple'), { admin: { id: 2 } })
    const back = { oldPassword: 'first staple', newPassword: 'battery staple' }
    await admins.changeOwnPassword(by(session), back)
  })

  t.test('a hash that was renewed while the new password was hashed is in the way of nobody', async (t) => {
    const session = await logIn('Ada', 'battery staple')
    const renewed = await createPasswords(CHEAP).hash('battery staple')
    const change = { oldPassword: 'battery staple', newPassword: 'another staple' }
    const changed = admins.changeOwnPassword(by(session), change)
    await db.write([{ sql: 'UPDATE _rowhouse_admins SET password_hash = ? WHERE id = 2', params: [renewed] }])
    await changed
    t.match(await logIn('Ada', 'another staple'), { admin: { id: 2 } })
    await admins.changeOwnPassword(by(session), { oldPassword: 'another staple', newPassword: 'battery staple' })
  })

  t.test('one’s own new password differs from the old one', async (t) => {
    const session = await logIn('Ada', 'battery staple')
    const change = { oldPassword: 'battery staple', newPassword: 'battery staple' }
    await t.rejects(admins.changeOwnPassword(by(session), change), {
      code: 'VALIDATION_FAILED',
      details: [{ path: '/newPassword', code: 'unchanged' }]
    })
  })

  t.test('one’s own new password is long enough', async (t) => {
    const session = await logIn('Ada', 'battery staple')
    const change = { oldPassword: 'battery staple', newPassword: 'staple' }
    await t.rejects(admins.changeOwnPassword(by(session), change), {
      code: 'VALIDATION_FAILED',
      details: [{ path: '/newPassword', code: 'length' }]
    })
  })

  t.test('a session that ended meanwhile changes no password', async (t) => {
    const session = await logIn('Ada', 'battery staple')
    await sessions.end(by(session))
    const change = { oldPassword: 'battery staple', newPassword: 'another staple' }
    await t.rejects(admins.changeOwnPassword(by(session), change), { code: 'AUTHENTICATION_REQUIRED' })
    t.match(await logIn('Ada', 'battery staple'), { admin: { id: 2 } })
  })

  t.test('a password set by another administrator has to be changed, and ends every session', async (t) => {
    const held = [await logIn('Ada', 'battery staple'), await logIn('Ada', 'battery staple')]
    await admins.update(actor, 2, { password: 'set by another' })
    for (const { id } of held) t.equal(await sessions.find(id), null)
    await t.rejects(logIn('Ada', 'battery staple'), { code: 'INVALID_CREDENTIALS' })
    t.match(await logIn('Ada', 'set by another'), { admin: { mustChangePassword: true } })
  })

  t.test('a password set by another administrator is long enough', async (t) => {
    await t.rejects(admins.update(actor, 2, { password: 'short' }), { code: 'VALIDATION_FAILED' })
    t.match(await logIn('Ada', 'set by another'), { admin: { id: 2 } })
  })

  t.test('one’s own password cannot be set without the old one, one’s own nickname can', async (t) => {
    const change = { nickname: 'Root', password: 'set by oneself' }
    await t.rejects(admins.update(actor, 1, change), { code: 'OWN_PASSWORD', hint: /PUT \/auth\/password/ })
    t.match(await account(1), { nickname: 'admin' })
    await admins.update(actor, 1, { nickname: 'Root' })
    t.match(await account(1), { nickname: 'Root' })
  })

  t.test('an administrator who does not exist is not changed', async (t) => {
    await t.rejects(admins.update(actor, 999, { nickname: 'x' }), { code: 'ADMIN_NOT_FOUND', kind: 'not-found' })
    await t.rejects(admins.update(actor, 999, { password: 'long enough' }), { code: 'ADMIN_NOT_FOUND' })
  })

  t.test('deleting an administrator ends the sessions', async (t) => {
    const session = await logIn('Ada', 'set by another')
    await admins.remove(actor, 2)
    t.equal(await account(2), undefined)
    t.equal(await sessions.find(session.id), null)
    t.same(await db.read({ sql: 'SELECT id FROM _rowhouse_sessions WHERE admin_id = 2', params: [] }), [])
    const change = { oldPassword: 'set by another', newPassword: 'another staple' }
    await t.rejects(admins.changeOwnPassword(by(session), change), { code: 'AUTHENTICATION_REQUIRED' })
  })

  t.test('an administrator who does not exist is not deleted', async (t) => {
    await t.rejects(admins.remove(actor, 2), { code: 'ADMIN_NOT_FOUND' })
  })

  t.test('the id of a deleted administrator is not given again', async (t) => {
    const created = await admins.create(actor, { ...NEW, name: 'last' })
    await admins.remove(actor, created.id)
    t.ok((await admins.create(actor, { ...NEW, name: 'last' })).id > created.id)
  })

  const endings: Record<string, (session: Session) => Promise<unknown>> = {
    'a logout': (session) => sessions.end(by(session)),
    'a deletion': async ({ admin }) => admins.remove(by(await logIn('admin')), admin.id),
    'a reset': async ({ admin }) => admins.update(by(await logIn('admin')), admin.id, { password: PASSWORD }),
    'its last moment': async ({ expiresAt }) => advance(expiresAt * 1000 - clock())
  }
  for (const [ending, end] of Object.entries(endings)) {
    t.test(`a session changes administrators before ${ending}, and none after`, async (t) => {
      await admins.create(by(await logIn('admin')), { ...NEW, name: ending })
      const session = await logIn(ending)
      const leaver = by(session)
      const other = (await admins.create(leaver, { ...NEW, name: `beside ${ending}` })).id
      await admins.update(leaver, other, { nickname: 'alive', password: 'set by another' })
      await end(session)
      const before = await db.read({ sql: 'SELECT * FROM _rowhouse_admins', params: [] })
      const changes: (() => Promise<unknown>)[] = [
        () => admins.create(leaver, { ...NEW, name: 'back door' }),
        () => admins.update(leaver, 1, { password: 'taken over' }),
        () => admins.update(leaver, 1, { nickname: 'x' }),
        () => admins.remove(leaver, other),
        () => admins.changeOwnPassword(leaver, { oldPassword: PASSWORD, newPassword: 'battery staple' })
      ]
      for (const change of changes)
        await t.rejects(async () => void (await change()), { code: 'AUTHENTICATION_REQUIRED' })
      t.strictSame(await db.read({ sql: 'SELECT * FROM _rowhouse_admins', params: [] }), before)
    })
  }

  t.test('of the last two, deleted at once by different requests, one remains', async (t) => {
    const last = by(await logIn('admin'))
    for (const { id } of (await admins.list()).slice(1)) await admins.remove(last, id)
    const second = await admins.create(last, { ...NEW, name: 'second' })
    const outcomes = await Promise.allSettled([admins.remove(last, second.id), admins.remove(last, 1)])
    t.match(outcomes, [{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'LAST_ADMIN' } }])
    t.equal((await admins.list()).length, 1)
  })

  t.test('of two who delete each other at once, the first one remains', async (t) => {
    const first = by(await logIn('admin'))
    const { id } = await admins.create(first, { ...NEW, name: 'second' })
    await admins.create(first, { ...NEW, name: 'third' })
    const second = by(await logIn('second'))
    const outcomes = await Promise.allSettled([admins.remove(first, id), admins.remove(second, 1)])
    t.match(outcomes, [{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'AUTHENTICATION_REQUIRED' } }])
    t.ok(await account(1))
  })

  t.test('the last one cannot be deleted', async (t) => {
    const last = by(await logIn('admin'))
    for (const { id } of (await admins.list()).slice(1)) await admins.remove(last, id)
    await t.rejects(admins.remove(last, 1), { code: 'LAST_ADMIN', kind: 'conflict' })
    t.equal((await admins.list()).length, 1)
  })
})

const createOn = (db: Database) => {
  const credentials = createCredentials(createPasswords(CHEAP))
  return createAdminService({ db, clock: createTestClock().clock, credentials, passwordMinLength: 8 })
}

const makeFirst = async (admins: AdminService, first: { name: string; password?: string }) => {
  const make = await admins.prepareFirst(first)
  return make()
}

t.test('the first administrator', async (t) => {
  const db = await openTestDatabase(t)
  const admins = createOn(db)
  const forget = () => db.write([{ sql: 'DELETE FROM _rowhouse_admins', params: [] }])

  t.test('has the given name and password, and must change the password', async (t) => {
    const first = await makeFirst(admins, { name: 'root', password: PASSWORD })
    t.same(first, { name: 'root', generatedPassword: null, isPasswordShort: false })
    t.match(await admins.list(), [{ name: 'root', must_change_password: 1 }])
  })

  t.test('is not created where there is one already', async (t) => {
    t.equal(await makeFirst(admins, { name: 'another' }), null)
    t.match(await admins.list(), [{ name: 'root' }])
  })

  t.test('gets a random password where none is given', async (t) => {
    await forget()
    const first = await makeFirst(admins, { name: 'root' })
    t.match(first, { name: 'root', generatedPassword: /^[\w-]{24}$/, isPasswordShort: false })
  })

  t.test('may have a short password, which is reported', async (t) => {
    await forget()
    t.match(await makeFirst(admins, { name: 'root', password: '1234567' }), { isPasswordShort: true })
  })

  t.test('is created once by two starts at once', async (t) => {
    await forget()
    const created = await Promise.all([makeFirst(admins, { name: 'one' }), makeFirst(admins, { name: 'two' })])
    t.equal(created.filter((first) => first !== null).length, 1)
    t.equal((await admins.list()).length, 1)
  })
})

t.test('a refusal by the database is not taken for a conflict', async (t) => {
  const { db, admins, sessions } = await startAdminServices(t)
  const session = await sessions.logIn(anonymousCaller(ADDRESS), { name: 'admin', password: PASSWORD })
  const actor = callerOf(session, ADDRESS)
  const { id } = await admins.create(actor, { ...NEW, name: 'Ada' })
  for (const event of ['INSERT', 'DELETE']) {
    const sql = `CREATE TRIGGER no_${event} BEFORE ${event} ON _rowhouse_admins BEGIN SELECT RAISE(ABORT, 'no'); END`
    await db.write([{ sql, params: [] }])
  }
  await t.rejects(admins.create(actor, { ...NEW, name: 'Bob' }), { code: 'REFUSED_BY_TRIGGER' })
  await t.rejects(admins.remove(actor, id), { code: 'REFUSED_BY_TRIGGER' })
})
