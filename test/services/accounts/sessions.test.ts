import t from 'tap'
import { createCredentials } from '../../../services/accounts/credentials.ts'
import { createPasswords } from '../../../services/accounts/passwords.ts'
import type { Database } from '../../../services/engine/database.ts'
import type { Row } from '../../../services/model/sql-value.ts'
import { CHEAP, PASSWORD } from '../../helpers.ts'
import { createTestSessions, startAdminServices } from '../../session-app.ts'
import { anonymousCaller, callerOf } from './callers.ts'

const ADDRESS = '192.0.2.1'
const CLIENT = anonymousCaller(ADDRESS)
const LOGIN = { name: 'admin', password: PASSWORD }

const rowsOf = async (db: Database, sql: string): Promise<readonly Row[]> => db.read({ sql, params: [] })

const storedHash = async (db: Database) => {
  const [row] = await rowsOf(db, "SELECT password_hash FROM _rowhouse_admins WHERE name = 'admin'")
  return String(row?.password_hash)
}

t.test('sessions', async (t) => {
  const { db, clock, advance, sessions, admins } = await startAdminServices(t)

  t.test('the right password opens a session with the configured lifetime', async (t) => {
    const session = await sessions.logIn(CLIENT, LOGIN)
    t.same(session.admin, { id: 1, name: 'admin', nickname: 'admin', mustChangePassword: true })
    t.equal(session.issuedAt, Math.floor(clock() / 1000))
    t.equal(session.expiresAt, session.issuedAt + 3600)
  })

  t.test('the name is found whatever its case', async (t) => {
    t.match(await sessions.logIn(CLIENT, { ...LOGIN, name: 'ADMIN' }), { admin: { name: 'admin' } })
  })

  t.test('two logins open two sessions', async (t) => {
    const [first, second] = [await sessions.logIn(CLIENT, LOGIN), await sessions.logIn(CLIENT, LOGIN)]
    t.not(first.id, second.id)
    t.same(await sessions.find(first.id), first)
    t.same(await sessions.find(second.id), second)
  })

  t.test('an unknown name and a wrong password get the same error', async (t) => {
    const wrong = await sessions.logIn(CLIENT, { ...LOGIN, password: 'wrong' }).catch((error) => error)
    const unknown = await sessions.logIn(CLIENT, { ...LOGIN, name: 'nobody' }).catch((error) => error)
    t.match(wrong, { code: 'INVALID_CREDENTIALS', kind: 'unauthenticated' })
    t.match(unknown, { code: wrong.code, message: wrong.message, hint: wrong.hint, details: wrong.details })
  })

  t.test('a session that was ended is not found, and can be ended again', async (t) => {
    const session = await sessions.logIn(CLIENT, LOGIN)
    const { id } = session
    await sessions.end(callerOf(session, ADDRESS))
    t.equal(await sessions.find(id), null)
    await t.resolves(sessions.end(callerOf(session, ADDRESS)))
  })

  t.test('an error of a trigger does not count as the end of a session', async (t) => {
    const session = await sessions.logIn(CLIENT, LOGIN)
    const caller = callerOf(session, ADDRESS)
    const refuse = "CREATE TRIGGER refuse BEFORE DELETE ON _rowhouse_sessions BEGIN SELECT RAISE(ABORT, 'no'); END"
    await db.write([{ sql: refuse, params: [] }])
    await t.rejects(sessions.end(caller), { code: 'REFUSED_BY_TRIGGER' })
    await t.rejects(sessions.endOwn(caller, session.id), { code: 'REFUSED_BY_TRIGGER' })
    await db.write([{ sql: 'DROP TRIGGER refuse', params: [] }])
    t.match(await sessions.find(session.id), { id: session.id })
    await sessions.endOwn(caller, session.id)
    t.equal(await sessions.find(session.id), null)
  })

  t.test('an unknown session is not found', async (t) => {
    t.equal(await sessions.find('nothing'), null)
  })

  t.test('a session has the current state of its administrator', async (t) => {
    const session = await sessions.logIn(CLIENT, LOGIN)
    await admins.update(callerOf(session, ADDRESS), 1, { nickname: 'Renamed' })
    t.match(await sessions.find(session.id), { admin: { nickname: 'Renamed' } })
  })

  t.test('a session is found until it expires', async (t) => {
    const { id, expiresAt } = await sessions.logIn(CLIENT, LOGIN)
    advance(expiresAt * 1000 - clock() - 1)
    t.match(await sessions.find(id), { id })
    advance(1)
    t.equal(await sessions.find(id), null)
  })

  t.test('a login deletes expired sessions', async (t) => {
    await sessions.logIn(CLIENT, LOGIN)
    advance(3_600_000)
    const { id } = await sessions.logIn(CLIENT, LOGIN)
    t.same(await rowsOf(db, 'SELECT id FROM _rowhouse_sessions'), [{ id }])
  })
})

t.test('an account that changes while its password is verified', async (t) => {
  const { db, clock } = await startAdminServices(t)
  const passwords = createPasswords(CHEAP)

  /** Creates a session service. After each password verification, the next of `changes` runs. */
  const sessionsWith = (...changes: (() => Promise<unknown>)[]) => {
    const credentials = createCredentials({
      ...passwords,
      verify: async (stored, password) => {
        const isRight = await passwords.verify(stored, password)
        await changes.shift()?.()
        return isRight
      }
    })
    return createTestSessions({ db, clock, credentials })
  }
  const set = (column: string, value: string) => () =>
    db.write([{ sql: `UPDATE _rowhouse_admins SET ${column} = ? WHERE id = 1`, params: [value] }])

  t.test('gets a session if it still has the password', async (t) => {
    const rehashed = await passwords.hash(PASSWORD)
    t.match(await sessionsWith(set('password_hash', rehashed)).logIn(CLIENT, LOGIN), { admin: { id: 1 } })
  })

  t.test('gets no session if it has another password', async (t) => {
    const changed = await passwords.hash('another horse')
    const before = await storedHash(db)
    await t.rejects(sessionsWith(set('password_hash', changed)).logIn(CLIENT, LOGIN), { code: 'INVALID_CREDENTIALS' })
    await set('password_hash', before)()
  })

  t.test('gets no session if it changes again during the retry', async (t) => {
    const hashes = [await passwords.hash(PASSWORD), await passwords.hash(PASSWORD)]
    const sessions = sessionsWith(...hashes.map((hash) => set('password_hash', hash)))
    await t.rejects(sessions.logIn(CLIENT, LOGIN), { code: 'INVALID_CREDENTIALS' })
  })

  t.test('gets no session if it was deleted', async (t) => {
    const remove = () => db.write([{ sql: 'DELETE FROM _rowhouse_admins', params: [] }])
    await t.rejects(sessionsWith(remove).logIn(CLIENT, LOGIN), { code: 'INVALID_CREDENTIALS' })
    t.same(await rowsOf(db, 'SELECT id FROM _rowhouse_sessions'), [])
  })
})

t.test('a higher hashing cost', async (t) => {
  const { db, clock } = await startAdminServices(t)
  const createAtCost = (memoryCost: number) =>
    createTestSessions({ db, clock, credentials: createCredentials(createPasswords({ ...CHEAP, memoryCost })) })

  t.test('stores no stronger hash if the password is wrong', async (t) => {
    const before = await storedHash(db)
    await t.rejects(createAtCost(16).logIn(CLIENT, { ...LOGIN, password: 'wrong' }), { code: 'INVALID_CREDENTIALS' })
    t.equal(await storedHash(db), before)
  })

  t.test('stores a stronger hash at the next login, also with concurrent logins', async (t) => {
    const sessions = createAtCost(16)
    const opened = await Promise.all([1, 2, 3].map(() => sessions.logIn(CLIENT, LOGIN)))
    t.equal(new Set(opened.map(({ id }) => id)).size, 3)
    t.match(await storedHash(db), /m=16,/)
    t.match(await sessions.logIn(CLIENT, LOGIN), { admin: { id: 1 } })
  })

  t.test('stays in a hash when the configured cost falls again', async (t) => {
    const before = await storedHash(db)
    await createAtCost(8).logIn(CLIENT, LOGIN)
    t.equal(await storedHash(db), before)
  })
})

t.test('an error of a trigger during a login is not reported as a wrong password', async (t) => {
  const { db, sessions } = await startAdminServices(t)
  const sql = "CREATE TRIGGER no BEFORE INSERT ON _rowhouse_sessions BEGIN SELECT RAISE(ABORT, 'no'); END"
  await db.write([{ sql, params: [] }])
  await t.rejects(sessions.logIn(CLIENT, LOGIN), { code: 'REFUSED_BY_TRIGGER' })
})

t.test('the end of a session fails if the database is closed', async (t) => {
  const { db, sessions } = await startAdminServices(t)
  const session = await sessions.logIn(CLIENT, LOGIN)
  await db.close()
  await t.rejects(sessions.endOwn(callerOf(session, ADDRESS), session.id), { code: 'OVERLOADED' })
})
