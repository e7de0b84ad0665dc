import t from 'tap'
import { createCredentials } from '../../../services/accounts/credentials.ts'
import { createMemorySessions } from '../../../services/accounts/memory-sessions.ts'
import { createPasswords } from '../../../services/accounts/passwords.ts'
import type { Session } from '../../../services/accounts/sessions.ts'
import { CHEAP, PASSWORD } from '../../helpers.ts'
import { createTestClock, createTestSessions, fillDisk, startAdminServices } from '../../session-app.ts'
import { anonymousCaller, callerOf } from './callers.ts'

const ADDRESS = '192.0.2.1'
const NEW_PASSWORD = 'battery staple'
const by = (session: Session) => callerOf(session, ADDRESS)

t.test('sessions on a full disk', async (t) => {
  const { db, clock, advance, sessions, admins } = await startAdminServices(t)
  const logIn = (name = 'admin', password = PASSWORD) => sessions.logIn(anonymousCaller(ADDRESS), { name, password })
  const stored = await logIn()
  const { id: ada } = await admins.create(by(stored), { name: 'ada', nickname: '', password: PASSWORD })
  const freeDisk = await fillDisk(db)

  t.test('a login works, and the session has the configured lifetime', async (t) => {
    const session = await logIn()
    t.match(session.admin, { id: 1, name: 'admin' })
    t.equal(session.expiresAt - session.issuedAt, 3600)
    t.same(await sessions.find(session.id), session)
    t.same(await sessions.find(stored.id), stored)
  })

  t.test('a wrong password opens no session', async (t) => {
    await t.rejects(logIn('admin', 'wrong'), { code: 'INVALID_CREDENTIALS' })
  })

  t.test('a logout ends the session at once', async (t) => {
    const [ended, other] = [await logIn(), await logIn()]
    await sessions.end(by(ended))
    t.equal(await sessions.find(ended.id), null)
    t.match(await sessions.find(other.id), { id: other.id })
    await t.rejects(admins.update(by(ended), 1, { nickname: 'No' }), { code: 'AUTHENTICATION_REQUIRED' })
  })

  t.test('a session has the current state of its administrator, and may change it', async (t) => {
    const session = await logIn()
    await admins.update(by(session), 1, { nickname: 'Renamed' })
    t.match(await sessions.find(session.id), { admin: { nickname: 'Renamed' } })
  })

  t.test('only the own sessions are listed and can be ended, the latest first', async (t) => {
    const own = await logIn('ada')
    advance(1000)
    const later = await sessions.logIn(anonymousCaller('192.0.2.9'), { name: 'ada', password: PASSWORD }, 'curl/8')
    const listed = await sessions.list(by(own))
    t.same(listed, [
      {
        id: later.id,
        address: '192.0.2.9',
        user_agent: 'curl/8',
        is_current: false,
        created_at: later.issuedAt * 1000,
        expires_at: later.expiresAt * 1000
      },
      {
        id: own.id,
        address: ADDRESS,
        user_agent: '',
        is_current: true,
        created_at: own.issuedAt * 1000,
        expires_at: own.expiresAt * 1000
      }
    ])
    await t.rejects(sessions.endOwn(by(stored), later.id), { code: 'SESSION_NOT_FOUND' })
    await sessions.endOwn(by(own), later.id)
    t.equal(await sessions.find(later.id), null)
    t.match(await sessions.list(by(own)), [{ id: own.id }])
    await sessions.endOwn(by(own), own.id)
  })

  t.test('an own new password ends all sessions but the one that set it', async (t) => {
    const [session, other] = [await logIn('ada'), await logIn('ada')]
    await admins.changeOwnPassword(by(session), { oldPassword: PASSWORD, newPassword: NEW_PASSWORD })
    t.match(await sessions.find(session.id), { admin: { mustChangePassword: false } })
    t.match(await sessions.list(by(session)), [{ id: session.id }])
    t.equal(await sessions.find(other.id), null)
    await admins.update(by(session), ada, { nickname: 'Ada' })
    await t.rejects(admins.update(by(other), ada, { nickname: 'No' }), { code: 'AUTHENTICATION_REQUIRED' })
  })

  t.test('a password set by another administrator ends the sessions', async (t) => {
    const session = await logIn('ada', NEW_PASSWORD)
    await admins.update(by(stored), ada, { password: PASSWORD })
    t.equal(await sessions.find(session.id), null)
  })

  t.test('a password that changes during the login opens no session', async (t) => {
    const passwords = createPasswords(CHEAP)
    const hashes = [await passwords.hash(NEW_PASSWORD), await passwords.hash(PASSWORD)]
    const verify = async (hash: string, password: string) => {
      const isRight = await passwords.verify(hash, password)
      const sql = 'UPDATE _rowhouse_admins SET password_hash = ? WHERE id = 1'
      await db.write([{ sql, params: [hashes.shift() ?? ''] }])
      return isRight
    }
    const changing = createTestSessions({ db, clock, credentials: createCredentials({ ...passwords, verify }) })
    const login = { name: 'admin', password: PASSWORD }
    await t.rejects(changing.logIn(anonymousCaller(ADDRESS), login), { code: 'INVALID_CREDENTIALS' })
  })

  t.test('a login opens a session while its stronger hash cannot be stored', async (t) => {
    const credentials = createCredentials(createPasswords({ ...CHEAP, memoryCost: 16 }))
    const costly = createTestSessions({ db, clock, credentials })
    const session = await costly.logIn(anonymousCaller(ADDRESS), { name: 'admin', password: PASSWORD })
    t.same(await costly.find(session.id), session)
  })

  t.test('a session ends when it expires, also after the disk has space again', async (t) => {
    const session = await logIn()
    await freeDisk()
    t.match(await logIn(), { admin: { id: 1 } })
    advance(session.expiresAt * 1000 - clock() - 1)
    t.match(await sessions.find(session.id), { id: session.id })
    advance(1)
    t.equal(await sessions.find(session.id), null)
  })
})

t.test('sessions in memory are limited to a thousand, and expired ones make room', async (t) => {
  const { clock, advance } = createTestClock()
  const { open, find } = createMemorySessions({ clock })
  const openFor = (milliseconds: number) =>
    open({ admin: 1, hash: '', issuedAt: clock(), expiresAt: clock() + milliseconds, address: ADDRESS, userAgent: '' })
  const [oldest, brief] = [openFor(1000), openFor(1)]
  for (let count = 2; count < 1000; count += 1) openFor(1000)
  advance(1)
  t.equal(find(brief), undefined)
  openFor(1000)
  t.ok(find(oldest))
  openFor(1000)
  t.notOk(find(oldest))
})
