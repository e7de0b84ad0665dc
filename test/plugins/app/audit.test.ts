import Fastify from 'fastify'
import fp from 'fastify-plugin'
import t, { type Test } from 'tap'
import { readConfig } from '../../../config.ts'
import audit from '../../../plugins/app/audit.ts'
import { auditRow } from '../../../services/audit/audit-row.ts'
import { createFailedLogins } from '../../../services/audit/failed-logins.ts'
import { serviceCaller } from '../../../services/model/caller.ts'
import { overloaded } from '../../../services/model/errors.ts'
import { createSettings } from '../../../services/settings/settings.ts'
import { auditRows } from '../../audit.ts'
import { asAdmin, client, expectError, startApp } from '../../helpers.ts'
import { createTestClock, openTestDatabase } from '../../session-app.ts'

const DAY = 24 * 60 * 60 * 1000
const NEVER = 2 ** 30

const start = async (t: Test, intervals: { flushInterval: number; purgeInterval: number }) => {
  const db = await openTestDatabase(t)
  const { clock, advance } = createTestClock()
  let logged = () => {}
  const failed = new Promise<void>((resolve) => {
    logged = resolve
  })
  const app = Fastify({ logger: { level: 'error', stream: { write: () => logged() } } })
  const failedLogins = createFailedLogins({ db, clock })
  app.decorate('database', db)
  app.decorate('clock', clock)
  const settings = createSettings(readConfig({}))
  settings.replaceStored({ auditKeep: '2d' })
  app.decorate('settings', settings)
  app.decorate('failedLogins', failedLogins)
  const read = (column: string) => async () =>
    (await db.read({ sql: `SELECT ${column} AS value FROM _rowhouse_audit ORDER BY id`, params: [] })).map(
      ({ value }) => value
    )
  const begin = async () => {
    await app.register(fp(async () => {}, { name: 'services' }))
    await app.register(audit, intervals)
    t.teardown(() => app.close())
    await app.ready()
  }
  return { app, db, clock, advance, failedLogins, failed, begin, counts: read('count'), targets: read('target') }
}

const tick = () => new Promise((resolve) => setImmediate(resolve))

t.test('old rows are deleted at intervals, and a failure is logged', async (t) => {
  const { db, clock, advance, failed, begin, targets } = await start(t, { flushInterval: NEVER, purgeInterval: 5 })
  const row = (target: string) => auditRow(serviceCaller, clock(), { action: 'login', target })
  await db.write(Array.from({ length: 1500 }, () => row('old')))
  advance(1)
  await db.write([row('kept')])
  advance(2 * DAY)
  const { write } = db
  db.write = () => Promise.reject(overloaded('Full.', 1))
  await begin()
  await failed
  db.write = write
  while ((await targets()).length > 1) await tick()
  t.strictSame(await targets(), ['kept'])
})

t.test('failed logins are stored at intervals, and at the next one after a failure', async (t) => {
  const { db, failedLogins, failed, begin, counts } = await start(t, { flushInterval: 5, purgeInterval: NEVER })
  const { write } = db
  db.write = () => Promise.reject(overloaded('Full.', 1))
  failedLogins.record('192.0.2.1')
  failedLogins.record('192.0.2.1')
  await begin()
  await failed
  db.write = write
  while ((await counts()).length === 0) await tick()
  t.strictSame(await counts(), [2])
})

t.test('failed logins are stored at the close', async (t) => {
  const { app, failedLogins, begin, counts } = await start(t, { flushInterval: NEVER, purgeInterval: NEVER })
  await begin()
  failedLogins.record('192.0.2.1')
  await app.close()
  t.strictSame(await counts(), [1])
})

t.test('a hundred rows are stored at a time, the last one for all other networks', async (t) => {
  const { failedLogins, counts } = await start(t, { flushInterval: NEVER, purgeInterval: NEVER })
  for (let number = 0; number < 200; number += 1) failedLogins.record(`192.0.2.${number}`)
  failedLogins.record('192.0.2.0')
  await failedLogins.flush()
  const stored = await counts()
  t.equal(stored.length, 100)
  t.equal(stored[0], 2)
  t.equal(stored.at(-1), 101)
  await failedLogins.flush()
  t.equal((await counts()).length, 100)
})

t.test('a failed login has the network of its client, and not the name that was tried', async (t) => {
  const { clock } = createTestClock()
  const app = await startApp(t, { clock })
  const admin = await asAdmin(app)
  const logIn = (remoteAddress: string, name: string) =>
    app.inject({ method: 'POST', url: '/auth/login', remoteAddress, payload: { name, password: 'wrong' } })
  for (const name of ['admin', 'my secret password']) {
    expectError(t, await logIn('192.0.2.7', name), 401, 'INVALID_CREDENTIALS')
  }
  expectError(t, await logIn('2001:db8:0:1::5', 'admin'), 401, 'INVALID_CREDENTIALS')
  const change = { oldPassword: 'wrong', newPassword: 'another password' }
  expectError(t, await client(app, admin.headers).put('/auth/password', change), 403, 'WRONG_PASSWORD')
  t.strictSame(await auditRows(admin, 'action=login.failed'), [])
  await app.failedLogins.flush()
  const rows = await auditRows(admin, 'action=login.failed')
  t.strictSame(
    rows.map(({ id: _id, ...row }) => row).reverse(),
    [
      ['192.0.2.7', 2],
      ['2001:db8:0:1::/64', 1],
      ['127.0.0.1', 1]
    ].map(([address, count]) => ({
      at: clock(),
      callerKind: 'anonymous',
      callerId: 0,
      callerName: '',
      address,
      requestId: '',
      action: 'login.failed',
      target: '',
      targetId: null,
      summary: {},
      count
    }))
  )
})
