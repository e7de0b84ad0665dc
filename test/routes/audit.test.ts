import t from 'tap'
import type { AuditRow } from '../../schemas/audit.ts'
import { auditRow } from '../../services/audit/audit-row.ts'
import { serviceCaller } from '../../services/model/caller.ts'
import { auditRows, auditSince, fillAudit } from '../audit.ts'
import {
  asAdmin,
  bearer,
  client,
  dataOf,
  expectData,
  expectDone,
  expectError,
  logIn,
  PASSWORD,
  startApp,
  type TestResponse
} from '../helpers.ts'
import { FULL_DISK, onlyOnFile } from '../served.ts'

const NOW = 1_767_225_600_000
const OTHER_PASSWORD = 'a password of ada'
const NEW_PASSWORD = 'a new password of ada'
const permissions = { tables: ['*'], actions: ['read' as const] }

const requestIdOf = (response: TestResponse) => String(response.headers['x-request-id'])

/** What a row of the first administrator has for the response to its request. */
const byAdmin = (response: TestResponse): Partial<AuditRow> => ({
  at: NOW,
  callerKind: 'admin',
  callerId: 1,
  callerName: 'admin',
  address: '127.0.0.1',
  requestId: requestIdOf(response),
  count: 1
})

t.test('the first administrator is created by the service', async (t) => {
  const app = await startApp(t, { clock: () => NOW })
  const admin = await asAdmin(app)
  const rows = await auditRows(admin)
  t.match(rows, [
    { action: 'login', callerKind: 'admin', callerName: 'admin', target: '', targetId: null, summary: {} },
    {
      id: 1,
      at: NOW,
      callerKind: 'service',
      callerId: 0,
      callerName: 'rowhouse',
      address: '',
      requestId: '',
      action: 'admin.create',
      target: 'admin',
      targetId: null,
      summary: { nickname: 'admin' },
      count: 1
    }
  ])
  t.equal(rows.length, 2)
})

t.test('accounts and sessions', async (t) => {
  const app = await startApp(t, { clock: () => NOW })
  const admin = await asAdmin(app)
  const since = await auditSince(admin)
  const created = await admin.post('/admin/admins', { name: 'ada', nickname: 'Ada', password: OTHER_PASSWORD })
  const ada: number = dataOf(created).id

  t.test('a new administrator', async (t) => {
    t.match(await since(), [
      { ...byAdmin(created), action: 'admin.create', target: 'ada', targetId: null, summary: { nickname: 'Ada' } }
    ])
  })

  t.test('a refused administrator has no row', async (t) => {
    const payload = { name: 'ADA', nickname: '', password: OTHER_PASSWORD }
    expectError(t, await admin.post('/admin/admins', payload), 409, 'ADMIN_EXISTS')
    expectError(t, await admin.post('/admin/admins', { ...payload, password: 'short' }), 400, 'VALIDATION_FAILED')
    t.strictSame(await since(), [])
  })

  t.test('a changed nickname', async (t) => {
    const changed = await admin.put(`/admin/admins/${ada}`, { nickname: 'Countess' })
    expectDone(t, changed)
    const summary = { changed: ['nickname'] }
    t.match(await since(), [{ ...byAdmin(changed), action: 'admin.change', target: 'ada', targetId: ada, summary }])
    expectError(t, await admin.put('/admin/admins/99', { nickname: 'Nobody' }), 404, 'ADMIN_NOT_FOUND')
    t.strictSame(await since(), [])
  })

  t.test('a login is by the administrator, under the stored name', async (t) => {
    const response = await app.inject({
      method: 'POST',
      url: '/auth/login',
      remoteAddress: '192.0.2.7',
      payload: { name: 'ADA', password: OTHER_PASSWORD }
    })
    t.equal(response.statusCode, 200)
    const [row, ...others] = await since()
    t.strictSame(row, {
      id: row?.id,
      at: NOW,
      callerKind: 'admin',
      callerId: ada,
      callerName: 'ada',
      address: '192.0.2.7',
      requestId: requestIdOf(response),
      action: 'login',
      target: '',
      targetId: null,
      summary: {},
      count: 1
    })
    t.strictSame(others, [])
  })

  t.test('an own password', async (t) => {
    const own = client(app, await logIn(app, 'ada', OTHER_PASSWORD))
    await since()
    const wrong = { oldPassword: 'wrong', newPassword: NEW_PASSWORD }
    expectError(t, await own.put('/auth/password', wrong), 403, 'WRONG_PASSWORD')
    t.strictSame(await since(), [])
    const changed = await own.put('/auth/password', { ...wrong, oldPassword: OTHER_PASSWORD })
    expectDone(t, changed)
    t.match(await since(), [
      { callerName: 'ada', requestId: requestIdOf(changed), action: 'password.change', target: 'ada', targetId: ada }
    ])
  })

  t.test('a session that is ended, and a logout', async (t) => {
    const own = client(app, await logIn(app, 'ada', NEW_PASSWORD))
    const [session] = dataOf(await own.get('/auth/sessions'))
    const other = client(app, await logIn(app, 'ada', NEW_PASSWORD))
    await since()
    const ended = await other.delete(`/auth/sessions/${session.id}`)
    expectDone(t, ended)
    expectError(t, await other.delete(`/auth/sessions/${session.id}`), 404, 'SESSION_NOT_FOUND')
    const out = await other.post('/auth/logout')
    expectDone(t, out)
    expectError(t, await other.post('/auth/logout'), 401, 'AUTHENTICATION_REQUIRED')
    t.match(await since(), [
      { callerName: 'ada', requestId: requestIdOf(ended), action: 'session.end', target: '' },
      { callerName: 'ada', requestId: requestIdOf(out), action: 'logout', target: '' }
    ])
  })

  t.test('a password set by another administrator', async (t) => {
    const reset = await admin.put(`/admin/admins/${ada}`, { password: OTHER_PASSWORD, nickname: 'Ada' })
    expectDone(t, reset)
    const summary = { changed: ['password', 'nickname'] }
    t.match(await since(), [
      { ...byAdmin(reset), action: 'admin.reset-password', target: 'ada', targetId: ada, summary }
    ])
    expectError(t, await admin.put('/admin/admins/1', { password: OTHER_PASSWORD }), 403, 'OWN_PASSWORD')
    t.strictSame(await since(), [])
  })

  t.test('a deleted administrator', async (t) => {
    const deleted = await admin.delete(`/admin/admins/${ada}`)
    expectDone(t, deleted)
    expectError(t, await admin.delete(`/admin/admins/${ada}`), 404, 'ADMIN_NOT_FOUND')
    expectError(t, await admin.delete('/admin/admins/1'), 409, 'LAST_ADMIN')
    t.match(await since(), [{ ...byAdmin(deleted), action: 'admin.delete', target: 'ada', targetId: ada, summary: {} }])
  })
})

t.test('tokens', async (t) => {
  const app = await startApp(t, { clock: () => NOW })
  const admin = await asAdmin(app)
  const since = await auditSince(admin)
  const issued = await admin.post('/admin/tokens', { name: 'shop', permissions })
  const { id, tokenPrefix } = dataOf(issued)
  const row = (response: TestResponse) => ({ ...byAdmin(response), target: 'shop' })

  t.test('an issued token has its prefix in the row, and not its secret', async (t) => {
    const summary = { tokenPrefix, permissions, expiresAt: null }
    t.match(await since(), [{ ...row(issued), action: 'token.issue', targetId: null, summary }])
    const refused = await admin.post('/admin/tokens', { name: 'shop', permissions, expiresAt: NOW })
    expectError(t, refused, 400, 'VALIDATION_FAILED', '/expiresAt')
    t.strictSame(await since(), [])
  })

  t.test('a changed token has its old name as the target', async (t) => {
    const changed = await admin.put(`/admin/tokens/${id}`, { name: 'till', isActive: false })
    const granted = await admin.put(`/admin/tokens/${id}`, { permissions })
    t.match(await since(), [
      {
        ...row(changed),
        action: 'token.change',
        targetId: id,
        summary: { changed: ['name', 'isActive'], isActive: false }
      },
      { ...row(granted), target: 'till', action: 'token.change', summary: { changed: ['permissions'], permissions } }
    ])
    expectError(t, await admin.put('/admin/tokens/99', { name: 'till' }), 404, 'TOKEN_NOT_FOUND')
    t.strictSame(await since(), [])
  })

  t.test('a revoked token', async (t) => {
    const revoked = await admin.delete(`/admin/tokens/${id}`)
    expectDone(t, revoked)
    expectError(t, await admin.delete(`/admin/tokens/${id}`), 404, 'TOKEN_NOT_FOUND')
    t.match(await since(), [{ ...row(revoked), target: 'till', action: 'token.revoke', targetId: id, summary: {} }])
  })
})

t.test('a change whose row cannot be stored is not stored either', onlyOnFile(FULL_DISK), async (t) => {
  const app = await startApp(t)
  const admin = await asAdmin(app)
  const { id } = dataOf(await admin.post('/admin/tokens', { name: 'till', permissions }))
  const free = await fillAudit(app.database)
  const changes = [
    () => admin.post('/admin/tokens', { name: 'shop', permissions }),
    () => admin.put(`/admin/tokens/${id}`, { name: 'shop' }),
    () => admin.delete(`/admin/tokens/${id}`)
  ]
  for (const change of changes) expectError(t, await change(), 507, 'DISK_FULL')
  t.match(dataOf(await admin.get('/admin/tokens')), [{ id, name: 'till' }])
  await free()
  for (const change of changes) t.equal((await change()).statusCode, 200)
  t.match(dataOf(await admin.get('/admin/tokens')), [{ id: id + 1, name: 'shop' }])
})

t.test('a session can be ended although the disk has no space for the row', onlyOnFile(FULL_DISK), async (t) => {
  const app = await startApp(t)
  const admin = await asAdmin(app)
  const other = await asAdmin(app)
  const free = await fillAudit(app.database)
  const sessions: readonly { id: string; is_current: boolean }[] = dataOf(await admin.get('/auth/sessions'))
  const { id = '' } = sessions.find((session) => !session.is_current) ?? {}
  expectDone(t, await admin.delete(`/auth/sessions/${id}`))
  expectError(t, await other.get('/auth/me'), 401, 'AUTHENTICATION_REQUIRED')
  expectDone(t, await admin.post('/auth/logout'))
  expectError(t, await admin.get('/auth/me'), 401, 'AUTHENTICATION_REQUIRED')
  await free()
  t.strictSame(await auditRows(await asAdmin(app), 'action=logout'), [])
})

t.test('the list', async (t) => {
  let now = NOW
  const app = await startApp(t, { clock: () => now })
  const admin = await asAdmin(app)
  for (const name of ['one', 'Two', 'three']) {
    now += 1000
    dataOf(await admin.post('/admin/tokens', { name, permissions }))
  }
  dataOf(await admin.delete('/admin/tokens/1'))
  const targets = async (query: string) =>
    (await auditRows(admin, query)).map(({ action, target }) => `${action} ${target}`)
  const issues = ['token.issue three', 'token.issue Two', 'token.issue one']

  t.test('has pages of the latest rows first, and ends with null', async (t) => {
    const first = dataOf(await admin.get('/admin/audit?size=2&action=token.issue'))
    t.match(first, { rows: [{ target: 'three' }, { target: 'Two' }] })
    t.equal(first.next, first.rows[1].id)
    const second = dataOf(await admin.get(`/admin/audit?size=2&action=token.issue&before=${first.next}`))
    t.match(second, { rows: [{ target: 'one' }], next: null })
    t.match(dataOf(await admin.get('/admin/audit?action=token.issue&size=3')), { rows: { length: 3 }, next: null })
    expectData(t, await admin.get('/admin/audit?before=1'), { rows: [], next: null })
  })

  t.test('has 50 rows by default', async (t) => {
    for (let number = 0; number < 50; number += 1) await logIn(app)
    const { rows, next } = dataOf(await admin.get('/admin/audit'))
    t.equal(rows.length, 50)
    t.equal(next, rows.at(-1).id)
  })

  t.test('filters by action, and by a group of actions', async (t) => {
    t.strictSame(await targets('action=token.issue'), issues)
    t.strictSame(await targets('action=token'), ['token.revoke one', ...issues])
    t.strictSame(await targets('action=tok'), [])
    t.strictSame(await targets('action=token.'), [])
  })

  t.test('filters by caller and target, ignoring case', async (t) => {
    t.strictSame(await targets('caller=ADMIN&target=two'), ['token.issue Two'])
    t.strictSame(await targets('caller=rowhouse'), ['admin.create admin'])
    t.strictSame(await targets('caller=ada'), [])
  })

  t.test('filters by time: from is included, to is not', async (t) => {
    t.strictSame(await targets(`from=${NOW + 1000}&to=${NOW + 3000}`), ['token.issue Two', 'token.issue one'])
  })

  t.test('refuses wrong parameters', async (t) => {
    for (const query of ['size=0', 'size=1001', 'before=0', 'from=-1', 'to=x', 'action=', 'page=1']) {
      expectError(t, await admin.get(`/admin/audit?${query}`), 400, 'VALIDATION_FAILED')
    }
  })

  t.test('refuses tokens, and requests without a session', async (t) => {
    const { token } = dataOf(await admin.post('/admin/tokens', { name: 'reader', permissions }))
    expectError(t, await client(app).get('/admin/audit'), 401, 'AUTHENTICATION_REQUIRED')
    expectError(t, await client(app, bearer(token)).get('/admin/audit'), 401, 'AUTHENTICATION_REQUIRED')
  })
})

t.test('the export', async (t) => {
  const app = await startApp(t, { clock: () => NOW })
  const admin = await asAdmin(app)
  const url = '/admin/audit/export'
  const linesOf = (response: TestResponse): AuditRow[] =>
    response.body
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))

  t.test('has the rows of the filter as lines, as the list has them, and a row of its own', async (t) => {
    const listed = await auditRows(admin)
    const response = await admin.get(url)
    t.equal(response.statusCode, 200)
    t.equal(response.headers['content-type'], 'application/x-ndjson; charset=utf-8')
    t.match(response.headers['content-disposition'], 'filename="audit-20260101T000000Z.ndjson"')
    t.strictSame(linesOf(response), listed)
    const some = await admin.get(`${url}?action=login`)
    t.match(linesOf(some), [{ action: 'login' }])
    const summary = { format: 'ndjson', isFiltered: false }
    await app.database.write([])
    t.match(await auditRows(admin, 'target=audit'), [
      { ...byAdmin(some), action: 'export', summary: { ...summary, isFiltered: true } },
      { ...byAdmin(response), action: 'export', targetId: null, summary }
    ])
  })

  t.test('has all of many rows, once', async (t) => {
    const row = auditRow(serviceCaller, NOW, { action: 'settings.change' })
    await app.database.write(Array.from({ length: 1200 }, () => row))
    const ids = linesOf(await admin.get(`${url}?caller=rowhouse`)).map(({ id }) => id)
    t.equal(ids.length, 1201)
    t.strictSame(
      [...new Set(ids)].sort((a, b) => b - a),
      ids
    )
    t.equal((await admin.get(`${url}?caller=nobody`)).body, '')
  })

  t.test('is refused with wrong parameters, and without a session', async (t) => {
    expectError(t, await admin.get(`${url}?size=1`), 400, 'VALIDATION_FAILED')
    expectError(t, await client(app).get(url), 401, 'AUTHENTICATION_REQUIRED')
  })

  t.test('works on a full disk, without its row', async (t) => {
    const exports = () => auditRows(admin, 'action=export')
    await app.database.write([])
    const before = await exports()
    const free = await fillAudit(app.database)
    t.equal((await admin.get(url)).statusCode, 200)
    await app.database.write([])
    await free()
    t.strictSame(await exports(), before)
  })
})

t.test('no row has a password, a hash or a token', async (t) => {
  const app = await startApp(t)
  const admin = await asAdmin(app)
  const { id } = dataOf(await admin.post('/admin/admins', { name: 'ada', nickname: '', password: OTHER_PASSWORD }))
  dataOf(await admin.put(`/admin/admins/${id}`, { password: NEW_PASSWORD }))
  const own = client(app, await logIn(app, 'ada', NEW_PASSWORD))
  dataOf(await own.put('/auth/password', { oldPassword: NEW_PASSWORD, newPassword: OTHER_PASSWORD }))
  await app.inject({ method: 'POST', url: '/auth/login', payload: { name: 'ada', password: 'a mistyped one' } })
  const { token } = dataOf(await admin.post('/admin/tokens', { name: 'shop', permissions }))
  await client(app, bearer(token)).get('/data/_me')
  await app.failedLogins.flush()
  const read = async (sql: string) => JSON.stringify(await app.database.read({ sql, params: [] }))
  const text = await read(
    'SELECT id, caller_name, address, request_id, action, target, summary FROM _rowhouse_audit ORDER BY id'
  )
  t.match(text, /password\.change.*login\.failed/)
  const secrets = [
    PASSWORD,
    OTHER_PASSWORD,
    NEW_PASSWORD,
    'a mistyped one',
    token,
    '$argon2',
    String(own.headers.cookie)
  ]
  for (const secret of secrets) t.notOk(text.includes(secret), secret)
})
