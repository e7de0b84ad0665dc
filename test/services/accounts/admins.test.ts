import t from 'tap'
import { type AdminService, createAdminService } from '../../../services/accounts/admins.ts'
import { createCredentials } from '../../../services/accounts/credentials.ts'
import { createMemorySessions } from '../../../services/accounts/memory-sessions.ts'
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
  const caller = by(await logIn('admin'))
  const account = async (id: number) => (await admins.list()).find((admin) => admin.id === id)

  t.test('a new administrator is listed, and must change the password', async (t) => {
    const created = await admins.create(caller, { ...NEW, name: 'Ada' })
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

  t.test('names are unique, whatever their case', async (t) => {
    await t.rejects(admins.create(caller, { ...NEW, name: 'ADA' }), {
      code: 'ADMIN_EXISTS',
      message: /^There is an administrator named 'ADA'/
    })
  })

  t.test('of two administrators created concurrently with the same name, one is stored', async (t) => {
    const outcomes = await Promise.allSettled([
      admins.create(caller, { ...NEW, name: 'twin' }),
      admins.create(caller, { ...NEW, name: 'Twin' })
    ])
    t.same(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  })

  t.test('a password of the minimum length is accepted, one character less is not', async (t) => {
    await t.resolves(admins.create(caller, { ...NEW, name: 'long enough', password: '12345678' }))
    await t.rejects(admins.create(caller, { ...NEW, name: 'too short', password: '1234567' }), {
      code: 'VALIDATION_FAILED',
      details: [{ path: '/password', code: 'length' }]
    })
  })

  t.test('the length of a password is its number of characters, not of code units or code points', async (t) => {
    await t.rejects(admins.create(caller, { ...NEW, name: 'emoji', password: '😀😀😀😀' }), {
      code: 'VALIDATION_FAILED'
    })
    await t.rejects(admins.create(caller, { ...NEW, name: 'accents', password: 'e\u0301'.repeat(4) }), {
      code: 'VALIDATION_FAILED'
    })
  })

  t.test('a change of the nickname changes nothing else, and ends no session', async (t) => {
    const session = await logIn('Ada')
    advance(1000)
    await admins.update(caller, 2, { nickname: 'Countess' })
    t.match(await account(2), { nickname: 'Countess', updated_at: clock() })
    t.match(await sessions.find(session.id), { admin: { nickname: 'Countess' } })
  })

  t.test('a nickname may be empty', async (t) => {
    await admins.update(caller, 2, { nickname: '' })
    t.match(await account(2), { nickname: '' })
  })

  t.test('updated_at grows even if the clock stands still or goes back', async (t) => {
    const before = (await account(2))?.updated_at ?? 0
    advance(-5000)
    await admins.update(caller, 2, { nickname: 'A' })
    t.equal((await account(2))?.updated_at, before + 1)
    advance(5000)
  })

  t.test('changing one’s own password keeps this session and ends the others', async (t) => {
    const [current, other] = [await logIn('Ada'), await logIn('Ada')]
    await admins.changeOwnPassword(by(current), { oldPassword: PASSWORD, newPassword: 'battery staple' })
    t.match(await sessions.find(current.id), { admin: { mustChangePassword: false } })
    t.equal(await sessions.find(other.id), null)
    await t.rejects(logIn('Ada'), { code: 'INVALID_CREDENTIALS' })
    t.match(await logIn('Ada', 'battery staple'), { admin: { mustChangePassword: false } })
  })

  t.test('one’s own password does not change with a wrong old one', async (t) => {
    const session = await logIn('Ada', 'battery staple')
    const change = { oldPassword: PASSWORD, newPassword: 'another staple' }
    await t.rejects(admins.changeOwnPassword(by(session), change), { code: 'WRONG_PASSWORD', kind: 'forbidden' })
    t.match(await logIn('Ada', 'battery staple'), { admin: { id: 2 } })
  })

  t.test('of two concurrent password changes, even in one session, one succeeds', async (t) => {
    const session = await logIn('Ada', 'battery staple')
    const changeTo = (newPassword: string) =>
      admins.changeOwnPassword(by(session), { oldPassword: 'battery staple', newPassword })
    const outcomes = await Promise.allSettled([changeTo('first staple'), changeTo('second staple')])
    t.match(outcomes, [{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'WRONG_PASSWORD' } }])
    t.match(await logIn('Ada', 'first staple'), { admin: { id: 2 } })
    const back = { oldPassword: 'first staple', newPassword: 'battery staple' }
    await admins.changeOwnPassword(by(session), back)
  })

  t.test('a password change succeeds if a stronger hash was stored concurrently', async (t) => {
    const session = await logIn('Ada', 'battery staple')
    const renewed = await createPasswords(CHEAP).hash('battery staple')
    const change = { oldPassword: 'battery staple', newPassword: 'another staple' }
    const changed = admins.changeOwnPassword(by(session), change)
    await db.write([{ sql: 'UPDATE _rowhouse_admins SET password_hash = ? WHERE id = 2', params: [renewed] }])
    await changed
    t.match(await logIn('Ada', 'another staple'), { admin: { id: 2 } })
    await admins.changeOwnPassword(by(session), { oldPassword: 'another staple', newPassword: 'battery staple' })
  })

  t.test('one’s own new password must differ from the old one', async (t) => {
    const session = await logIn('Ada', 'battery staple')
    const change = { oldPassword: 'battery staple', newPassword: 'battery staple' }
    await t.rejects(admins.changeOwnPassword(by(session), change), {
      code: 'VALIDATION_FAILED',
      details: [{ path: '/newPassword', code: 'unchanged' }]
    })
  })

  t.test('one’s own new password must be long enough', async (t) => {
    const session = await logIn('Ada', 'battery staple')
    const change = { oldPassword: 'battery staple', newPassword: 'staple' }
    await t.rejects(admins.changeOwnPassword(by(session), change), {
      code: 'VALIDATION_FAILED',
      details: [{ path: '/newPassword', code: 'length' }]
    })
  })

  t.test('a session that has ended changes no password', async (t) => {
    const session = await logIn('Ada', 'battery staple')
    await sessions.end(by(session))
    const change = { oldPassword: 'battery staple', newPassword: 'another staple' }
    await t.rejects(admins.changeOwnPassword(by(session), change), { code: 'AUTHENTICATION_REQUIRED' })
    t.match(await logIn('Ada', 'battery staple'), { admin: { id: 2 } })
  })

  t.test('a password set by another administrator must be changed, and ends every session', async (t) => {
    const open = [await logIn('Ada', 'battery staple'), await logIn('Ada', 'battery staple')]
    await admins.update(caller, 2, { password: 'set by another' })
    for (const { id } of open) t.equal(await sessions.find(id), null)
    await t.rejects(logIn('Ada', 'battery staple'), { code: 'INVALID_CREDENTIALS' })
    t.match(await logIn('Ada', 'set by another'), { admin: { mustChangePassword: true } })
  })

  t.test('a password set by another administrator must be long enough', async (t) => {
    await t.rejects(admins.update(caller, 2, { password: 'short' }), { code: 'VALIDATION_FAILED' })
    t.match(await logIn('Ada', 'set by another'), { admin: { id: 2 } })
  })

  t.test('one’s own password cannot be set without the old one, one’s own nickname can', async (t) => {
    const change = { nickname: 'Root', password: 'set by oneself' }
    await t.rejects(admins.update(caller, 1, change), { code: 'OWN_PASSWORD', hint: /PUT \/auth\/password/ })
    t.match(await account(1), { nickname: 'admin' })
    await admins.update(caller, 1, { nickname: 'Root' })
    t.match(await account(1), { nickname: 'Root' })
  })

  t.test('an administrator who does not exist is not changed', async (t) => {
    await t.rejects(admins.update(caller, 999, { nickname: 'x' }), { code: 'ADMIN_NOT_FOUND', kind: 'not-found' })
    await t.rejects(admins.update(caller, 999, { password: 'long enough' }), { code: 'ADMIN_NOT_FOUND' })
  })

  t.test('deleting an administrator ends the sessions', async (t) => {
    const session = await logIn('Ada', 'set by another')
    await admins.remove(caller, 2)
    t.equal(await account(2), undefined)
    t.equal(await sessions.find(session.id), null)
    t.same(await db.read({ sql: 'SELECT id FROM _rowhouse_sessions WHERE admin_id = 2', params: [] }), [])
    const change = { oldPassword: 'set by another', newPassword: 'another staple' }
    await t.rejects(admins.changeOwnPassword(by(session), change), { code: 'AUTHENTICATION_REQUIRED' })
  })

  t.test('an administrator who does not exist is not deleted', async (t) => {
    await t.rejects(admins.remove(caller, 2), { code: 'ADMIN_NOT_FOUND' })
  })

  t.test('the id of a deleted administrator is not reused', async (t) => {
    const created = await admins.create(caller, { ...NEW, name: 'last' })
    await admins.remove(caller, created.id)
    t.ok((await admins.create(caller, { ...NEW, name: 'last' })).id > created.id)
  })

  const endings: Record<string, (session: Session) => Promise<unknown>> = {
    'a logout': (session) => sessions.end(by(session)),
    'a deletion': async ({ admin }) => admins.remove(by(await logIn('admin')), admin.id),
    'a reset': async ({ admin }) => admins.update(by(await logIn('admin')), admin.id, { password: PASSWORD }),
    'its expiry': async ({ expiresAt }) => advance(expiresAt * 1000 - clock())
  }
  for (const [ending, end] of Object.entries(endings)) {
    t.test(`a session can change administrators before ${ending}, but not after it`, async (t) => {
      await admins.create(by(await logIn('admin')), { ...NEW, name: ending })
      const session = await logIn(ending)
      const former = by(session)
      const other = (await admins.create(former, { ...NEW, name: `other, ${ending}` })).id
      await admins.update(former, other, { nickname: 'alive', password: 'set by another' })
      await end(session)
      const before = await db.read({ sql: 'SELECT * FROM _rowhouse_admins', params: [] })
      const changes: (() => Promise<unknown>)[] = [
        () => admins.create(former, { ...NEW, name: 'back door' }),
        () => admins.update(former, 1, { password: 'taken over' }),
        () => admins.update(former, 1, { nickname: 'x' }),
        () => admins.remove(former, other),
        () => admins.changeOwnPassword(former, { oldPassword: PASSWORD, newPassword: 'battery staple' })
      ]
      for (const change of changes)
        await t.rejects(async () => void (await change()), { code: 'AUTHENTICATION_REQUIRED' })
      t.strictSame(await db.read({ sql: 'SELECT * FROM _rowhouse_admins', params: [] }), before)
    })
  }

  t.test('of concurrent requests, a deletion is stored first, and the others find no administrator', async (t) => {
    const first = by(await logIn('admin'))
    const { id } = await admins.create(first, { ...NEW, name: 'brief' })
    const outcomes = await Promise.allSettled([
      admins.remove(first, id),
      admins.remove(first, id),
      admins.update(first, id, { nickname: 'late' })
    ])
    const notFound = { status: 'rejected', reason: { code: 'ADMIN_NOT_FOUND' } }
    t.match(outcomes, [{ status: 'fulfilled' }, notFound, notFound])
    const sql = 'SELECT action FROM _rowhouse_audit WHERE target_id = ?'
    t.strictSame(await db.read({ sql, params: [BigInt(id)] }), [{ action: 'admin.delete' }])
  })

  t.test('of the last two, deleted by concurrent requests, one remains', async (t) => {
    const last = by(await logIn('admin'))
    for (const { id } of (await admins.list()).slice(1)) await admins.remove(last, id)
    const second = await admins.create(last, { ...NEW, name: 'second' })
    const outcomes = await Promise.allSettled([admins.remove(last, second.id), admins.remove(last, 1)])
    t.match(outcomes, [{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'LAST_ADMIN' } }])
    t.equal((await admins.list()).length, 1)
  })

  t.test('of two who delete each other concurrently, the first one remains', async (t) => {
    const first = by(await logIn('admin'))
    const { id } = await admins.create(first, { ...NEW, name: 'second' })
    await admins.create(first, { ...NEW, name: 'third' })
    const second = by(await logIn('second'))
    const outcomes = await Promise.allSettled([admins.remove(first, id), admins.remove(second, 1)])
    t.match(outcomes, [{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'AUTHENTICATION_REQUIRED' } }])
    t.ok(await account(1))
  })

  t.test('the last administrator cannot be deleted', async (t) => {
    const last = by(await logIn('admin'))
    for (const { id } of (await admins.list()).slice(1)) await admins.remove(last, id)
    await t.rejects(admins.remove(last, 1), { code: 'LAST_ADMIN', kind: 'conflict' })
    t.equal((await admins.list()).length, 1)
  })
})

const createOn = (db: Database) => {
  const credentials = createCredentials(createPasswords(CHEAP))
  const { clock } = createTestClock()
  const memorySessions = createMemorySessions({ clock })
  return createAdminService({ db, clock, credentials, memorySessions, passwordMinLength: 8 })
}

const createFirst = async (admins: AdminService, first: { name: string; password?: string }) => {
  const store = await admins.prepareFirst(first)
  return store()
}

t.test('the first administrator', async (t) => {
  const db = await openTestDatabase(t)
  const admins = createOn(db)
  const deleteAll = () => db.write([{ sql: 'DELETE FROM _rowhouse_admins', params: [] }])

  t.test('has the configured name and password, and must change the password', async (t) => {
    const first = await createFirst(admins, { name: 'root', password: PASSWORD })
    t.same(first, { name: 'root', generatedPassword: null, isPasswordShort: false })
    t.match(await admins.list(), [{ name: 'root', must_change_password: 1 }])
  })

  t.test('is not created if there is one already', async (t) => {
    t.equal(await createFirst(admins, { name: 'another' }), null)
    t.match(await admins.list(), [{ name: 'root' }])
  })

  t.test('gets a random password if none is configured', async (t) => {
    await deleteAll()
    const first = await createFirst(admins, { name: 'root' })
    t.match(first, { name: 'root', generatedPassword: /^[\w-]{24}$/, isPasswordShort: false })
  })

  t.test('may have a short password, which is reported', async (t) => {
    await deleteAll()
    t.match(await createFirst(admins, { name: 'root', password: '1234567' }), { isPasswordShort: true })
  })

  t.test('is created once by two concurrent starts', async (t) => {
    await deleteAll()
    const created = await Promise.all([createFirst(admins, { name: 'one' }), createFirst(admins, { name: 'two' })])
    t.equal(created.filter((first) => first !== null).length, 1)
    t.equal((await admins.list()).length, 1)
  })
})

t.test('an error of a trigger is not reported as a conflict', async (t) => {
  const { db, admins, sessions } = await startAdminServices(t)
  const session = await sessions.logIn(anonymousCaller(ADDRESS), { name: 'admin', password: PASSWORD })
  const caller = callerOf(session, ADDRESS)
  const { id } = await admins.create(caller, { ...NEW, name: 'Ada' })
  for (const event of ['INSERT', 'DELETE']) {
    const sql = `CREATE TRIGGER no_${event} BEFORE ${event} ON _rowhouse_admins BEGIN SELECT RAISE(ABORT, 'no'); END`
    await db.write([{ sql, params: [] }])
  }
  await t.rejects(admins.create(caller, { ...NEW, name: 'Bob' }), { code: 'REFUSED_BY_TRIGGER' })
  await t.rejects(admins.remove(caller, id), { code: 'REFUSED_BY_TRIGGER' })
})

t.test('an error is thrown if the first administrator cannot be stored', async (t) => {
  const db = await openTestDatabase(t)
  const refuse = `CREATE TRIGGER refuse BEFORE INSERT ON _rowhouse_admins BEGIN SELECT RAISE(ABORT, 'no'); END`
  await db.write([{ sql: refuse, params: [] }])
  await t.rejects(createFirst(createOn(db), { name: 'root' }), { code: 'REFUSED_BY_TRIGGER' })
  await db.write([{ sql: 'DROP TRIGGER refuse', params: [] }])
  t.match(await createFirst(createOn(db), { name: 'root' }), { name: 'root' })
})
